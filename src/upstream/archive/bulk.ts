// Gathers a bulk archive into the parts of each protein hash.
import { ArchiveError } from './archive-limits.ts';
import type { BulkMember, BulkOptions, BulkRecord } from './bulk-members.ts';
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
  const parts = {
    sequences: new Map<string, BulkSequence>(),
    structures: new Map<string, BulkStructure>(),
    clusterOf: new Map<string, string>(),
    clusters: new Map<string, unknown>(),
    features: new Map<string, BulkFeatures>(),
    present: new Set<string>(),
    problems: [] as ArchiveError[],
    members: {
      structures: false,
      sequences: false,
      clusterInfo: false,
      features: false,
      topFeatures: false,
      clusterLinks: false,
    },
  };
  const { heldBytes: most = Number.POSITIVE_INFINITY } = options;
  let heldBytes = 0;
  /** Counts what is about to be held. @throws ArchiveError `limit` */
  const hold = (bytes: number): void => {
    if (heldBytes + bytes > most) throw new ArchiveError('limit', `More than ${most} bytes would be held.`);
    heldBytes += bytes;
  };
  /** Takes in what speaks of one protein. */
  const take = (record: Extract<BulkRecord, { readonly hash: string }>): void => {
    const { hash } = record;
    if (record.part === 'sequence') {
      hold(record.sequence.sequence.length);
      parts.sequences.set(hash, record.sequence);
    } else if (record.part === 'structure') {
      hold(record.structure.heldBytes);
      parts.structures.set(hash, record.structure);
    } else if (record.part === 'features') {
      parts.present.add(hash);
      const kept = options.shrink?.(hash, record.features) ?? record.features;
      hold(sizeOfFeatures(kept));
      parts.features.set(hash, kept);
      parts.members.topFeatures ||= record.features.top !== undefined;
    } else if (record.representative !== null) parts.clusterOf.set(hash, record.representative);
    // That a protein is linked to none says nothing of whether it exists.
    if (record.part !== 'link' || record.representative !== null) parts.present.add(hash);
    options.onHash?.(hash, parts);
  };
  await readBulkRecords(source, options, (record) => {
    if ('hash' in record) take(record);
    else if (record.part === 'member') parts.members[record.member] = true;
    else if (record.part === 'links') parts.members.clusterLinks = true;
    else if (record.part === 'cluster') parts.clusters.set(record.representative, record.record);
    else parts.problems.push(record.problem);
  });
  return parts;
}
