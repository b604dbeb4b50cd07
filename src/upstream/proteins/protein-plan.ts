// Plans the calls for many proteins: single records for what only they have and for a lone protein,
// bulk calls of 500 with exactly the union of the other needs.
import { needsCluster, needsRecord, type RequiredParts, unionParts } from './required-parts.ts';

/** Hashes in one bulk call at most (spec, section Limits). */
export const BULK_HASHES = 500;

export interface BulkCall {
  readonly hashes: readonly string[];
  /** The union over the hashes of this and all other bulk calls of the plan. */
  readonly needs: RequiredParts;
  /** Whether to include the sequences, because only they prove which of the proteins exist. */
  readonly asksSequences: boolean;
}

export interface Plan {
  readonly records: ReadonlyMap<string, RequiredParts>;
  readonly bulk: readonly BulkCall[];
  /** What each hash of the bulk calls needs of them. */
  readonly forBulk: ReadonlyMap<string, RequiredParts>;
}

/** Bulk calls for the needs of proteins. @param isKnown - whether a protein's existence is known */
export function planBulk(
  forBulk: ReadonlyMap<string, RequiredParts>,
  isKnown: (hash: string) => boolean,
): BulkCall[] {
  const hashes = [...forBulk.keys()];
  const needs = unionParts(forBulk.values());
  const asksSequences = needs.sequence === true || !hashes.every(isKnown);
  const bulk: BulkCall[] = [];
  for (let start = 0; start < hashes.length; start += BULK_HASHES) {
    bulk.push({ hashes: hashes.slice(start, start + BULK_HASHES), needs, asksSequences });
  }
  return bulk;
}

/**
 * Plans the calls. The bulk call leaves out what a record answers; a record never has the cluster.
 */
export function planCalls(
  wanted: ReadonlyMap<string, RequiredParts>,
  isKnown: (hash: string) => boolean,
): Plan {
  const records = new Map<string, RequiredParts>();
  const forBulk = new Map<string, RequiredParts>();
  for (const [hash, needs] of wanted) {
    const { cluster, ...rest } = needs;
    const lone = wanted.size === 1 && !needsCluster(needs);
    if (!needsRecord(needs) && !lone) forBulk.set(hash, needs);
    else {
      records.set(hash, rest);
      if (cluster === true) forBulk.set(hash, { cluster });
    }
  }
  // A record proves by itself whether its protein exists.
  const isProven = (hash: string): boolean => records.has(hash) || isKnown(hash);
  return { records, bulk: planBulk(forBulk, isProven), forBulk };
}
