// A bulk archive as a stream of records, one protein's part at a time, so that memory follows one protein and not the
// archive. It knows the members' names and nothing of who wants them.
import { JsonError, parseLenient } from '../lenient-json.ts';
import { fromWire, namesSeen, type WireMapping, wireName } from '../mapping/rules.ts';
import { parseJson } from '../parse-json.ts';
import { ArchiveError } from './archive-error.ts';
import {
  type BulkFeatures,
  type BulkSequence,
  type BulkStructure,
  readFasta,
  readFeatures,
  readStructure,
} from './bulk-record.ts';
import { clusterMembers } from './cluster-members.ts';
import {
  eachJsonMember,
  type JsonMember,
  JsonMembersError,
  jsonMembers,
  textWithout,
} from './json-members.ts';
import { readZip } from './zip.ts';
import type { PackedText, ZipEntry } from './zip-entry.ts';
import type { ZipLimits } from './zip-limits.ts';

/** The members of a bulk archive. */
export type BulkMember = 'structures' | 'sequences' | 'clusterInfo' | 'features';

/** One thing that an archive says. */
export type BulkRecord =
  /** Told once of each. */
  | { readonly part: 'member'; readonly member: BulkMember }
  | { readonly part: 'sequence'; readonly hash: string; readonly sequence: BulkSequence }
  | { readonly part: 'structure'; readonly hash: string; readonly structure: BulkStructure }
  | { readonly part: 'features'; readonly hash: string; readonly features: BulkFeatures }
  /** The cluster's record as it came; the keys are those of `clusterInfo` in wire.ts. */
  | { readonly part: 'cluster'; readonly representative: string; readonly record: unknown }
  /** Which cluster a protein belongs to; null: to none. */
  | { readonly part: 'link'; readonly hash: string; readonly representative: string | null }
  /** The archive says which protein belongs to which cluster. */
  | { readonly part: 'links' }
  | { readonly part: 'problem'; readonly problem: ArchiveError };

/** Is told of records. What it throws ends the reading. */
type Tell = (record: BulkRecord) => void;

/** What of the archive is wanted. */
export interface BulkOptions {
  /** Whether activations along the sequence are wanted; they are most of an archive and passed over unless true. */
  readonly perResidue?: boolean;
  /** Whether the activations of all features are wanted where a protein's top ranking is there: they are most of the rest. True unless false. */
  readonly level?: boolean;
  readonly limits?: Partial<ZipLimits>;
  /** The proteins that were asked for: nothing is told of others. All when absent. */
  readonly hashes?: { has(hash: string): boolean } | undefined;
  /** Whether all is there that is needed: what comes behind is passed over, damaged or not. */
  readonly isDone?: () => boolean;
  /** Names that the deployment uses instead of those of the contract. */
  readonly mapping?: WireMapping | undefined;
  /** Shown what members say, to notice drift. */
  readonly onAnswer?: ((name: string, value: unknown, readable: boolean) => void) | undefined;
  /** Whether a member of this name is to be shown to `onAnswer`; always when absent. */
  readonly looksAt?: ((name: string) => boolean) | undefined;
  /** Told, after some records, that the next may take a while to come. */
  readonly onPause?: () => void;
}

/** Bytes of one protein's features: 2,000 residues with 64 active features each take about 4 MB. */
const MOST_FEATURES = 16 * 1024 ** 2;
/** Faults after which an archive is given up. */
const MAX_PROBLEMS = 100;
/** Beyond this a value is parsed off the main loop. */
const LARGE = 256 * 1024;

/** Bytes of what is said of the clusters of 500 proteins, parsed in a few milliseconds: a thread would take more to be told and to answer. */
const FEW_CLUSTERS = 1024 ** 2;

const decoder = new TextDecoder();
const HASH = /^[0-9a-f]{32}$/;
const normal = (hash: string) => hash.trim().toLowerCase();

