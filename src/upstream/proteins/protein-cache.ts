// The cache of proteins, so that later requests fetch only the missing parts. Public data only:
// neither errors nor the absence of a protein are cached.
import type { Cache } from '../../store/cache/cache.ts';
import { isKnown, partValue, UNKNOWN } from '../part.ts';
import { type ClusterLink, emptyRecord, type ProteinRecord } from './record.ts';

/** What a hash determines for good. */
export type ProteinIdentity = Pick<ProteinRecord, 'from' | 'sequence' | 'length' | 'accession' | 'source'>;

export interface ProteinCache {
  /** What is cached of the proteins. */
  getMany(hashes: readonly string[]): Promise<ProteinRecord[]>;
  /** Caches what is known of a protein. */
  set(record: ProteinRecord): void;
}

/** The cache where nothing is cached. */
export const noProteinCache: ProteinCache = { getMany: async () => [], set: () => undefined };

/** @param ttl - milliseconds that what may change is cached */
export function createProteinCache(
  records: Cache<ProteinRecord>,
  identities: Cache<ProteinIdentity>,
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
        identities.set(hash, { from, sequence, length, accession, source });
      // No part outlives its time.
      const left = record.oldest + ttl - Date.now();
      if (left > 0) records.set(hash, withoutErrors(record), left);
    },
  };
}

/** A cached record as a part of this request; the store leaves out what is unknown. */
function toRecord(hash: string, cached: ProteinRecord | ProteinIdentity): ProteinRecord {
  const record: ProteinRecord = { ...emptyRecord(hash), ...cached };
  const source = partValue(record.from);
  const from = source === undefined ? UNKNOWN : { ...source, fromCache: true };
  const link: ClusterLink | undefined = partValue(record.cluster);
  return link?.info === undefined
    ? { ...record, from, cluster: link === undefined ? record.cluster : { ...link, info: UNKNOWN } }
    : { ...record, from };
}

/** Errors belong to one request. */
function withoutErrors(record: ProteinRecord): ProteinRecord {
  const failed = Object.entries(record).filter(([, part]) => part instanceof Error);
  const structure = partValue(record.structure);
  return {
    ...record,
    ...Object.fromEntries(failed.map(([name]) => [name, UNKNOWN])),
    ...(structure?.fault == null ? {} : { structure: UNKNOWN }),
  };
}

/** What an entry takes beside its data. */
const ENTRY_BYTES = 600;

/** Roughly what an identity takes in memory. */
export const sizeOfIdentity = ({ sequence }: ProteinIdentity): number =>
  ENTRY_BYTES + (partValue(sequence)?.length ?? 0);

/** Roughly what a record takes in memory. */
export function sizeOfRecord(record: ProteinRecord): number {
  const { structure, plddt, features, level, rows, single } = record;
  const text = partValue(structure)?.text;
  return (
    ENTRY_BYTES +
    2 * (partValue(record.sequence)?.length ?? 0) +
    (text === undefined ? 0 : typeof text === 'string' ? text.length : text.size) +
    8 * (partValue(plddt)?.length ?? 0) +
    200 * (partValue(features)?.values.length ?? 0) +
    16 * (partValue(level)?.values.length ?? 0) +
    (partValue(rows)?.rows.reduce((sum, { values }) => sum + 100 + 16 * values.length, 0) ?? 0) +
    // Coordinates as text, and three numbers for each of up to 64 activations a residue.
    (partValue(single) === undefined ? 0 : 4000 + 3000 * (partValue(record.length) ?? 0))
  );
}
