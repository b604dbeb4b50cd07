// Lists of identifiers as text: one or several on a line between white space, commas or semicolons,
// `#` comments, and FASTA records, each of which is one identifier and ends with a blank line.

import { MAX_SEQUENCE } from '../submission/check-size.ts';

/** Lines of a sequence, also where it has gaps, which `lookup` refuses. */
const RESIDUES = /^[A-Z*. -]+$/i;

/**
 * Reads the identifiers of a text. Words that stand side by side are one text, unless each of them
 * is an identifier: the others may say that it is a variant.
 *
 * @param max - of a longer list only somewhat more are read
 * @param isIdentifier - whether a word is one by its form
 */
export function readIdentifierList(
  text: string,
  max: number,
  isIdentifier: (word: string) => boolean,
): string[] {
  const ids: string[] = [];
  let record = '';
  let recordLength = 0;
  const endRecord = (): void => {
    if (record !== '') ids.push(record);
    record = '';
    recordLength = 0;
  };
  for (const untrimmed of text.replaceAll(/\r\n?/g, '\n').split('\n')) {
    const line = untrimmed.trim();
    if (line === '') {
      // A blank line may stand between header and sequence.
      if (recordLength > 0) endRecord();
      continue;
    }
    if (record !== '' && RESIDUES.test(line)) {
      // The reader stops a little after the longest sequence that is allowed.
      if (recordLength <= MAX_SEQUENCE) record += `\n${line}`;
      recordLength += line.length;
      continue;
    }
    endRecord();
    if (line.startsWith('>')) record = line;
    else
      for (const part of line.replace(/#.*/, '').split(/[,;]/, max + 2)) {
        const words = part.split(/\s+/, max + 2).filter((word) => word !== '');
        if (words.length < 2 || words.every(isIdentifier)) ids.push(...words);
        else ids.push(part.trim());
      }
    if (ids.length > max) return ids;
  }
  endRecord();
  return ids;
}