const unreadable = (error: unknown, entry: string): unknown =>
  error instanceof JsonError || error instanceof JsonMembersError
    ? new ArchiveError('content', error.message, entry)
    : error;

async function sequences(entry: ZipEntry, tell: Tell): Promise<void> {
  const fasta = await entry.text();
  if (/^\s*[^\s>]/.test(fasta)) {
    tell({ part: 'problem', problem: new ArchiveError('content', 'This is no FASTA.', entry.name) });
  }
  for (const [hash, sequence] of readFasta(fasta)) {
    if (HASH.test(hash)) tell({ part: 'sequence', hash, sequence });
    else
      tell({
        part: 'problem',
        problem: new ArchiveError('content', 'A header has no protein hash.', entry.name),
      });
  }
}

const members = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

/** What is said of clusters and of who belongs to them; undefined where it is not said who. */
interface SaidOfClusters {
  readonly clusters: Iterable<[string, unknown]>;
  readonly proteins?: Iterable<[string, unknown]>;
}

/** Takes what is said of clusters out of the whole. */
function clustersIn(parsed: unknown, { mapping, onAnswer }: BulkOptions): SaidOfClusters {
  const top = new Map(members(fromWire(mapping, 'clusterInfo', parsed)));
  onAnswer?.('clusterInfo', parsed, true);
  const proteins = top.get('proteins');
  const clusters = members(top.get('clusters'));
  return typeof proteins === 'object' && proteins !== null
    ? { clusters, proteins: members(proteins) }
    : { clusters };
}

/** Reads what is said of a few clusters: record by record where nobody looks at the whole. @throws JsonError */
function fewClusters(bytes: Uint8Array, options: BulkOptions): SaidOfClusters {
  const { mapping, onAnswer, looksAt } = options;
  const isWatched = onAnswer !== undefined && looksAt?.('clusterInfo') !== false;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = mapping === undefined && !isWatched ? clusterMembers(buffer) : undefined;
  return read ?? clustersIn(parseLenient(decoder.decode(bytes)), options);
}

async function clusters(entry: ZipEntry, options: BulkOptions, tell: Tell): Promise<void> {
  const isFew = entry.size !== undefined && entry.size <= FEW_CLUSTERS;
  const said = isFew
    ? await entry.read((bytes) => fewClusters(bytes, options))
    : clustersIn(await parseJson(await entry.bytes(), { workerAboveBytes: LARGE }), options);
  for (const [representative, record] of said.clusters) {
    tell({ part: 'cluster', representative: normal(representative), record });
  }
  if (said.proteins === undefined) return;
  tell({ part: 'links' });
  for (const [hash, representative] of said.proteins) {
    if (typeof representative === 'string') {
      tell({ part: 'link', hash: normal(hash), representative: normal(representative) });
    } else if (representative === null) tell({ part: 'link', hash: normal(hash), representative });
    else tell({ part: 'problem', problem: new ArchiveError('content', 'A cluster is no hash.', entry.name) });
  }
}

const ROWS: ReadonlySet<string> = new Set(['per_residue']);
const LEVEL: ReadonlySet<string> = new Set(['protein_level']);
const NONE: ReadonlySet<string> = new Set();

/** A member's value without what is not wanted of it; a promise where it is large. @throws JsonError */
function parseMember(member: JsonMember, unwanted: ReadonlySet<string>): unknown {
  const { value, parts } = member;
  const off = { workerAboveBytes: LARGE };
  if (value.length > LARGE && !parts.some(({ key }) => unwanted.has(key))) return parseJson(value, off);
  const text = textWithout(member, unwanted);
  return text.length > LARGE ? parseJson(Buffer.from(text), off) : parseLenient(text);
}

/** Goes on until something has to be waited for, which is given back. */
type Steps = Generator<Promise<unknown>, void, unknown>;

