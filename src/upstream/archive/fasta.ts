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

/** Reads `>{hash}|{accession}|{source}` records with sequences on one or more lines. */
export function* readFasta(fasta: string): Generator<[hash: string, record: BulkSequence]> {
  for (const record of fasta.split(/^>/m).slice(1)) {
    const lineEnd = record.indexOf('\n');
    const headerEnd = lineEnd === -1 ? record.length : lineEnd;
    const [hash = '', accession, source] = copyText(record.slice(0, headerEnd)).split('|', 3);
    const sequence = record.slice(headerEnd).replace(/[\s*]/g, '').toUpperCase();
    yield [hash.trim().toLowerCase(), { sequence, accession: toValue(accession), source: toValue(source) }];
  }
}
