// Reads a bulk archive as it arrives: as a stream of records, one protein's part at a time, to hold
// little memory, or gathered into the parts of each protein.
import { JsonError } from '../json/lenient-json.ts';
import { ArchiveError } from './archive-limits.ts';
import { type BulkOptions, type BulkRecord, readMember, type Tell } from './bulk-members.ts';
import { type BulkFeatures, type BulkSequence, BulkStructure } from './bulk-record.ts';
import { readZip } from './zip.ts';
import type { EntryText, ZipEntry } from './zip-entry.ts';

/** Faults after which an archive is given up. */
const MAX_PROBLEMS = 100;

const STRUCTURE = /^[0-9a-f]{32}\.pdb$/i;

/** The protein whose structure a member is; undefined where it is something else. */
function structureHash(name: string): string | undefined {
  const slash = name.indexOf('/');
  if (slash === -1 || name.slice(0, slash) !== 'structures') return undefined;
  return STRUCTURE.test(name.slice(slash + 1)) ? name.slice(slash + 1, slash + 33).toLowerCase() : undefined;
}

/**
 * Reads the archive of `POST /proteins/batch` (spec, Bulk lookup). Skips unknown members and keys.
 * Damage becomes a `problem` record, and whole parts still follow; only a failing source throws.
 *
 * @param onRecord - called with each record; a generator would make several promises for each of
 *   thousands
 */
export async function readBulkRecords(
  source: AsyncIterable<Uint8Array>,
  options: BulkOptions,
  onRecord: Tell,
): Promise<void> {
  let problemCount = 0;
  const tell: Tell = (record) => {
    if (record.part === 'problem') {
      if (options.isDone?.() === true) return;
      problemCount += 1;
      if (problemCount > MAX_PROBLEMS) throw new ArchiveError('limit', 'The archive has too many faults.');
    } else if ('hash' in record && options.hashes?.has(record.hash) === false) return;
    onRecord(record);
  };
  const reported = new Set<string>();
  // A damaged entry at the end is reported twice: when read, and when looking for the next.
  const onProblem = (problem: ArchiveError): void => {
    const name = `${problem.code} ${problem.entry ?? ''}`;
    if (reported.has(name)) return;
    reported.add(name);
    tell({ part: 'problem', problem });
  };
  const tellDamage = (error: unknown, name: string): void => {
    const problem = error instanceof JsonError ? new ArchiveError('content', error.message, name) : error;
    if (!(problem instanceof ArchiveError)) throw problem;
    onProblem(problem);
  };
  // Synchronous where possible: an archive holds hundreds of structures.
  const whole = ({ name }: ZipEntry, read: () => Promise<void> | void): Promise<void> | void => {
    try {
      return read()?.then(options.onPause, (error: unknown) => tellDamage(error, name));
    } catch (error) {
      tellDamage(error, name);
    }
  };
  const onEntry = (entry: ZipEntry): Promise<void> | void => {
    if (options.isDone?.() === true) return;
    const hash = structureHash(entry.name);
    if (hash === undefined) return whole(entry, () => readMember(entry, options, tell));
    if (options.hashes?.has(hash) === false) return;
    const tellStructure = (text: EntryText): void =>
      tell({ part: 'structure', hash, structure: new BulkStructure(text) });
    return whole(entry, () => {
      const packed = entry.packed();
      return packed instanceof Promise ? packed.then(tellStructure) : tellStructure(packed);
    });
  };
  try {
    await readZip(source, onEntry, { onProblem, onWait: options.onPause, ...options.limits });
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    if (problemCount <= MAX_PROBLEMS) onProblem(error);
  }
}

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
  /** Whether there is a list of sequences, which names every protein. */
  readonly hasSequences: boolean;
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
    hasSequences: false,
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
    } else parts.clusterOf.set(hash, record.representative);
    parts.present.add(hash);
    options.onHash?.(hash, parts);
  };
  await readBulkRecords(source, options, (record) => {
    if ('hash' in record) take(record);
    else if (record.part === 'member') parts.hasSequences ||= record.member === 'sequences';
    else if (record.part === 'cluster') parts.clusters.set(record.representative, record.record);
    else parts.problems.push(record.problem);
  });
  return parts;
}
