// Words beside an identifier, such as the description in a FASTA header. They are read only where
// the entry of UniProt says the same of itself: any other word may speak of another sequence.
import type { UniprotRecord } from '../../upstream/wire.ts';

/** The facts that a text states about the entry that its identifier names. */
export interface Description {
  /** Entry names, such as `INS_HUMAN`. */
  readonly entryNames: readonly string[];
  readonly organism: string;
  /** All other words. */
  readonly words: string;
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** `RecName: Full=Insulin; Contains: …` of NCBI: the name stands first. */
const NCBI_NAME = /^RecName: Full=([^;]*)/;
/**
 * `Isoform 2 of ` stands before the name where UniProt names an isoform, as its identifier does.
 */
const ISOFORM = /^Isoform \S{1,40} of /;
/** UniProt's flag behind the name of an entry that has only a part of a sequence. */
const FRAGMENT = / \(Fragments?\)$/;
/** Tags whose values are numbers of the database. */
const NUMBER_TAG = /^(?:OX|PE|SV|n|TaxID)=\d{1,12}$/;

/**
 * Reads a description as UniProt, AlphaFold DB, UniRef and NCBI write it:
 * `Insulin OS=Homo sapiens OX=9606 GN=INS PE=1 SV=1`.
 *
 * @param id - the identifier before it
 * @param entryName - the entry name that the identifier holds, too
 */
export function readDescription(id: string, text: string, entryName: string): Description {
  const [name = '', ...tags] = text.trim().split(/(?:^|\s)(?=(?:OS|OX|GN|PE|SV|UA|UI|n|Tax|TaxID|RepID)=)/);
  const [, ncbi] = NCBI_NAME.exec(name) ?? [];
  const own = (ncbi ?? name).replace(FRAGMENT, '');
  const entryNames = entryName === '' ? [] : [entryName];
  const words = [id.includes('-') ? own.replace(ISOFORM, '') : own];
  let organism = '';
  for (const tag of tags) {
    const value = tag.slice(tag.indexOf('=') + 1);
    // The strain, which the entry may leave out, stands in brackets.
    if (tag.startsWith('OS=')) organism = value.replace(/\([^()]*\)/g, ' ');
    else if (/^(?:UI|RepID)=\w{1,20}$/.test(tag)) entryNames.push(value);
    // UniRef names the taxon that all members share.
    else if (!NUMBER_TAG.test(tag) && !/^(?:GN=\S{1,60}|Tax=[\p{L} ]{1,80})$/u.test(tag)) words.push(value);
  }
  return { entryNames, organism, words: words.join(' ') };
}

/**
 * Whether an entry says of itself what a description says of it. An entry without an entry name or
 * an organism contradicts none; the other words must be those of its names.
 */
export function isConfirmed({ entryNames, organism, words }: Description, record: UniprotRecord): boolean {
  const { entry_name, protein_name, gene, accession } = record;
  const isEntry = (name: string): boolean =>
    entry_name == null || name.toLowerCase() === entry_name.toLowerCase();
  const organisms = new Set(wordsIn(record.organism ?? organism));
  const names = [protein_name, entry_name, gene, accession].map((name) => name ?? '').join(' ');
  const known = new Set([...wordsIn(names), ...organisms]);
  return (
    entryNames.every(isEntry) &&
    wordsIn(organism).every((word) => organisms.has(word)) &&
    wordsIn(words).every((word) => known.has(word))
  );
}
