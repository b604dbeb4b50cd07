// Reads the text of the search box: one identifier, several, a sequence, or words.

// The forms of accessions stand at https://www.uniprot.org/help/accession_numbers
const IDENTIFIERS = [
  /^[0-9a-f]{32}$/i,
  /^([OPQ]\d[A-Z\d]{3}\d|[A-NR-Z]\d([A-Z][A-Z\d]{2}\d){1,2})(-\d+)?(\.\d+)?$/i,
  /^[A-Z\d]{1,10}_[A-Z\d]{1,5}$/i,
  // Other databases: the gateway says what to type instead.
  /^(MGYP\d{6,}|(UniRef\d+_)?UPI[\dA-F]{10})$/i,
];
const AMINO_ACIDS = /^[ACDEFGHIKLMNPQRSTUVWXY]{20,}\*?$/i;

const isIdentifier = (word: string): boolean => IDENTIFIERS.some((form) => form.test(word));

const splitList = (text: string, separator: RegExp): string[] =>
  text.split(separator).flatMap((item) => item.trim() || []);

/**
 * The identifiers of a list: one a line or cell, or FASTA records. What is no identifier stays in
 * its place.
 */
export function identifiersIn(text: string): string[] {
  if (text.trimStart().startsWith('>')) return splitList(text, /^(?=>)/m);
  const words = splitList(text, /\s+/);
  return words.every(isIdentifier) ? words : splitList(text, /[\n,;\t]+/);
}

/**
 * The letters of a sequence: what follows a line with `>`, or at least 20 amino acids. Small
 * letters with spaces between, or as many as a long word has, are words, also where all are amino
 * acids.
 */
function sequenceIn(text: string): string | undefined {
  const letters = text.replace(/^>.*$/m, '').replace(/\s+/g, '');
  const isWords = /[a-z] +[a-z]|^[A-Z]?[a-z]{1,40}$/.test(text);
  const isFasta = text.startsWith('>') && letters !== '' && !letters.includes('>');
  return isFasta || (AMINO_ACIDS.test(letters) && !isWords) ? letters.toUpperCase() : undefined;
}

/** The address of the page that answers it. */
export function findPlace(typed: string): string {
  const text = typed.trim();
  const sequence = sequenceIn(text);
  if (sequence !== undefined) return `#/sequence/${encodeURIComponent(sequence)}`;
  const items = identifiersIn(text);
  if (items.length > 1 && (text.startsWith('>') || items.some(isIdentifier)))
    return `#/table/${encodeURIComponent(items.join('\n'))}`;
  // An address of UniProt, or a FASTA header such as sp|P69905|HBA_HUMAN.
  const isAround = /^(https?:|>?\w+\|)/.test(text);
  const found = (isAround ? splitList(text, /[\s|/?#]+/) : [text]).find(isIdentifier);
  return found === undefined
    ? `#/features/${encodeURIComponent(text)}`
    : `#/protein/${encodeURIComponent(found)}`;
}
