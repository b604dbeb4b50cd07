// Reads the members of a bulk archive that speak of many proteins: sequences, clusters and features.
import type { OnResponse } from '../http/upstream-client.ts';
import { removeMembers } from '../json/json-filter.ts';
import { type Member, memberNamed, type NestedMember, nestedMembers } from '../json/json-scan.ts';
import { parseLenient } from '../json/lenient-json.ts';
import { parseJson } from '../json/parse-json.ts';
import { archiveName, fromWire, isFields, namesSeen, type WireMapping } from '../renames.ts';
import { ArchiveError, type ZipLimits } from './archive-limits.ts';
import {
  type BulkFeatures,
  type BulkSequence,
  type BulkStructure,
  readFasta,
  readFeatures,
} from './bulk-record.ts';
import { type JsonMember, jsonMembers } from './json-members.ts';
import type { ZipEntry } from './zip-entry.ts';

/** The members of a bulk archive. */
export type BulkMember = 'structures' | 'sequences' | 'clusterInfo' | 'features';

/** One thing that an archive says. */
export type BulkRecord =
  /** Emitted once for each. */
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

/** Receives records. Throwing ends the reading. */
export type Tell = (record: BulkRecord) => void;

/** Which parts of the archive to read. */
export interface BulkOptions {
  /** Whether to read per-residue activations, which are most of an archive. False by default. */
  readonly perResidue?: boolean;
  /** Whether to read the activations of all features next to a top ranking. True by default. */
  readonly level?: boolean;
  readonly limits?: Partial<ZipLimits>;
  /** The requested proteins: records of others are skipped. All when absent. */
  readonly hashes?: { has(hash: string): boolean } | undefined;
  /** Whether all that is needed is there: the rest, damaged or not, is skipped. */
  readonly isDone?: () => boolean;
  /** Names that the deployment uses instead of those of the contract. */
  readonly mapping?: WireMapping | undefined;
  /** Shown what members say, to notice drift. */
  readonly onResponse?: OnResponse | undefined;
  /** Called after some records when the next may take a while. */
  readonly onPause?: () => void;
}

/** Bytes of one protein's features: 2,000 residues with 64 active features each take about 4 MB. */
const MAX_FEATURES_BYTES = 16 * 1024 ** 2;
/** Beyond this a value is parsed off the main loop. */
const LARGE = 256 * 1024;
/** Larger members are parsed in a worker: smaller ones take less time than the round trip. */
const SMALL_MEMBER_BYTES = 1024 ** 2;

const HASH = /^[0-9a-f]{32}$/;
const normal = (hash: string) => hash.trim().toLowerCase();

const faultOf = ({ name }: ZipEntry, text: string): BulkRecord => ({
  part: 'problem',
  problem: new ArchiveError('content', text, name),
});

const isSmall = ({ size }: ZipEntry): boolean => size !== undefined && size <= SMALL_MEMBER_BYTES;

async function sequences(entry: ZipEntry, tell: Tell): Promise<void> {
  const fasta = new TextDecoder().decode(await entry.bytes());
  if (/^\s*[^\s>]/.test(fasta)) {
    tell(faultOf(entry, 'This is not FASTA.'));
  }
  for (const [hash, sequence] of readFasta(fasta)) {
    if (HASH.test(hash)) tell({ part: 'sequence', hash, sequence });
    else tell(faultOf(entry, 'A header has no protein hash.'));
  }
}

const members = (value: unknown): [string, unknown][] => (isFields(value) ? Object.entries(value) : []);

/** Clusters and their members; undefined where the archive does not say. */
interface SaidOfClusters {
  readonly clusters: Iterable<[string, unknown]>;
  readonly proteins?: Iterable<[string, unknown]>;
}

/** Takes what is said of clusters out of the whole. */
function clustersIn(parsed: unknown, { mapping, onResponse }: BulkOptions): SaidOfClusters {
  const top = new Map(members(fromWire(mapping, 'clusterInfo', parsed)));
  onResponse?.('clusterInfo', () => parsed, true);
  const proteins = top.get('proteins');
  const clusters = members(top.get('clusters'));
  return typeof proteins === 'object' && proteins !== null
    ? { clusters, proteins: members(proteins) }
    : { clusters };
}

