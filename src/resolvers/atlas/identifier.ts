// Reads what people paste as an identifier of a protein: hashes, accessions, entry names, FASTA,
// cells of tables and addresses of UniProt. A text that holds more than one of these is a fault.
import { quote } from '../../plain-text.ts';
import { hashFault, LINE_END } from '../../schema/scalars.ts';
import { hashSequence } from '../../schema/uniprot.ts';
import { type Description, readDescription } from './description.ts';

/**
 * The meaning of a text: a protein, an entry that the service resolves, or why it is neither. The
 * fault follows its name in a sentence and never quotes the text, which may be private.
 */
export type Identifier =
  | { readonly hash: string }
  | { readonly entry: string; readonly claim?: Claim }
  | { readonly fault: string; readonly hint: string };

/** A fact that a text states beside an identifier, and the fault if the entry disagrees. */
export interface Claim {
  readonly description: Description;
  readonly otherwise: { readonly fault: string; readonly hint: string };
}

const HASH = /^[0-9a-f]{32}$/i;
const ACCESSION =
  /^(?:UniRef(?:50|90|100)_)?((?:[OPQ]\d[A-Z\d]{3}\d|[A-NR-Z]\d([A-Z][A-Z\d]{2}\d){1,2})(-\d{1,3})?)(\.\d{1,4})?$/i;
/** Endings of files that databases name by an identifier. */
const KNOWN_ENDING = /\.(?:pdb|ent|b?cif|mmcif|fasta|faa?|txt|xml|json|gff|rdf|ttl|tsv|png)(?:\.gz)?$/i;
/** The ending of a file name, such as `.pdb.gz`. */
const FILE_ENDING = /(?:\.\w{1,5}){1,2}$/;
/**
 * A model of the AlphaFold database, such as `AF-P01308-F1-model_v4`; further parts are no whole
 * entry.
 */
const ALPHAFOLD = /^AF-(.{6,16})-F1(?:-(?:model|predicted_aligned_error|confidence|msa)_v\d{1,3})?$/i;
const ENTRY_NAME = /^[A-Z\d]{1,10}_[A-Z\d]{1,5}$/i;
/** A chain, variant or splice form of UniProt, anywhere in a text. */
const PART_ID = /^(?:PRO|VAR|VSP)_\d{6,10}$/i;
/**
 * Residues of a protein, behind its identifier: `P01308/25-54`, as Pfam and Stockholm files write
 * them.
 */
const RESIDUE_RANGE = /^\d{1,5}(?:-|–|\.\.)\d{1,5}$/;
/** Other databases whose accessions the Atlas names as `accession`. */
const OTHERS: readonly (readonly [form: RegExp, database: string])[] = [
  [/^MGYP\d{6,}/i, 'MGnify'],
  [/^(UniRef(?:50|90|100)_)?UPI[\dA-F]{10}$/i, 'UniParc'],
  [/^\d{8,}_Ga\d/i, 'IMG/M'],
  [/^SPIRE_/i, 'SPIRE'],
];
/** All letters: B, J, O, U, X and Z name residues too. Fewer than 20 may be a word. */
const RESIDUES = /^[A-Z]{20,}\*?$/i;
/** A sequence in blocks of ten, as UniProt and GenBank write it, without its numbers. */
const BLOCKS = /^(?:[A-Z]{10}\s+)+[A-Z]{1,10}\*?$/i;
const NUMBERS = /^[ \t]*\d{1,6}[ \t]/gm;
/** A text below the header of a FASTA record is a sequence, however short. */
const LETTERS = /^[A-Z]+\*?$/i;
const NUCLEOTIDES = /^[ACGTUN]+$/i;
const NEARLY_HASH = /^[0-9a-f]{24,40}$/i;
/**
 * Anything else that the service may know: no word of a language, which has neither digits nor `_`.
 */
const SERVICE_ID = /^(?=\D{0,40}\d|[^_]{0,40}_)[A-Z0-9_.-]{1,40}$/i;

export const IDENTIFIER_HINT =
  'Give a protein hash (32 hexadecimal characters), a UniProt accession such as P01308, an entry name such ' +
  'as INS_HUMAN, or the sequence, of 20 residues or more.';
