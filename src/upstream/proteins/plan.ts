// Plans the calls for many proteins: single records for what only they have, bulk calls of 500 with
// exactly the union of the other needs. A lone protein is read from its record, unless the list of
// sequences has all that is needed: an archive with that alone is a hundredth of a record.
import type { RequiredParts } from './parts.ts';
import {
  inArchive,
  needsCluster,
  needsNothing,
  needsRecord,
  needsSequenceOnly,
  unionParts,
} from './required-parts.ts';

/** Hashes in one bulk call at most (spec, section Limits). */
export const BULK_HASHES = 500;

/** Proteins and what is needed of each. */
export type NeededParts = ReadonlyMap<string, RequiredParts>;

export interface BulkCall {
  /** The parts that each protein of the call needs. */
  readonly each: NeededParts;
  /** The union over all bulk calls of the plan. */
  readonly needs: RequiredParts;
}

export interface Plan {
  readonly records: NeededParts;
  readonly bulk: readonly BulkCall[];
}

/**
 * The first calls. The bulk call leaves out what a record answers; a record never has the cluster.
 */
export function planFirstCalls(needed: NeededParts): Plan {
  const records = new Map<string, RequiredParts>();
  const forBulk = new Map<string, RequiredParts>();
  for (const [hash, needs] of needed) {
    const { cluster, ...rest } = needs;
    const isLone = needed.size === 1 && !needsCluster(needs) && !needsSequenceOnly(needs);
    if (!needsRecord(needs) && !isLone) forBulk.set(hash, needs);
    else {
      records.set(hash, rest);
      if (cluster === true) forBulk.set(hash, { cluster });
    }
  }
  return { records, bulk: planBulkCalls(forBulk) };
}

/**
 * The calls for what the first ones left open: the record of what an archive lacks, the archive for
 * what a record lost.
 */
export function planRemainingCalls(open: NeededParts, first: Plan): Plan {
  const hasAskedForCluster = (hash: string): boolean =>
    first.bulk.some(({ each }) => each.get(hash)?.cluster === true);
  const records = new Map<string, RequiredParts>();
  const forBulk = new Map<string, RequiredParts>();
  for (const [hash, needs] of open) {
    if (!first.records.has(hash)) records.set(hash, needs);
    else {
      const { cluster, ...lost } = inArchive(needs);
      const more = cluster === undefined || hasAskedForCluster(hash) ? lost : { ...lost, cluster };
      if (!needsNothing(more)) forBulk.set(hash, more);
    }
  }
  return { records, bulk: planBulkCalls(forBulk) };
}

function planBulkCalls(forBulk: NeededParts): BulkCall[] {
  const entries = [...forBulk];
  const needs = unionParts(forBulk.values());
  const bulk: BulkCall[] = [];
  for (let start = 0; start < entries.length; start += BULK_HASHES)
    bulk.push({ each: new Map(entries.slice(start, start + BULK_HASHES)), needs });
  return bulk;
}
