// Lists of identifiers as text: one or several on a line between white space, commas or semicolons,
// `#` comments, and FASTA records, each of which is one identifier.

/** Lines of a sequence, also where it has gaps, which `lookup` refuses. */
const RESIDUES = /^[A-Z*. -]+$/i;

/** Reads the identifiers of a text. @param max - of a longer list only somewhat more are read */
export function readIdentifierList(text: string, max: number): string[] {
  const ids: string[] = [];
  let record: string[] = [];
  const endRecord = (): void => {
    if (record.length > 0) ids.push(record.join('\n'));
    record = [];
  };
  for (const [whole] of text.matchAll(/[^\r\n]+/g)) {
    const line = whole.trim();
    // Blank lines may stand anywhere in a record.
    if (record.length > 0 && (line === '' || RESIDUES.test(line))) {
      if (line !== '') record.push(line);
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