const NO_ACCESSION =
  'The service resolves accessions of UniProt only. Give the hash of the protein, which every answer and ' +
  'table has beside its accession, or its sequence.';

/**
 * Words, such as `insulin` or `heat shock protein beta`; in capitals they may be a short sequence.
 */
const NAME = /^(?=[^a-z]{0,40}[a-z])[A-Za-z]{2,40}(?:[ '-][A-Za-z]{1,40}){0,9}$/;
const NO_NAME =
  'Find the protein at uniprot.org and give its accession, such as P01308, or its entry name, such as INS_HUMAN.';

/**
 * The UniProt accession in a text, such as that of `P01308.2`; undefined for those of other
 * databases.
 */
export const uniprotAccession = (text: string | null | undefined): string | undefined =>
  ACCESSION.exec(text ?? '')?.[1]?.toUpperCase();

/** Longest text that is read; the longest protein has some 40,000 residues. */
const MAX_CHARACTERS = 100_000;
/** Longest text that is looked through for words; longer ones are sequences or no identifiers. */
const MAX_LENGTH = 1000;
const EDGES = '"\'`“”‘’,;()[]<> \t\r\n\u00a0\u200b\ufeff';

const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[' };

/** The text without the quotes, separators and brackets around it, but with the `>` of FASTA. */
function withoutEdges(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text[start] !== '>' && EDGES.includes(text.charAt(start))) start += 1;
  // A bracket that was opened in the text belongs to it, as in `P01308[25-54]`.
  const isOpened = (bracket: string): boolean => {
    const at = text.indexOf(OPENING[bracket] ?? bracket, start);
    return bracket in OPENING && at >= 0 && at < end;
  };
  const kept = Object.keys(OPENING).filter(isOpened).join('');
  while (end > start && EDGES.includes(text.charAt(end - 1)) && !kept.includes(text.charAt(end - 1)))
    end -= 1;
  return text.slice(start, end);
}

/** Whether a sequence has the letters of nucleic acids only, as hardly any protein has. */
export const looksLikeDna = (sequence: string): boolean =>
  sequence.length >= 20 && NUCLEOTIDES.test(sequence);

/** The text below the header of a FASTA record, without white space; undefined for other texts. */
function readFastaBody(text: string): string | undefined {
  const lines = text.startsWith('>') ? text.split(LINE_END) : [];
  return lines.length > 1 ? lines.slice(1).join('').replace(/\s+/g, '') : undefined;
}

/** Lines without what is around them, and blocks of ten without their numbers, in one piece. */
function joinLines(text: string): string {
  const blocks = text.replace(NUMBERS, '').trim();
  if (BLOCKS.test(blocks)) return blocks.replace(/\s+/g, '');
  return text
    .split(LINE_END)
    .map((line) => line.trim())
    .join('');
}

const severalFault = (what: string): Identifier => ({
  fault: `holds several ${what}.`,
  hint: 'Give each as an item of its own.',
});

/** A FASTA record of any length, or lines or blocks of letters; undefined for any other text. */
function readSequence(record: string): Identifier | undefined {
  const body = readFastaBody(record);
  const letters = body ?? joinLines(record);
  if ((body === undefined ? RESIDUES : LETTERS).test(letters)) {
    const sequence = letters.replace('*', '').toUpperCase();
    if (!looksLikeDna(sequence)) return { hash: hashSequence(sequence) };
    return { fault: 'is DNA or RNA, not a protein.', hint: 'Translate it first.' };
  }
  if (record.split(/^>/m, 3).length > 2) return severalFault('sequences');
  // It may be another sequence than that of the entry that its header names.
  if (/[A-Z]/i.test(body ?? ''))
    return {
      fault: 'is a sequence with gaps, stops or numbers inside.',
      hint: 'Leave them out, or give the accession alone.',
    };
  return undefined;
}

const PART_OF_PROTEIN: Identifier = {
  fault: 'names a part of a protein: some residues, a mature chain or a variant.',
  hint: 'Give the accession alone for the whole protein, or the sequence of the part.',
};

/** The accession in a word, also of a model of the AlphaFold database; undefined without one. */
const readAccession = (name: string): string | undefined =>
  ACCESSION.exec(name.replace(ALPHAFOLD, '$1'))?.[1]?.toUpperCase();

const isName = (word = ''): boolean =>
  HASH.test(word) || ENTRY_NAME.test(word) || readAccession(word) !== undefined;

/** A hash, an accession or an entry name among words, in this order; undefined without one. */
function readWords(words: readonly string[]): Identifier | undefined {
  const names = words.map((word) => word.replace(FILE_ENDING, ''));
  if (words.some((word, i) => PART_ID.test(word) || (RESIDUE_RANGE.test(word) && isName(names[i - 1]))))
    return PART_OF_PROTEIN;
  const hashes = new Set(names.filter((name) => HASH.test(name)).map((name) => name.toLowerCase()));
  const accessions = new Set(names.flatMap((name) => readAccession(name) ?? []));
  const entryNames = words.filter((word) => ENTRY_NAME.test(word));
  // Beside one in capitals, as UniProt writes them, the others are words, such as `organism_name`.
  const inCapitals = entryNames.filter((word) => word === word.toUpperCase());
  const written = inCapitals.length > 0 ? inCapitals : entryNames;
  const entries = new Set(written.map((word) => word.toUpperCase()));
  const [hash] = hashes;
  if (hashes.size > 1) return severalFault('hashes');
  if (hash !== undefined) return { hash };
  const [accession] = accessions;
  if (accessions.size > 1) return severalFault('accessions');
  if (accession !== undefined) return { entry: accession };
  const [entry] = entries;
  if (entries.size > 1) return severalFault('entry names');
  return entry === undefined ? undefined : { entry };
}

/** Names of UniProt before an accession: `UniProtKB:P01308`, `UniProtKB/Swiss-Prot P01308`. */
const LABEL =
  /^(?:UniProt(?:KB)?(?:\/(?:Swiss-?Prot|TrEMBL))?|Swiss-?Prot|TrEMBL|AFDB|Accession|AC|ID|Entry)(?:\s*[:=|]\s*|\s+)/i;
/** Identifiers joined by `|`: `sp|P01308|INS_HUMAN`, with a number of NCBI before it or not. */
const PIPES = /^(?:gi\|\d{1,12}\|)?(?:(?:sp|tr)\|)?([^|\s]{1,60})(?:\|([^|\s]{0,60}))?$/i;
/** The form that the gateway's FASTA files and the archives of the service use. */
const HASH_PIPES = /^([0-9a-f]{32})\|[\w.-]{0,60}(?:\|\w{0,20})?$/i;
/** Pages and files of UniProt and AlphaFold DB, and of the gateway. */
const ADDRESSES = [
  /^(?:\w+\.)?uniprot\.org\/(?:uniprotkb|uniprot|uniref|unisave)\/([^/]+)(?:\/[a-z-]+)*\/?$/i,
  /^(?:www\.)?alphafold(?:\.ebi\.ac\.uk|\.com)\/(?:entry|files)\/([^/]+)\/?$/i,
  /^identifiers\.org\/uniprot[:/]([^/]+)\/?$/i,
  /^[^/]+\/(?:.+\/)?(?:structures|thumbnails|proteins|clusters)\/([0-9a-f]{32}[.\w]*)(?:\/[\w.-]+)?$/i,
];

/** A hash, an accession or an entry name alone, or the name of a file of it. */
function readName(word: string): Identifier | undefined {
  const name = word.replace(KNOWN_ENDING, '');
  if (HASH.test(name)) return { hash: name.toLowerCase() };
  const accession = readAccession(name);
  if (accession !== undefined) return { entry: accession };
  return ENTRY_NAME.test(name) ? { entry: name.toUpperCase() } : undefined;
}

function readAddress(text: string): Identifier | undefined {
  const [, address = '', fragment = ''] =
    /^(?:https?:\/\/)?([^?#\s]+)(?:\?[^#\s]*)?(?:#(\S*))?$/i.exec(text) ?? [];
  if (PART_ID.test(fragment)) return undefined;
  const found = ADDRESSES.map((form) => form.exec(address)?.[1]).find((name) => name !== undefined);
  return found === undefined ? undefined : readName(found);
}

/**
 * `sp|P01308|INS_HUMAN` and its like: one identifier, or an accession and the name of its entry.
 */
function readPipes(text: string): { readonly read: Identifier; readonly entryName: string } | undefined {
  const hash = HASH_PIPES.exec(text)?.[1];
  if (hash !== undefined) return { read: { hash: hash.toLowerCase() }, entryName: '' };
  const [, first = '', entryName = ''] = PIPES.exec(text) ?? [];
  const read = entryName === '' || ENTRY_NAME.test(entryName) ? readName(first) : undefined;
  return read && { read, entryName };
}

/**
 * A text that is an identifier in a form that a database or the gateway writes, with or without a
 * description behind it; undefined for one that holds anything else.
 */
function readWhole(text: string): Identifier | undefined {
  const plain = text
    .replace(/[.:]+$/, '')
    .replace(LABEL, '')
    // The title of a page of UniProt: `P69905 · HBA_HUMAN`.
    .replace(' · ', '|');
  const [word = '', description = ''] = plain.split(/\s+(.*)/s);
  const { read, entryName = '' } = readPipes(word) ?? {};
  if (read === undefined) return description === '' ? readAddress(plain) : undefined;
  if (description === '' && entryName === '') return read;
  // Nothing that is known of a hash says what the words mean.
  if (!('entry' in read)) return undefined;
  const otherwise = leftoverFault(text, read.entry);
  return { ...read, claim: { description: readDescription(read.entry, description, entryName), otherwise } };
}

/** The fault of a text that holds an identifier and more: what it means is not known. */
function leftoverFault(text: string, name: string): Claim['otherwise'] {
  const at = text.toUpperCase().indexOf(name.toUpperCase());
  const beside = `${text.slice(0, at)} ${text.slice(at + name.length)}`
    .replace(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, ' ')
    .trim();
  return {
    fault: `holds more than an identifier: ${quote(beside)} beside ${name}.`,
    hint: `Give ${name} alone for the protein of that name. For a variant or a part of it give the sequence.`,
  };
}

/** Whether a word is an identifier by its form, also one of another database. */
export const isIdentifier = (word: string): boolean =>
  RESIDUES.test(word) ||
  (word.length <= MAX_LENGTH &&
    (readPipes(word) !== undefined ||
      readAddress(word) !== undefined ||
      OTHERS.some(([form]) => form.test(word))));

/** Reads one identifier as a person may give it. */
export function readIdentifier(requested: string): Identifier {
  if (requested.length > MAX_CHARACTERS)
    return { fault: 'is longer than any protein.', hint: IDENTIFIER_HINT };
  const record = withoutEdges(requested);
  if (HASH.test(record)) return { hash: record.toLowerCase() };
  const sequence = readSequence(record);
  if (sequence !== undefined) return sequence;
  const text = record.startsWith('>') ? withoutEdges(record.slice(1)) : record;
  const words = text.slice(0, MAX_LENGTH).split(/[\s|/?#:=,;"'()]+/);
  const named = readWords(words);
  // A part of a protein, or several of them.
  if (named !== undefined && 'fault' in named) return named;
  const whole = text.length <= MAX_LENGTH ? readWhole(text) : undefined;
  if (whole !== undefined) return whole;
  const found = named ?? readWords(text.slice(0, MAX_LENGTH).split(/[^A-Z\d]+/i));
  if (found !== undefined && 'fault' in found) return found;
  if (found !== undefined) return leftoverFault(text, 'hash' in found ? found.hash : found.entry);
  for (const [form, database] of OTHERS)
    if (words.some((word) => form.test(word)))
      return { fault: `is an accession of ${database}.`, hint: NO_ACCESSION };
  if (NEARLY_HASH.test(text))
    return { fault: `is not a protein hash. ${hashFault(text)}`, hint: IDENTIFIER_HINT };
  if (SERVICE_ID.test(text)) return { entry: text.toUpperCase() };
  return NAME.test(text)
    ? { fault: 'looks like a name, and there is no search by name.', hint: NO_NAME }
    : { fault: 'is not an identifier of a protein.', hint: IDENTIFIER_HINT };
}

/** A sentence about a text that is no identifier. */
export const describeFault = (place: string, text: string, fault: string): string =>
  `\`${place}\` (${text.length} characters) ${fault}`;
