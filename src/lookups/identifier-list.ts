// Lists of identifiers as text: one or several on a line between white space, commas or semicolons,
// `#` comments, and FASTA records, each of which is one identifier and ends with a blank line.

import { MAX_SEQUENCE } from '../submission/check-size.ts';

/** Lines of a sequence, also where it has gaps, which `lookup` refuses. */
const RESIDUES = /^[A-Z*. -]+$/i;

/** Anything else between two lines is a blank line. */
const ONE_LINE_END = /^(?:\r\n|\r|\n)$/;

/** Reads the identifiers of a text. @param max - of a longer list only somewhat more are read */
export function readIdentifierList(text: string, max: number): string[] {
  const ids: string[] = [];
  let record: string[] = [];
  let recordLength = 0;
  const endRecord = (): void => {
    if (record.length > 0) ids.push(record.join('\n'));
    record = [];
    recordLength = 0;
  };
  for (const [part] of text.matchAll(/[\r\n]+|[^\r\n]+/g)) {
    const line = part.trim();
    if (line === '') {
      // A blank line may stand between header and sequence.
      if (recordLength > 0 && !ONE_LINE_END.test(part)) endRecord();
      continue;
    }
    if (record.length > 0 && RESIDUES.test(line)) {
      // The reader stops a little after the longest sequence that is allowed.
      if (recordLength <= MAX_SEQUENCE) record.push(line);
      recordLength += line.length;
      continue;
    }
    endRecord();
    if (line.startsWith('>')) record = [line];
    else
      for (const word of line.replace(/#.*/, '').split(/[\s,;]+/, max + 2)) if (word !== '') ids.push(word);
    if (ids.length > max) return ids;
  }
  endRecord();
  return ids;
}
