// What somebody typed into the one search box: an identifier, a sequence, or words.

const HASH = /^[0-9a-f]{32}$/i;
// As UniProt documents it, https://www.uniprot.org/help/accession_numbers
const ACCESSION = /^([OPQ]\d[A-Z\d]{3}\d|[A-NR-Z]\d([A-Z][A-Z\d]{2}\d){1,2})$/i;
const ENTRY_NAME = /^[A-Z\d]{1,10}_[A-Z\d]{1,5}$/i;
const SEQUENCE = /^[A-Z]{12,}\*?$/i;

/** Whether UniProt, rather than the Atlas alone, knows such an identifier. */
export const isUniprotId = (id: string): boolean => ACCESSION.test(id) || ENTRY_NAME.test(id);

/** The address of the page that answers it. */
export function placeOf(typed: string): string {
  const text = typed.trim();
  if (HASH.test(text) || isUniprotId(text)) return `#/protein/${encodeURIComponent(text)}`;
  const residues = text.replace(/^>.*$/m, '').replace(/\s+/g, '');
  if (text.startsWith('>') || SEQUENCE.test(residues)) return `#/sequence/${residues.toUpperCase()}`;
  return `#/features/${encodeURIComponent(text)}`;
}