/** The reading of features, in which one protein's may say how the next is read. */
interface FeatureReading {
  readonly entry: ZipEntry;
  readonly options: BulkOptions;
  readonly tell: Tell;
  /** What is not wanted of any, and what is not where there is a ranking. */
  readonly drop: ReadonlySet<string>;
  readonly unwanted: ReadonlySet<string>;
  /** What nobody wants takes two thirds of the time. The first protein is read whole: what has changed in it is to be noticed. */
  lean: boolean;
}

function openFeatures(entry: ZipEntry, options: BulkOptions, tell: Tell): FeatureReading {
  const { mapping, perResidue } = options;
  const drop = perResidue === true ? NONE : namesSeen(mapping, 'bulkFeatures', ROWS);
  const unwanted = new Set([...drop, ...namesSeen(mapping, 'bulkFeatures', LEVEL)]);
  return { entry, options, tell, drop, unwanted, lean: false };
}

const readAs = (mapping: WireMapping | undefined, key: string, value: unknown): BulkFeatures | undefined =>
  readFeatures(mapping === undefined ? value : fromWire(mapping, 'bulkFeatures', { [key]: value })[key]);

/**
 * Reads some proteins' features. Not a function within another: V8 keeps what a generator function sees, once it was called, until the next full
 * collection.
 */
function* readMembers(reading: FeatureReading, members: readonly JsonMember[]): Steps {
  const { entry, tell, drop, unwanted } = reading;
  const { mapping, onAnswer, level, onPause } = reading.options;
  for (const member of members) {
    const { key } = member;
    if (reading.options.hashes?.has(normal(key)) === false) continue;
    // A promise is waited for only where there is one: most are parsed already.
    const some = reading.lean ? parseMember(member, unwanted) : undefined;
    let read: BulkFeatures | undefined = reading.lean
      ? readAs(mapping, key, some instanceof Promise ? yield some : some)
      : undefined;
    if (read?.top === undefined) {
      const parsed = parseMember(member, drop);
      const all = parsed instanceof Promise ? yield parsed : parsed;
      read = readAs(mapping, key, all);
      onAnswer?.('bulkFeatures', { [key]: all }, read !== undefined);
    }
    reading.lean = level === false && read?.top !== undefined;
    if (read !== undefined) tell({ part: 'features', hash: normal(key), features: read });
    else
      tell({
        part: 'problem',
        problem: new ArchiveError('content', 'Features are no object.', entry.name),
      });
  }
  onPause?.();
}

async function features(entry: ZipEntry, options: BulkOptions, tell: Tell): Promise<void> {
  const reading = openFeatures(entry, options, tell);
  const { drop } = reading;
  if (entry.isHere && entry.size !== undefined && entry.size <= LARGE) {
    // None of it is large, so nothing is waited for, and the bytes need not outlive this turn.
    const read = (members: readonly JsonMember[]) => readMembers(reading, members).next();
    await entry.read((bytes) => eachJsonMember(bytes, drop, MOST_FEATURES, read));
    return;
  }
  for await (const members of jsonMembers(entry.stream(), drop, MOST_FEATURES)) {
    const steps = readMembers(reading, members);
    for (let step = steps.next(); step.done !== true; ) step = steps.next(await step.value);
  }
}

/** How members with something of many proteins are read. */
const READERS: Readonly<
  Record<string, [BulkMember, (entry: ZipEntry, options: BulkOptions, tell: Tell) => Promise<void>]>
> = {
  'sequences.fasta': ['sequences', (entry, _, tell) => sequences(entry, tell)],
  'cluster_info.json': ['clusterInfo', clusters],
  'features.json': ['features', features],
};

const STRUCTURE = /^[0-9a-f]{32}\.pdb$/i;

/** The protein whose structure a member is; undefined where it is something else. */
function structureHash(name: string, mapping: WireMapping | undefined): string | undefined {
  const slash = name.indexOf('/');
  if (slash === -1 || wireName(mapping, 'archive', name.slice(0, slash)) !== 'structures') return undefined;
  return STRUCTURE.test(name.slice(slash + 1)) ? name.slice(slash + 1, slash + 33).toLowerCase() : undefined;
}

