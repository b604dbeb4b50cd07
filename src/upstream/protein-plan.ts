// Which calls answer what is needed of many proteins: single records for what only they have and for a lone protein,
// bulk calls of 500 with exactly the union of what the others need. Pure.
import { joinNeeds, needsRecord, type ProteinNeeds } from './protein-needs.ts';

/** Hashes in one bulk call at most (spec, section Limits). */
export const BULK_HASHES = 500;

export interface BulkCall {
  readonly hashes: readonly string[];
  /** The union over the hashes of this and all other bulk calls of the plan. */
  readonly needs: ProteinNeeds;
}

export interface Plan {
  readonly records: ReadonlyMap<string, ProteinNeeds>;
  readonly bulk: readonly BulkCall[];
  /** What each hash of the bulk calls needs of them. */
  readonly forBulk: ReadonlyMap<string, ProteinNeeds>;
}

/** Whether a record says all of what is needed: of its cluster it knows less than the bulk answer. */
export const isInRecord = (needs: ProteinNeeds): boolean => needs.cluster !== true && needs.link !== true;

/** Plans the calls. What a record answers is not asked of the bulk call as well, but for what it never has: its cluster. */
export function planCalls(wanted: ReadonlyMap<string, ProteinNeeds>): Plan {
  const records = new Map<string, ProteinNeeds>();
  const forBulk = new Map<string, ProteinNeeds>();
  for (const [hash, needs] of wanted) {
    const { cluster, ...rest } = needs;
    const lone = wanted.size === 1 && isInRecord(needs);
    if (!needsRecord(needs) && !lone) forBulk.set(hash, needs);
    else {
      records.set(hash, rest);
      if (cluster === true) forBulk.set(hash, { cluster });
    }
  }
  const hashes = [...forBulk.keys()];
  const needs = joinNeeds(forBulk.values());
  const bulk: BulkCall[] = [];
  for (let start = 0; start < hashes.length; start += BULK_HASHES) {
    bulk.push({ hashes: hashes.slice(start, start + BULK_HASHES), needs });
  }
  return { records, bulk, forBulk };
}
