// Reads what people paste as an identifier of a protein: hashes, accessions, entry names, FASTA,
// cells of tables and addresses of UniProt.
import { memoize1 } from '@graphql-tools/utils';
import type { GatewayContext } from '../../context.ts';
import type { InvalidInputShape, ProblemShape } from '../../schema/problem.ts';
import { hashFault, LINE_END } from '../../schema/scalars.ts';
import { hashOfEntry, hashOfSequence, type UniprotRef } from '../../schema/uniprot.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { promised } from '../../upstream/http/validate-response.ts';

/**
 * What a text means: a protein, an entry that the service resolves, or why it means neither. The
 * fault is what follows its name in a sentence; it never quotes the text, which may be private.
 */
export type Identifier =
  | { readonly hash: string }
  | { readonly entry: string }
  | { readonly fault: string; readonly hint: string };

const HASH = /^[0-9a-f]{32}$/i;
const ACCESSION =
  /^(?:UniRef\d{2,3}_)?((?:[OPQ]\d[A-Z\d]{3}\d|[A-NR-Z]\d([A-Z][A-Z\d]{2}\d){1,2})(-\d{1,3})?)(\.\w{1,5})?$/i;
/** What stands behind the name in that of a file, such as `.pdb.gz`. */
const FILE_ENDING = /(?:\.\w{1,5}){1,2}$/;
/** A model of the AlphaFold database, such as `AF-P01308-F1-model_v4`; further parts are no whole entry. */
const ALPHAFOLD = /^AF-(.{6,16})-F1(?:-[\w-]{1,40})?$/i;
/** The accession of an entry, and which of its sequences. */
const ISOFORM = /^([A-Z\d]{6,10})-\d{1,3}$/;
const ENTRY_NAME = /^[A-Z\d]{1,10}_[A-Z\d]{1,5}$/i;
/** A chain, variant or splice form of UniProt, anywhere in a text. */
const PART_ID = /^(?:PRO|VAR|VSP)_\d{6,10}$/i;
/** Residues of a protein, behind its identifier: `P01308/25-54`, as Pfam and Stockholm files write them. */
const RESIDUE_RANGE = /^\d{1,5}(?:-|–|\.\.)\d{1,5}$/;
/** Other databases whose accessions the Atlas names as `accession`. */
const OTHERS: readonly (readonly [form: RegExp, database: string])[] = [
  [/^MGYP\d{6,}/i, 'MGnify'],
  [/^(UniRef\d{2,3}_)?UPI[\dA-F]{10}$/i, 'UniParc'],
  [/^\d{8,}_Ga\d/i, 'IMG/M'],
  [/^SPIRE_/i, 'SPIRE'],
];
/** All letters: B, J, O, U, X and Z name residues too. Fewer than 20 may be a word. */
const RESIDUES = /^[A-Z]{20,}\*?$/i;
/** A sequence in blocks of ten, as UniProt and GenBank write it, without its numbers. */
const BLOCKS = /^(?:[A-Z]{10}\s+)+[A-Z]{1,10}\*?$/i;
const NUMBERS = /^[ \t]*\d{1,6}[ \t]/gm;
/** What stands below the header of a FASTA record is a sequence, however short. */
const LETTERS = /^[A-Z]+\*?$/i;
const NUCLEOTIDES = /^[ACGTUN]+$/i;
const NEARLY_HASH = /^[0-9a-f]{24,40}$/i;
/** Anything else that the service may know: no word of a language, which has neither digits nor `_`. */
const SERVICE_ID = /^(?=\D{0,40}\d|[^_]{0,40}_)[A-Z0-9_.-]{1,40}$/i;

const HINT =
  'Give a protein hash (32 hexadecimal characters), a UniProt accession such as P01308, an entry name such ' +
  'as INS_HUMAN, or the sequence, of 20 residues or more.';
const NO_ACCESSION =
  'The service resolves accessions of UniProt only. Give the hash of the protein, which every answer and ' +
  'table has beside its accession, or its sequence.';

