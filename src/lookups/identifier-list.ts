// Lists of identifiers as text: one or several on a line between white space, commas or semicolons,
// `#` comments, and FASTA records, each of which is one identifier.

import { MAX_SEQUENCE } from '../submission/check-size.ts';

/** Lines of a sequence, also where it has gaps, which `lookup` refuses. */
const RESIDUES = /^[A-Z*. -]+$/i;

/** Reads the identifiers of a text. @param max - of a longer list only somewhat more are read */
export function readIdentifierList(text: string, max: number): string[] {
  const ids: string[] = [];
  let record: string[] = [];
  let recordLength = 0;
  const endRecord = (): void => {
    if (record.length > 0) ids.push(record.join('\n'));
    record = [];
  };
  for (const [whole] of text.matchAll(/[^\r\n]+/g)) {
    const line = whole.trim();
    // Blank lines may stand anywhere in a record.
    if (record.length > 0 && (line === '' || RESIDUES.test(line))) {
      // The reader stops a little after the longest sequence that is allowed.
      if (line !== '' && recordLength <= MAX_SEQUENCE) record.push(line);
      recordLength += line.length;
      continue;
    }
    endRecord();
    recordLength = 0;
    if (line.startsWith('>')) record = [line];
    else
      for (const word of line.replace(/#.*/, '').split(/[\s,;]+/, max + 2)) if (word !== '') ids.push(word);
    if (ids.length > max) return ids;
  }
  endRecord();
  return ids;
}
