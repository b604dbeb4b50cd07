// A bulk archive as a stream of records, one protein's part at a time, so that memory follows one protein and not the
// archive. It knows the members' names and nothing of who wants them.
import { JsonError } from '../lenient-json.ts';
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
import { JsonMembersError, jsonMembers, withoutParts } from './json-members.ts';
import { readZip } from './zip.ts';
import type { ZipEntry } from './zip-entry.ts';
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
}

/** Bytes of one protein's features: 2,000 residues with 64 active features each take about 4 MB. */
const MOST_FEATURES = 64 * 1024 ** 2;
/** Beyond this a value is parsed off the main loop. */
const LARGE = 256 * 1024;

const HASH = /^[0-9a-f]{32}$/;
const normal = (hash: string) => hash.trim().toLowerCase();

const unreadable = (error: unknown, entry: string): unknown =>
  error instanceof JsonError || error instanceof JsonMembersError
    ? new ArchiveError('content', error.message, entry)
    : error;

async function* sequences(entry: ZipEntry): AsyncGenerator<BulkRecord> {
  const fasta = await entry.text();
  if (/^\s*[^\s>]/.test(fasta)) {
    yield { part: 'problem', problem: new ArchiveError('content', 'This is no FASTA.', entry.name) };
  }
  for (const [hash, sequence] of readFasta(fasta)) {
    if (HASH.test(hash)) yield { part: 'sequence', hash, sequence };
    else
      yield {
        part: 'problem',
        problem: new ArchiveError('content', 'A header has no protein hash.', entry.name),
      };
  }
}

const members = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

async function* clusters(entry: ZipEntry, { mapping, onAnswer }: BulkOptions): AsyncGenerator<BulkRecord> {
  const parsed = await parseJson(await entry.bytes(), { workerAboveBytes: LARGE });
  const top = new Map(members(fromWire(mapping, 'clusterInfo', parsed)));
  onAnswer?.('clusterInfo', parsed, true);
  for (const [representative, record] of members(top.get('clusters'))) {
    yield { part: 'cluster', representative: normal(representative), record };
  }
  if (typeof top.get('proteins') !== 'object' || top.get('proteins') === null) return;
  yield { part: 'links' };
  for (const [hash, representative] of members(top.get('proteins'))) {
    yield {
      part: 'link',
      hash: normal(hash),
      representative: typeof representative === 'string' ? normal(representative) : null,
    };
  }
}

const ROWS: ReadonlySet<string> = new Set(['per_residue']);
const LEVEL: ReadonlySet<string> = new Set(['protein_level']);
const NONE: ReadonlySet<string> = new Set();

async function* features(entry: ZipEntry, options: BulkOptions): AsyncGenerator<BulkRecord> {
  const { mapping, onAnswer } = options;
  const drop = options.perResidue === true ? NONE : namesSeen(mapping, 'bulkFeatures', ROWS);
  const level = namesSeen(mapping, 'bulkFeatures', LEVEL);
  const readAs = async (key: string, value: Uint8Array) => {
    const parsed = { [key]: await parseJson(value, { workerAboveBytes: LARGE }) };
    return { parsed, read: readFeatures(fromWire(mapping, 'bulkFeatures', parsed)[key]) };
  };
  // What nobody wants takes two thirds of the time. The first protein is read whole: what has changed in it is to be noticed.
  let lean = false;
  for await (const member of jsonMembers(entry.stream(), drop, MOST_FEATURES)) {
    const { key } = member;
    let read: BulkFeatures | undefined = lean
      ? (await readAs(key, withoutParts(member, level))).read
      : undefined;
    if (read?.top === undefined) {
      const whole = await readAs(key, member.value);
      read = whole.read;
      onAnswer?.('bulkFeatures', whole.parsed, read !== undefined);
    }
    lean = options.level === false && read?.top !== undefined;
    if (read !== undefined) yield { part: 'features', hash: normal(key), features: read };
    else
      yield { part: 'problem', problem: new ArchiveError('content', 'Features are no object.', entry.name) };
  }
}

/** Members with something of many proteins. */
function records(
  name: string,
  entry: ZipEntry,
  options: BulkOptions,
): [BulkMember, AsyncGenerator<BulkRecord>] | undefined {
  if (name === 'sequences.fasta') return ['sequences', sequences(entry)];
  if (name === 'cluster_info.json') return ['clusterInfo', clusters(entry, options)];
  if (name === 'features.json') return ['features', features(entry, options)];
  return undefined;
}

/** The protein whose structure a member is; undefined where it is something else. */
function structureHash(name: string, mapping: WireMapping | undefined): string | undefined {
  const [folder = '', file = ''] = name.split('/');
  if (wireName(mapping, 'archive', folder) !== 'structures') return undefined;
  const hash = /^([0-9a-f]{32})\.pdb$/i.exec(file)?.[1];
  return hash === undefined ? undefined : normal(hash);
}

/**
 * Reads the archive that `POST /proteins/batch` answers with (spec, Bulk lookup). Members and keys that are not known are
 * passed over. What is damaged becomes a `problem` record and what is whole still comes; only a failing source throws.
 */
export async function* readBulkRecords(
  source: AsyncIterable<Uint8Array>,
  options: BulkOptions = {},
): AsyncGenerator<BulkRecord> {
  const problems: ArchiveError[] = [];
  const told = new Set<string>();
  const said = new Set<BulkMember>();
  // A damaged entry with nothing behind it is met twice: where it is read, and where the next is looked for.
  const news = (problem: ArchiveError): BulkRecord[] => {
    const name = `${problem.code} ${problem.entry ?? ''}`;
    if (told.has(name) && problem.code !== 'content') return [];
    told.add(name);
    return [{ part: 'problem', problem }];
  };
  const refused = () => problems.splice(0).flatMap(news);
  try {
    const zip = readZip(source, { ...options.limits, onProblem: (problem) => problems.push(problem) });
    for await (const entry of zip) {
      yield* refused();
      const name = wireName(options.mapping, 'archive', entry.name);
      const hash = structureHash(name, options.mapping);
      const many = hash === undefined ? records(name, entry, options) : undefined;
      const member: BulkMember | undefined = hash === undefined ? many?.[0] : 'structures';
      if (member === undefined) continue;
      if (!said.has(member)) yield { part: 'member', member };
      said.add(member);
      try {
        if (many !== undefined) yield* many[1];
        else if (hash !== undefined) {
          // Hundreds come in one archive: no promise is made where there is nothing to wait for.
          const packed = entry.packed();
          yield {
            part: 'structure',
            hash,
            structure: readStructure(packed instanceof Promise ? await packed : packed),
          };
        }
      } catch (error) {
        const problem = unreadable(error, entry.name);
        if (!(problem instanceof ArchiveError)) throw problem;
        yield* news(problem);
      }
    }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    yield* refused();
    yield* news(error);
    return;
  }
  yield* refused();
}