async function clusters(entry: ZipEntry, options: BulkOptions, tell: Tell): Promise<void> {
  const parsed = await parseJson(await entry.bytes());
  const said = clustersIn(parsed, options);
  for (const [representative, record] of said.clusters) {
    tell({ part: 'cluster', representative: normal(representative), record });
  }
  if (said.proteins === undefined) return;
  tell({ part: 'links' });
  for (const [hash, representative] of said.proteins) {
    if (typeof representative === 'string') {
      tell({ part: 'link', hash: normal(hash), representative: normal(representative) });
    } else if (representative === null) tell({ part: 'link', hash: normal(hash), representative });
    else tell(faultOf(entry, 'The name of a cluster is not a hash.'));
  }
}

const ROWS: ReadonlySet<string> = new Set(['per_residue']);

/** One protein's value in `features.json`. */
interface FeaturesValue {
  readonly isObject: boolean;
  /** Parses a member of it. @throws JsonError */
  member(name: string): unknown;
  /** Parses all of it. @throws JsonError */
  whole(): unknown;
}

const memberOf = (value: unknown, name: string): unknown => (isFields(value) ? value[name] : undefined);

const parsedFeatures = (value: unknown): FeaturesValue => ({
  isObject: isFields(value),
  member: (name) => memberOf(value, name),
  whole: () => value,
});

/** The members stay bytes until they are wanted: the activations of all features seldom are. */
class FeaturesBytes implements FeaturesValue {
  readonly isObject = true;
  readonly #bytes: Buffer;
  readonly #value: NestedMember;

  constructor(bytes: Buffer, value: NestedMember) {
    this.#bytes = bytes;
    this.#value = value;
  }
  member(name: string): unknown {
    const found = memberNamed(this.#value.members, name);
    return found === undefined ? undefined : this.#parse(found);
  }
  whole(): unknown {
    return this.#parse(this.#value);
  }
  #parse({ start, stop }: Member): unknown {
    return parseLenient(this.#bytes.toString('utf8', start, stop));
  }
}

/** What is wanted of one protein's features. @throws JsonError */
function readWanted(key: string, value: FeaturesValue, options: BulkOptions): BulkFeatures {
  const { mapping, perResidue = false, level = true } = options;
  if (mapping?.bulkFeatures === undefined)
    return readFeatures((name) => value.member(name), { perResidue, level });
  const named = fromWire(mapping, 'bulkFeatures', { [key]: value.whole() })[key];
  return readFeatures((name) => memberOf(named, name), { perResidue, level });
}

/** What is shown of a value to notice drift; undefined where it is no JSON. */
function shownFeatures(key: string, value: FeaturesValue): unknown {
  try {
    return { [key]: value.whole() };
  } catch {
    return undefined;
  }
}

function tellFeatures(
  key: string,
  value: FeaturesValue,
  entry: ZipEntry,
  options: BulkOptions,
  tell: Tell,
): void {
  const read = value.isObject ? readWanted(key, value, options) : undefined;
  options.onResponse?.('bulkFeatures', () => shownFeatures(key, value), read !== undefined);
  if (read !== undefined) tell({ part: 'features', hash: normal(key), features: read });
  else tell(faultOf(entry, 'The features are not a JSON object.'));
}

async function features(entry: ZipEntry, options: BulkOptions, tell: Tell): Promise<void> {
  const isWanted = (key: string): boolean => options.hashes?.has(normal(key)) !== false;
  const small = isSmall(entry) ? await entry.bytes() : undefined;
  const bytes = small && Buffer.from(small.buffer, small.byteOffset, small.byteLength);
  const proteins = bytes && nestedMembers(bytes);
  if (bytes !== undefined && proteins !== undefined) {
    for (const protein of proteins)
      if (isWanted(protein.name))
        tellFeatures(protein.name, new FeaturesBytes(bytes, protein), entry, options, tell);
    options.onPause?.();
    return;
  }
  // A damaged one is read as far as it is whole.
  const parse = (member: JsonMember): unknown => parseJson(member.value, { workerAboveBytes: LARGE });
  const whole = small === undefined ? entry.stream() : [small];
  const stream =
    options.perResidue === true
      ? whole
      : removeMembers(whole, namesSeen(options.mapping, 'bulkFeatures', ROWS));
  for await (const some of jsonMembers(stream, MAX_FEATURES_BYTES)) {
    for (const member of some)
      if (isWanted(member.key))
        tellFeatures(member.key, parsedFeatures(await parse(member)), entry, options, tell);
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

/** Reads one member, where it is known. */
export async function readMember(entry: ZipEntry, options: BulkOptions, tell: Tell): Promise<void> {
  const name = archiveName(options.mapping, entry.name);
  const [member, read] = Object.hasOwn(READERS, name) ? (READERS[name] ?? []) : [];
  if (member === undefined || read === undefined) return;
  tell({ part: 'member', member });
  await read(entry, options, tell);
}