/** Reads one member, where it is known. */
async function readMember(entry: ZipEntry, options: BulkOptions, tell: Tell): Promise<void> {
  const name = wireName(options.mapping, 'archive', entry.name);
  const [member, read] = Object.hasOwn(READERS, name) ? (READERS[name] ?? []) : [];
  if (member === undefined || read === undefined) return;
  tell({ part: 'member', member });
  await read(entry, options, tell);
}

/**
 * Reads the archive that `POST /proteins/batch` answers with (spec, Bulk lookup). Members and keys that are not known are
 * passed over. What is damaged becomes a `problem` record and what is whole still comes; only a failing source throws.
 *
 * @param onRecord - told of each record as soon as it is read; thousands in a list, each of which would be a handful of promises of a generator
 */
export async function readBulkRecords(
  source: AsyncIterable<Uint8Array>,
  options: BulkOptions,
  onRecord: Tell,
): Promise<void> {
  const problems: ArchiveError[] = [];
  let problemCount = 0;
  const tell: Tell = (record) => {
    if (record.part === 'problem') {
      if (options.isDone?.() === true) return;
      problemCount += 1;
      if (problemCount === MAX_PROBLEMS + 1)
        throw new ArchiveError('limit', 'The archive has too many faults.');
      if (problemCount > MAX_PROBLEMS) return;
    } else if ('hash' in record && options.hashes?.has(record.hash) === false) return;
    onRecord(record);
  };
  const told = new Set<string>();
  // A damaged entry with nothing behind it is met twice: where it is read, and where the next is looked for.
  const tellOnce = (problem: ArchiveError): void => {
    const name = `${problem.code} ${problem.entry ?? ''}`;
    if (told.has(name) && problem.code !== 'content') return;
    told.add(name);
    tell({ part: 'problem', problem });
  };
  const tellRefused = () => problems.splice(0).forEach(tellOnce);
  let hasStructures = false;
  const tellStructure = (hash: string, text: PackedText): void =>
    tell({ part: 'structure', hash, structure: readStructure(text) });
  const tellDamage = (error: unknown, name: string): void => {
    const problem = unreadable(error, name);
    if (!(problem instanceof ArchiveError)) throw problem;
    tellOnce(problem);
  };
  const structureOf = ({ name }: ZipEntry): string | undefined => {
    tellRefused();
    const hash = structureHash(name, options.mapping);
    if (hash !== undefined && !hasStructures) tell({ part: 'member', member: 'structures' });
    hasStructures ||= hash !== undefined;
    return hash;
  };
  // Hundreds of structures come in one archive: nobody waits where there is nothing to wait for.
  const take = (entry: ZipEntry): boolean => {
    if (options.isDone?.() === true) return true;
    const hash = structureOf(entry);
    if (hash === undefined) return false;
    if (options.hashes?.has(hash) === false) return true;
    try {
      const packed = entry.packed();
      if (packed instanceof Promise) return false;
      tellStructure(hash, packed);
    } catch (error) {
      tellDamage(error, entry.name);
    }
    return true;
  };
  try {
    const onProblem = (problem: ArchiveError): void => void problems.push(problem);
    for await (const entry of readZip(source, {
      ...options.limits,
      onProblem,
      take,
      onWait: options.onPause,
    })) {
      if (problemCount > MAX_PROBLEMS) break;
      if (options.isDone?.() === true) continue;
      const hash = structureOf(entry);
      if (hash !== undefined && options.hashes?.has(hash) === false) continue;
      try {
        if (hash === undefined) await readMember(entry, options, tell);
        else tellStructure(hash, await entry.packed());
        options.onPause?.();
      } catch (error) {
        tellDamage(error, entry.name);
      }
    }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    tellRefused();
    tellOnce(error);
    return;
  }
  tellRefused();
}
