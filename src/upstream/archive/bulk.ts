// Gathers a bulk archive into the parts of each protein hash.
import { ArchiveError } from './archive-limits.ts';
import type { BulkMember, BulkOptions } from './bulk-members.ts';
import type { BulkFeatures, BulkSequence, BulkStructure } from './bulk-record.ts';
import { readBulkRecords } from './bulk-stream.ts';

/** The parts of every protein in an archive, by hash. */
export interface BulkParts {
  readonly sequences: ReadonlyMap<string, BulkSequence>;
  readonly structures: ReadonlyMap<string, BulkStructure>;
  /** Representative of the protein's cluster. A protein without a cluster is not in it. */
  readonly clusterOf: ReadonlyMap<string, string>;
  /** By representative, the record as it came. */
  readonly clusters: ReadonlyMap<string, unknown>;
  readonly features: ReadonlyMap<string, BulkFeatures>;
  /** Every hash that some member spoke of. */
  readonly present: ReadonlySet<string>;
  /** What was lost. With problems, a missing part may have been lost rather than absent. */
  readonly problems: readonly ArchiveError[];
  /**
   * The archive's members, with the keys `topFeatures` and `clusterLinks` that the service may
   * omit.
   */
  readonly members: Readonly<Record<BulkMember | 'topFeatures' | 'clusterLinks', boolean>>;
}

/** Bytes that features take, about. */
const sizeOfFeatures = ({ top, proteinLevel, perResidue }: BulkFeatures): number =>
  200 * (top?.length ?? 0) + 16 * (proteinLevel?.values.length ?? 0) + 24 * (perResidue?.values.length ?? 0);

/** What of a gathered archive is wanted. */
export interface GatherOptions extends BulkOptions {
  /** Bytes that are held of it at most; what would be more is a problem. */
  readonly heldBytes?: number;
  /** What to keep of a protein's features, called as each arrives; all of it when absent. */
  readonly shrink?: (hash: string, features: BulkFeatures) => BulkFeatures;
  /** Called with every protein mentioned, and all its parts so far. */
  readonly onHash?: (hash: string, parts: BulkParts) => void;
}

/**
 * Reads a whole bulk archive as it arrives. For per-residue activations pass `shrink`, or use
 * `readBulkRecords`: both hold those of one protein at a time.
 *
 * @throws whatever the source throws; a damaged archive throws nothing and lists its `problems`
 */
export async function readBulkArchive(
  source: AsyncIterable<Uint8Array>,
  options: GatherOptions = {},
): Promise<BulkParts> {
  const { heldBytes: heldMost = Number.POSITIVE_INFINITY } = options;
  const sequences = new Map<string, BulkSequence>();
  const structures = new Map<string, BulkStructure>();
  const clusterOf = new Map<string, string>();
  const clusters = new Map<string, unknown>();
  const features = new Map<string, BulkFeatures>();
  const present = new Set<string>();
  const problems: ArchiveError[] = [];
  let heldBytes = 0;
  /** Counts what is about to be held. @throws ArchiveError `limit` */
  const hold = (bytes: number): void => {
    if (heldBytes + bytes > heldMost)
      throw new ArchiveError('limit', `More than ${heldMost} bytes would be held.`);
    heldBytes += bytes;
  };
  const members = {
    structures: false,
    sequences: false,
    clusterInfo: false,
    features: false,
    topFeatures: false,
    clusterLinks: false,
  };
  const parts: BulkParts = {
    sequences,
    structures,
    clusterOf,
    clusters,
    features,
    present,
    problems,
    members,
  };
  await readBulkRecords(source, options, (record) => {
    if (record.part === 'sequence') hold(record.sequence.sequence.length);
    else if (record.part === 'structure') hold(record.structure.heldBytes);
    // That a protein is linked to none says nothing of whether it exists.
    if ('hash' in record && (record.part !== 'link' || record.representative !== null))
      present.add(record.hash);
    if (record.part === 'member') members[record.member] = true;
    else if (record.part === 'links') members.clusterLinks = true;
    else if (record.part === 'sequence') sequences.set(record.hash, record.sequence);
    else if (record.part === 'structure') structures.set(record.hash, record.structure);
    else if (record.part === 'cluster') clusters.set(record.representative, record.record);
    else if (record.part === 'problem') problems.push(record.problem);
    else if (record.part === 'features') {
      const shrunk = options.shrink?.(record.hash, record.features) ?? record.features;
      hold(sizeOfFeatures(shrunk));
      features.set(record.hash, shrunk);
      members.topFeatures ||= record.features.top !== undefined;
    } else if (record.representative !== null) clusterOf.set(record.hash, record.representative);
    if ('hash' in record) options.onHash?.(record.hash, parts);
  });
  return parts;
}
