// Reads the user's own proteins from FASTA text.

/** One record of the file. */
export interface FastaRecord {
  readonly header: string;
  readonly sequence: string;
}

/** The twenty residues, and B, J, O, U, X, Z: every letter means something. */
export const SEQUENCE_LETTERS = /^[A-Z]*$/;

/** Upper case, without white space and stop signs: what the protein hash is taken of. */
export const cleanSequence = (text: string): string => text.replace(/[\s*]+/g, '').toUpperCase();

/**
 * Parses FASTA.
 *
 * @throws Error with the line number, when there is text before the first header, a record is
 * empty, or a letter is none of a protein
 */
export function parseFasta(text: string): FastaRecord[] {
  const records: { header: string; sequence: string; line: number }[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.startsWith('>')) {
      records.push({ header: line.slice(1).trim(), sequence: '', line: index + 1 });
      continue;
    }
    const letters = cleanSequence(line);
    if (letters === '') continue;
    const record = records.at(-1);
    if (record === undefined) throw new Error(`FASTA line ${index + 1}: sequence before the first > header`);
    if (!SEQUENCE_LETTERS.test(letters))
      throw new Error(`FASTA line ${index + 1}: not an amino-acid sequence`);
    record.sequence += letters;
  }
  const empty = records.find(({ sequence }) => sequence === '');
  if (empty) throw new Error(`FASTA line ${empty.line}: ${empty.header || 'a record'} has no sequence`);
  return records;
}
