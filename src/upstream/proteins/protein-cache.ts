// The cache of proteins, so that later requests fetch only the missing parts. Public data only:
// neither errors nor the absence of a protein are cached.
import type { Cache } from '../../store/cache/cache.ts';
import { isKnown, partValue, UNKNOWN } from '../part.ts';
import { emptyRecord, type ProteinRecord } from './record.ts';

/** The known parts of a protein, as the store takes them. */
export type CachedProtein = Partial<ProteinRecord>;

export interface ProteinCache {
  /** What is cached of the proteins. */
  getMany(hashes: readonly string[]): Promise<ProteinRecord[]>;
  /** Caches what is known of a protein. */
  set(record: ProteinRecord): void;
}

/** The cache where nothing is cached. */
export const noProteinCache: ProteinCache = { getMany: async () => [], set: () => undefined };

/**
 * @param identities - what a hash determines for good
 * @param ttl - milliseconds that what may change is cached
 */
export function createProteinCache(
  records: Cache<CachedProtein>,
  identities: Cache<CachedProtein>,
  ttl: number,
): ProteinCache {
  return {
    async getMany(hashes) {
      const found = await records.getMany(hashes);
      const missing = hashes.filter((hash) => !found.has(hash));
      const identified = missing.length === 0 ? undefined : await identities.getMany(missing);
      return hashes.flatMap((hash) => {
        const cached = found.get(hash) ?? identified?.get(hash);
        return cached === undefined ? [] : [toRecord(hash, cached)];
      });
    },
    set(record) {
      const { hash, from, sequence, length, accession, source } = record;
      if (partValue(sequence) !== undefined && isKnown(accession))
        identities.set(hash, knownParts({ from, sequence, length, accession, source }));
      // No part outlives its time.
      const left = record.oldest + ttl - Date.now();
      if (left > 0) records.set(hash, knownParts(record), left);
    },
  };
}

/** Without what is unknown. Errors belong to one request, and a structure with a fault is one. */
function knownParts(record: CachedProtein): CachedProtein {
  const { structure = UNKNOWN } = record;
  const parts = { ...record, structure: partValue(structure)?.fault == null ? structure : UNKNOWN };
  const known = Object.entries(parts).filter(([, part]) => part !== UNKNOWN && !(part instanceof Error));
  return Object.fromEntries(known);
}

/** A cached record as a part of this request. */
function toRecord(hash: string, cached: CachedProtein): ProteinRecord {
  const source = partValue(cached.from ?? UNKNOWN);
  const from = source === undefined ? UNKNOWN : { ...source, fromCache: true };
  return { ...emptyRecord(hash), ...cached, from };
}

/** What an entry takes beside its data. */
const ENTRY_BYTES = 600;

/** Roughly what a record takes in memory. */
export function sizeOfRecord(record: CachedProtein): number {
  const { sequence, structure, plddt, features, level, rows, single } = { ...emptyRecord(''), ...record };
  const text = partValue(structure)?.text;
  return (
    ENTRY_BYTES +
    (partValue(sequence)?.length ?? 0) +
    (text === undefined ? 0 : typeof text === 'string' ? text.length : text.size) +
    8 * (partValue(plddt)?.length ?? 0) +
    200 * (partValue(features)?.values.length ?? 0) +
    16 * (partValue(level)?.values.length ?? 0) +
    (partValue(rows)?.rows.reduce((sum, { values }) => sum + 100 + 16 * values.length, 0) ?? 0) +
    // Coordinates as text, and three numbers for each of up to 64 activations a residue.
    (partValue(single) === undefined ? 0 : 4000 + 3000 * (partValue(sequence)?.length ?? 0))
  );
}