/** Words, such as `insulin` or `heat shock protein beta`; in capitals they may be a short sequence. */
const NAME = /^(?=[^a-z]{0,40}[a-z])[A-Za-z]{2,40}(?:[ '-][A-Za-z]{1,40}){0,9}$/;
const NO_NAME =
  'Find the protein at uniprot.org and give its accession, such as P01308, or its entry name, such as INS_HUMAN.';

/** The UniProt accession in a text, such as that of `P01308.2`; undefined for those of other databases. */
export const uniprotAccession = (text: string | null | undefined): string | undefined =>
  ACCESSION.exec(text ?? '')?.[1]?.toUpperCase();

/** Longest text that is read; the longest protein has some 40,000 residues. */
const MAX_CHARACTERS = 100_000;
/** Longest text that is looked through for words; longer ones are sequences or no identifiers. */
const MAX_LENGTH = 1000;
const EDGES = '"\'`“”‘’,;()[]<> \t\r\n\u00a0\u200b\ufeff';

/** The text without the quotes, separators and brackets around it, but with the `>` of FASTA. */
function withoutEdges(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text[start] !== '>' && EDGES.includes(text.charAt(start))) start += 1;
  while (end > start && EDGES.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Whether a sequence has the letters of nucleic acids only, as hardly any protein has. */
export const looksLikeDna = (sequence: string): boolean =>
  sequence.length >= 20 && NUCLEOTIDES.test(sequence);

/** What stands below the header of a FASTA record, without white space; undefined for other texts. */
function bodyIn(text: string): string | undefined {
  const lines = text.startsWith('>') ? text.split(LINE_END) : [];
  return lines.length > 1 ? lines.slice(1).join('').replace(/\s+/g, '') : undefined;
}

/** Lines without what is around them, and blocks of ten without their numbers, in one piece. */
function joinedLines(text: string): string {
  const blocks = text.replace(NUMBERS, '').trim();
  if (BLOCKS.test(blocks)) return blocks.replace(/\s+/g, '');
  return text
    .split(LINE_END)
    .map((line) => line.trim())
    .join('');
}

/** The sequence of a FASTA record of any length, or of lines or blocks of letters; else undefined. */
function sequenceIn(text: string): string | undefined {
  const body = bodyIn(text);
  const letters = body ?? joinedLines(text);
  const isSequence = (body === undefined ? RESIDUES : LETTERS).test(letters);
  return isSequence ? letters.replace('*', '').toUpperCase() : undefined;
}

const severalFault = (what: string): Identifier => ({
  fault: `holds several ${what}.`,
  hint: 'Give each as an item of its own.',
});

const PART_OF_PROTEIN: Identifier = {
  fault: 'names a part of a protein: some residues, a mature chain or a variant.',
  hint: 'Give the accession alone for the whole protein, or the sequence of the part.',
};

export function readIdentifier(requested: string): Identifier {
  if (requested.length > MAX_CHARACTERS) return { fault: 'is longer than any protein.', hint: HINT };
  const record = withoutEdges(requested);
  if (HASH.test(record)) return { hash: record.toLowerCase() };
  const sequence = sequenceIn(record);
  if (sequence !== undefined) {
    if (!looksLikeDna(sequence)) return { hash: hashOfSequence(sequence) };
    return { fault: 'is DNA or RNA, not a protein.', hint: 'Translate it first.' };
  }
  if (record.split(/^>/m, 3).length > 2) return severalFault('sequences');
  // It may be another sequence than that of the entry that its header names.
  if (/[A-Z]/i.test(bodyIn(record) ?? ''))
    return {
      fault: 'is a sequence with gaps, stops or numbers inside.',
      hint: 'Leave them out, or give the accession alone.',
    };
  const text = record.startsWith('>') ? withoutEdges(record.slice(1)) : record;
  const words = text.slice(0, MAX_LENGTH).split(/[\s|/?#:=,;"'()]+/);
  const hashes = new Set<string>();
  const accessions = new Set<string>();
  let followsName = false;
  for (const word of words) {
    if (PART_ID.test(word) || (followsName && RESIDUE_RANGE.test(word))) return PART_OF_PROTEIN;
    const name = word.replace(FILE_ENDING, '');
    if (HASH.test(name)) hashes.add(name.toLowerCase());
    const accession = ACCESSION.exec(name.replace(ALPHAFOLD, '$1'))?.[1];
    if (accession !== undefined) accessions.add(accession.toUpperCase());
    followsName = accession !== undefined || HASH.test(name) || ENTRY_NAME.test(name);
  }
  const [hash] = hashes;
  if (hashes.size > 1) return severalFault('hashes');
  if (hash !== undefined) return { hash };
  const [entry] = accessions;
  if (accessions.size > 1) return severalFault('accessions');
  if (entry !== undefined) return { entry };
  const names = words.filter((word) => ENTRY_NAME.test(word));
  // Beside one in capitals, as UniProt writes them, the others are words, such as `organism_name`.
  const written = names.filter((word) => word === word.toUpperCase());
  const [named, another] = new Set((written.length > 0 ? written : names).map((word) => word.toUpperCase()));
  if (another !== undefined) return severalFault('entry names');
  if (named !== undefined) return { entry: named };
  for (const [form, database] of OTHERS)
    if (words.some((word) => form.test(word)))
      return { fault: `is an accession of ${database}.`, hint: NO_ACCESSION };
  if (NEARLY_HASH.test(text)) return { fault: `is not a protein hash. ${hashFault(text)}`, hint: HINT };
  if (SERVICE_ID.test(text)) return { entry: text.toUpperCase() };
  return NAME.test(text)
    ? { fault: 'looks like a name, and there is no search by name.', hint: NO_NAME }
    : { fault: 'is not an identifier of a protein.', hint: HINT };
}

const SANDBOX_HINT =
  'The sandbox knows few proteins, such as P01308, and invents the others. Set UPSTREAM_URL to ask the ' +
  'service.';

export type Resolved =
  | { readonly hash: string; readonly entry?: UniprotRef }
  | { readonly problem: ProblemShape }
  | { readonly failure: unknown };

const notFound = (message: string, hint: string): Resolved => ({
  problem: { kind: 'NotFound', message, hint },
});

const invalid = (
  { argument, index }: Place,
  message: string,
  hint: string,
): { problem: InvalidInputShape } => ({
  problem: {
    kind: 'InvalidInput',
    message,
    hint,
    issues: [{ path: `${argument}.${index}`, code: 'NOT_AN_IDENTIFIER', message, hint }],
  },
});

/** A sentence about a text that is no identifier. */
export const describeFault = (place: string, text: string, fault: string): string =>
  `\`${place}\` (${text.length} characters) ${fault}`;

interface Place {
  readonly argument: string;
  readonly index: number;
}

/** What the texts of a list mean. Each is read once, also where a document gives it at many places. */
const readList = memoize1((ids: readonly string[]) => {
  const known = new Map<string, Identifier>();
  const read = ids.map((id) => {
    const one = known.get(id) ?? readIdentifier(id);
    known.set(id, one);
    return [id, one] as const;
  });
  const entries = new Set([...known.values()].flatMap((one) => ('entry' in one ? one.entry : [])));
  return { read, calls: entries.size };
});

/** Upstream calls to resolve the identifiers of a list; none for one that is refused for its length. */
export const resolvingCalls = (ids: readonly string[], most: number): number =>
  ids.length > most ? 0 : readList(ids).calls;

/**
 * The hash of an entry's protein; null when the entry says that it has none.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for an entry with neither hash nor sequence
 */
export const hashInAtlas = (entry: UniprotRef): string | null =>
  hashOfEntry(entry) ?? promised('uniprot', '$.protein_hash', entry.record.protein_hash) ?? null;

async function resolveEntry(ctx: GatewayContext, id: string, place: Place): Promise<Resolved> {
  try {
    const found = await ctx.uniprot.load(id);
    const [, canonical] = ISOFORM.exec(id) ?? [];
    // A service without isoforms may answer with the entry, which has the canonical sequence.
    if (canonical !== undefined && (found === null || found.record.accession === canonical))
      return notFound(
        `The service does not know the isoform ${id}.`,
        `Look up ${canonical} for the canonical sequence, or give the sequence of the isoform.`,
      );
    if (found === null)
      return ctx.services.upstream.isSandbox()
        ? notFound(`${id} is not in the sandbox.`, SANDBOX_HINT)
        : notFound(`UniProt has no entry ${id}.`, 'Check the spelling; UniProt has no obsolete entries.');
    const entry = { requested: id, ...found };
    const hash = hashInAtlas(entry);
    return hash === null
      ? notFound(`UniProt entry ${id} has no sequence.`, 'Look up the protein by its hash.')
      : { hash, entry };
  } catch (error) {
    // The service refuses identifiers of other databases; its message is passed on.
    if (error instanceof UpstreamError && error.failure.code === 'BAD_USER_INPUT')
      return invalid(place, error.message, HINT);
    return { failure: error };
  }
}

/** Resolves all identifiers of an argument, in their order. */
export async function resolveIdentifiers(
  ctx: GatewayContext,
  ids: readonly string[],
  argument: string,
): Promise<readonly Resolved[]> {
  const { read } = readList(ids);
  // Hashes are most of a long list: only entries take a promise each.
  const entries = read.map(([, one], index) =>
    'entry' in one ? resolveEntry(ctx, one.entry, { argument, index }) : undefined,
  );
  const found = await Promise.all(entries);
  return read.map(([id, one], index): Resolved => {
    if ('hash' in one) return one;
    if ('fault' in one)
      return invalid({ argument, index }, describeFault(`${argument}[${index}]`, id, one.fault), one.hint);
    return found[index] ?? { failure: new Error('An identifier was not resolved.') };
  });
}
