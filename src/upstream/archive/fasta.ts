// Reads the sequences of a bulk archive.

/** One sequence of `sequences.fasta`. */
export interface BulkSequence {
  readonly sequence: string;
  readonly accession: string | null;
  readonly source: string | null;
}

const toValue = (field: string | undefined): string | null => field?.trim() || null;

/** A string of its own: a slice of the file, once cached, would hold all of it in memory. */
const copyText = (text: string): string => Buffer.from(text).toString();

const [SPACE = 0, STOP = 0, LOWER_A = 0, LOWER_Z = 0] = Buffer.from(' *az');
const LOWER_TO_UPPER = 32;

/**
 * The letters of a sequence in upper case, a string of its own. A file may have a line for each.
 */
function readLetters(lines: string): string {
  const bytes = Buffer.from(lines);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? SPACE;
    if (byte <= SPACE || byte === STOP) continue;
    bytes[length] = byte >= LOWER_A && byte <= LOWER_Z ? byte - LOWER_TO_UPPER : byte;
    length += 1;
  }
  return bytes.toString('utf8', 0, length);
}

/** Where the next record begins, at `>` in the first place of a line; -1 where there is none. */
function findRecord(fasta: string, from: number): number {
  for (let at = fasta.indexOf('>', from); at >= 0; at = fasta.indexOf('>', at + 1))
    if (at === 0 || /[\r\n]/.test(fasta.charAt(at - 1))) return at;
  return -1;
}

/** Reads `>{hash}|{accession}|{source}` records with sequences on one or more lines. */
export function* readFasta(fasta: string): Generator<[hash: string, record: BulkSequence]> {
  for (let start = findRecord(fasta, 0); start >= 0; ) {
    const next = findRecord(fasta, start + 1);
    const record = fasta.slice(start + 1, next < 0 ? fasta.length : next);
    const lineEnd = record.search(/[\r\n]/);
    const headerEnd = lineEnd < 0 ? record.length : lineEnd;
    const [hash = '', accession, source] = copyText(record.slice(0, headerEnd)).split('|', 3);
    const sequence = readLetters(record.slice(headerEnd));
    yield [hash.trim().toLowerCase(), { sequence, accession: toValue(accession), source: toValue(source) }];
    start = next;
  }
}
