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
import { type JsonMember, JsonMembersError, jsonMembers, textWithout } from './json-members.ts';
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
  /** Names that the deployment uses instead of those of the contract. */
  readonly mapping?: WireMapping | undefined;
  /** Shown what members say, to notice drift. */
  readonly onAnswer?: ((name: string, value: unknown, readable: boolean) => void) | undefined;
  /** Told, after some records, that the next may take a while to come. */
  readonly onPause?: () => void;
}

/** Bytes of one protein's features: 2,000 residues with 64 active features each take about 4 MB. */
const MOST_FEATURES = 64 * 1024 ** 2;
/** Beyond this a value is parsed off the main loop. */
const LARGE = 256 * 1024;

/** Bytes of what is said of the clusters of 500 proteins, parsed in a few milliseconds: a thread would take more to be told and to answer. */
const FEW_CLUSTERS = 1024 ** 2;

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

async function clusters(entry: ZipEntry, { mapping, onAnswer }: BulkOptions, tell: Tell): Promise<void> {
  const parsed =
    entry.size !== undefined && entry.size <= FEW_CLUSTERS
      ? parseLenient(await entry.text())
      : await parseJson(await entry.bytes(), { workerAboveBytes: LARGE });
  const top = new Map(members(fromWire(mapping, 'clusterInfo', parsed)));
  onAnswer?.('clusterInfo', parsed, true);
  for (const [representative, record] of members(top.get('clusters'))) {
    tell({ part: 'cluster', representative: normal(representative), record });
  }
  if (typeof top.get('proteins') !== 'object' || top.get('proteins') === null) return;
  tell({ part: 'links' });
  for (const [hash, representative] of members(top.get('proteins'))) {
    tell({
      part: 'link',
      hash: normal(hash),
      representative: typeof representative === 'string' ? normal(representative) : null,
    });
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

async function features(entry: ZipEntry, options: BulkOptions, tell: Tell): Promise<void> {
  const { mapping, onAnswer } = options;
  const drop = options.perResidue === true ? NONE : namesSeen(mapping, 'bulkFeatures', ROWS);
  const unwanted = new Set([...drop, ...namesSeen(mapping, 'bulkFeatures', LEVEL)]);
  const readAs = (key: string, value: unknown): BulkFeatures | undefined =>
    readFeatures(mapping === undefined ? value : fromWire(mapping, 'bulkFeatures', { [key]: value })[key]);
  // What nobody wants takes two thirds of the time. The first protein is read whole: what has changed in it is to be noticed.
  let lean = false;
  for await (const members of jsonMembers(entry.stream(), drop, MOST_FEATURES)) {
    for (const member of members) {
      const { key } = member;
      // A promise is waited for only where there is one: most are parsed already.
      const some = lean ? parseMember(member, unwanted) : undefined;
      let read: BulkFeatures | undefined = lean
        ? readAs(key, some instanceof Promise ? await some : some)
        : undefined;
      if (read?.top === undefined) {
        const parsed = parseMember(member, drop);
        const all = parsed instanceof Promise ? await parsed : parsed;
        read = readAs(key, all);
        onAnswer?.('bulkFeatures', { [key]: all }, read !== undefined);
      }
      lean = options.level === false && read?.top !== undefined;
      if (read !== undefined) tell({ part: 'features', hash: normal(key), features: read });
      else
        tell({
          part: 'problem',
          problem: new ArchiveError('content', 'Features are no object.', entry.name),
        });
    }
    options.onPause?.();
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
 * @param tell - told of each record as soon as it is read; thousands in a list, each of which would be a handful of promises of a generator
 */
export async function readBulkRecords(
  source: AsyncIterable<Uint8Array>,
  options: BulkOptions,
  tell: Tell,
): Promise<void> {
  const problems: ArchiveError[] = [];
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
    const hash = structureOf(entry);
    if (hash === undefined) return false;
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
      const hash = structureOf(entry);
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
