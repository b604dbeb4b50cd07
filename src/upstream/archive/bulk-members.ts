// Reads the members of a bulk archive that speak of many proteins: sequences, clusters and features.
import { isFields } from '../json/is-fields.ts';
import { removeMembers } from '../json/json-filter.ts';
import { type Member, memberNamed, nestedMembers } from '../json/json-scan.ts';
import { parseLenient } from '../json/lenient-json.ts';
import { parseJson } from '../json/parse-json.ts';
import { isId } from '../wire-values.ts';
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

/** The members of a bulk archive that speak of many proteins. */
type BulkMember = 'sequences' | 'clusterInfo' | 'features';

/** One thing that an archive says. */
export type BulkRecord =
  /** That it has such a member, before what that says. */
  | { readonly part: 'member'; readonly member: BulkMember }
  | { readonly part: 'sequence'; readonly hash: string; readonly sequence: BulkSequence }
  | { readonly part: 'structure'; readonly hash: string; readonly structure: BulkStructure }
  | { readonly part: 'features'; readonly hash: string; readonly features: BulkFeatures }
  /** The cluster's record as it came; the keys are those of `clusterInfo` in wire.ts. */
  | { readonly part: 'cluster'; readonly representative: string; readonly record: unknown }
  /** Which cluster a protein belongs to. */
  | { readonly part: 'link'; readonly hash: string; readonly representative: string }
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

async function sequences(entry: ZipEntry, tell: Tell): Promise<void> {
  const fasta = new TextDecoder().decode(await entry.bytes()).replaceAll(/\r\n?/g, '\n');
  if (/^\s*[^\s>]/.test(fasta)) {
    tell(faultOf(entry, 'This is not FASTA.'));
  }
  for (const [hash, sequence] of readFasta(fasta)) {
    if (!HASH.test(hash)) tell(faultOf(entry, 'A header has no protein hash.'));
    else if (isId(sequence.accession ?? '')) tell({ part: 'sequence', hash, sequence });
    else tell(faultOf(entry, 'An accession has control characters.'));
  }
}

const members = (value: unknown): [string, unknown][] => (isFields(value) ? Object.entries(value) : []);

async function clusters(entry: ZipEntry, tell: Tell): Promise<void> {
  const parsed = await parseJson(await entry.bytes());
  const top = new Map(members(parsed));
  for (const [representative, record] of members(top.get('clusters')))
    tell({ part: 'cluster', representative: normal(representative), record });
  for (const [hash, representative] of members(top.get('proteins')))
    if (typeof representative === 'string')
      tell({ part: 'link', hash: normal(hash), representative: normal(representative) });
    else if (representative !== null) tell(faultOf(entry, 'The name of a cluster is not a hash.'));
}

const ROWS: ReadonlySet<string> = new Set(['per_residue']);

/** One protein's value in `features.json`. Both parse it. @throws JsonError */
interface FeaturesValue {
  whole(): unknown;
  /** One member alone, where it is an object: the activations of all features are seldom wanted. */
  readonly member?: (name: string) => unknown;
}

function tellFeatures(
  key: string,
  value: FeaturesValue,
  entry: ZipEntry,
  { perResidue = false, level = true }: BulkOptions,
  tell: Tell,
): void {
  let read = value.member;
  if (read === undefined) {
    const whole = value.whole();
    if (isFields(whole)) read = (name) => whole[name];
  }
  const found = read && readFeatures(read, { perResidue, level });
  if (found !== undefined) tell({ part: 'features', hash: normal(key), features: found });
  else tell(faultOf(entry, 'The features are not a JSON object.'));
}

async function features(entry: ZipEntry, options: BulkOptions, tell: Tell): Promise<void> {
  const isWanted = (key: string): boolean => options.hashes?.has(normal(key)) !== false;
  const isSmall = entry.size !== undefined && entry.size <= SMALL_MEMBER_BYTES;
  const small = isSmall ? await entry.bytes() : undefined;
  const bytes = small && Buffer.from(small.buffer, small.byteOffset, small.byteLength);
  const proteins = bytes && nestedMembers(bytes);
  if (bytes !== undefined && proteins !== undefined) {
    const parse = ({ start, stop }: Member) => parseLenient(bytes.toString('utf8', start, stop));
    for (const protein of proteins) {
      if (!isWanted(protein.name)) continue;
      const member = (name: string): unknown => {
        const found = memberNamed(protein.members, name);
        return found && parse(found);
      };
      tellFeatures(protein.name, { whole: () => parse(protein), member }, entry, options, tell);
    }
    options.onPause?.();
    return;
  }
  // A damaged one is read as far as it is whole.
  const parse = (member: JsonMember): unknown => parseJson(member.value, { workerAboveBytes: LARGE });
  const whole = small === undefined ? entry.stream() : [small];
  const stream = options.perResidue === true ? whole : removeMembers(whole, ROWS);
  for await (const some of jsonMembers(stream, MAX_FEATURES_BYTES)) {
    for (const member of some) {
      if (!isWanted(member.key)) continue;
      const value = await parse(member);
      tellFeatures(member.key, { whole: () => value }, entry, options, tell);
    }
    options.onPause?.();
  }
}

/** How members with something of many proteins are read. */
const READERS: Readonly<
  Record<string, [BulkMember, (entry: ZipEntry, options: BulkOptions, tell: Tell) => Promise<void>]>
> = {
  'sequences.fasta': ['sequences', (entry, _, tell) => sequences(entry, tell)],
  'cluster_info.json': ['clusterInfo', (entry, _, tell) => clusters(entry, tell)],
  'features.json': ['features', features],
};

/** Reads one member, where it is known. */
export async function readMember(entry: ZipEntry, options: BulkOptions, tell: Tell): Promise<void> {
  const [member, read] = Object.hasOwn(READERS, entry.name) ? (READERS[entry.name] ?? []) : [];
  if (member === undefined || read === undefined) return;
  tell({ part: 'member', member });
  await read(entry, options, tell);
}
