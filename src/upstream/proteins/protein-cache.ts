// The cache of proteins, so that later requests fetch only the missing parts. Public data only:
// neither errors nor the absence of a protein are cached.
import type { Cache } from '../../store/cache/cache.ts';
import { isKnown, partValue, UNKNOWN } from '../part.ts';
import type { FeatureValue } from '../wire.ts';
import { type ProteinRecord, withoutErrors } from './record.ts';

export interface ProteinCache {
  /** The cached parts of the proteins; those without any are left out. */
  getMany(hashes: readonly string[]): Promise<ProteinRecord[]>;
  /**
   * Caches what is known of a protein.
   *
   * @param isCheap - whether it was one of many in one call: it is cached when it comes a second
   *   time. Most never do, would drive out those that do, and keep the garbage collector busy
   */
  set(record: ProteinRecord, isCheap: boolean): void;
}

/** The cache where nothing is cached. */
export const noProteinCache: ProteinCache = { getMany: async () => [], set: () => undefined };

/**
 * @param identities - what a hash determines for good
 * @param ttl - milliseconds that what may change is cached
 */
export function createProteinCache(
  records: Cache<ProteinRecord>,
  identities: Cache<ProteinRecord>,
  ttl: number,
): ProteinCache {
  const isSecondSight = createSecondSight();
  return {
    async getMany(hashes) {
      const found = await records.getMany(hashes);
      const missing = hashes.filter((hash) => !found.has(hash));
      const identified = missing.length === 0 ? undefined : await identities.getMany(missing);
      return hashes.flatMap((hash) => {
        const cached = found.get(hash) ?? identified?.get(hash);
        return cached === undefined ? [] : [fromCache(cached)];
      });
    },
    set(record, isCheap) {
      const { hash, from, oldest, sequence, length, accession, source } = record;
      if (isCheap && !isSecondSight(hash)) return;
      if (partValue(sequence) !== undefined && isKnown(accession))
        identities.set(hash, { hash, from, oldest, sequence, length, accession, source });
      // No part outlives its time.
      const left = record.oldest + ttl - Date.now();
      if (left > 0) records.set(hash, withoutLarge(withoutErrors(record)), left);
    },
  };
}

/** Four hexadecimal digits. */
const SEEN_SLOTS = 0x1_0000;

/**
 * True for a hash that was seen before. MD5 hashes are random, so that their digits serve as slot
 * and fingerprint. Where two have the same slot, one is cached later.
 */
function createSecondSight(): (hash: string) => boolean {
  const slots = new Uint32Array(SEEN_SLOTS);
  return (hash) => {
    const slot = Number.parseInt(hash.slice(0, 4), 16);
    const fingerprint = Number.parseInt(hash.slice(4, 12), 16);
    const isSeen = slots[slot] === fingerprint;
    slots[slot] = fingerprint;
    return isSeen;
  };
}

/** Leaves out the large parts of a record whose answer has them. */
const withoutLarge = (record: ProteinRecord): ProteinRecord =>
  record.answer === undefined
    ? record
    : {
        ...record,
        structure: UNKNOWN,
        plddt: UNKNOWN,
        level: UNKNOWN,
        rows: UNKNOWN,
        single: UNKNOWN,
      };

/** A cached record as a part of this request. */
function fromCache(cached: ProteinRecord): ProteinRecord {
  const source = partValue(cached.from);
  return { ...cached, from: source && { ...source, fromCache: true } };
}

/** Memory of an entry beside its data. */
const ENTRY_BYTES = 600;

const estimateFeatureBytes = ({ label, description, residue_regions: regions }: FeatureValue): number =>
  180 +
  (label?.length ?? 0) +
  (description?.length ?? 0) +
  (regions == null ? 0 : 200 + 220 * regions.length);

/** Roughly what a record takes in memory. */
export function estimateRecordBytes(record: ProteinRecord): number {
  const { sequence, structure, plddt, cluster, features, level, rows, answer } = record;
  const text = partValue(structure)?.text;
  return (
    ENTRY_BYTES +
    (partValue(sequence)?.length ?? 0) +
    (text === undefined ? 0 : typeof text === 'string' ? text.length : text.size) +
    8 * (partValue(plddt)?.length ?? 0) +
    (partValue(cluster)?.info == null ? 0 : 700) +
    (partValue(features)?.values.reduce((sum, value) => sum + estimateFeatureBytes(value), 0) ?? 0) +
    16 * (partValue(level)?.values.length ?? 0) +
    (partValue(rows)?.rows.reduce((sum, { values }) => sum + 100 + 16 * values.length, 0) ?? 0) +
    (answer === undefined ? 0 : answer.packed.byteLength)
  );
}
