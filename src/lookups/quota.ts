// Quota of bulk look-ups: running and stored look-ups and bytes in the store, for each caller and
// in total. Usage is a shared document that replicas change by compare-and-set.
import { setTimeout as sleep } from 'node:timers/promises';
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';

/** The limits; 0 means no limit. */
export interface BulkLimits {
  readonly runningPerCaller: number;
  readonly keptPerCaller: number;
  readonly bytesPerCaller: number;
  /** Of all callers together. */
  readonly running: number;
  readonly bytes: number;
}

export type BulkLimitName =
  | 'RUNNING_PER_CALLER'
  | 'KEPT_PER_CALLER'
  | 'BYTES_PER_CALLER'
  | 'RUNNING_TOTAL'
  | 'BYTES_TOTAL';

export interface BulkLimitExcess {
  readonly limit: BulkLimitName;
  readonly allowed: number;
  /** When quota becomes free at the latest; null when that depends on other look-ups. */
  readonly freeAt: number | null;
}

export interface BulkReservation {
  readonly lookupId: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface Entry extends BulkReservation {
  readonly running: boolean;
}

/** Bytes by the day on which they become free. */
type BytesByDay = Readonly<Record<string, number>>;

const DAY_MS = 24 * 3_600_000;
const TOTAL = 'bulk/1/quota/all';
const callerKey = (caller: string): string => `bulk/1/quota/of/${caller}`;
const dayOf = (expiresAt: number): string => String(Math.ceil(expiresAt / DAY_MS));
/** Tries against other processes that write the same document. */
const TRIES = 20;
const MAX_PAUSE_MS = 20;

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
const exceeds = (used: number, allowed: number): boolean => allowed > 0 && used > allowed;

/**
 * Creates the quota.
 *
 * @param isRunning - whether a look-up counted as running really runs; checked before a refusal
 */
export function createBulkQuota(
  documents: LeasedDocumentStore,
  limits: BulkLimits,
  now: () => number,
  isRunning: (lookupId: string) => Promise<boolean>,
) {
  /**
   * Changes a document in one step.
   *
   * @param change - returns the new value, or why nothing changes
   */
  async function update<T>(
    key: string,
    empty: T,
    expiresAt: number,
    change: (value: T) => { readonly next: T } | { readonly excess: BulkLimitExcess },
  ): Promise<BulkLimitExcess | null> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const kept = await documents.get(key);
      const standing = kept === null || kept === 'same' ? null : kept;
      const changed = change(standing === null ? empty : (JSON.parse(standing.text) as T));
      if ('excess' in changed) return changed.excess;
      const options = { expected: standing?.version ?? 0, expiresAt };
      if ((await documents.put(key, JSON.stringify(changed.next), options)) !== null) return null;
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
    throw new Error('Other processes change the quota of bulk look-ups again and again.');
  }

  const present = (entries: readonly Entry[]): Entry[] => entries.filter((one) => one.expiresAt > now());
  const presentDays = (days: BytesByDay): Record<string, number> =>
    Object.fromEntries(
      Object.entries(days).filter(([day, bytes]) => Number(day) * DAY_MS > now() && bytes > 0),
    );

  const changeTotal = ({ bytes, expiresAt }: BulkReservation, sign: 1 | -1) =>
    update<BytesByDay>(TOTAL, {}, Math.max(expiresAt, now()) + DAY_MS, (days) => {
      const next = presentDays(days);
      const day = dayOf(expiresAt);
      next[day] = Math.max(0, (next[day] ?? 0) + sign * bytes);
      if (sign > 0 && exceeds(sumOf(Object.values(next)), limits.bytes))
        return { excess: { limit: 'BYTES_TOTAL', allowed: limits.bytes, freeAt: null } };
      return { next };
    });

  const changeCaller = (
    caller: string,
    change: (entries: Entry[]) => { readonly next: Entry[] } | { readonly excess: BulkLimitExcess },
  ) => {
    // Expires with the last of its entries.
    const expiresAt = now() + 8 * DAY_MS;
    return update<Entry[]>(callerKey(caller), [], expiresAt, (entries) => change(present(entries)));
  };

  const takeOfCaller = (caller: string, wanted: BulkReservation) =>
    changeCaller(caller, (entries) => {
      const next = [...entries, { ...wanted, running: true }];
      const over = (limit: BulkLimitName, allowed: number, isFreedByTime: boolean) => ({
        excess: {
          limit,
          allowed,
          freeAt: isFreedByTime ? Math.min(...entries.map(({ expiresAt }) => expiresAt)) : null,
        },
      });
      if (exceeds(next.filter(({ running }) => running).length, limits.runningPerCaller))
        return over('RUNNING_PER_CALLER', limits.runningPerCaller, false);
      if (exceeds(next.length, limits.keptPerCaller))
        return over('KEPT_PER_CALLER', limits.keptPerCaller, true);
      if (exceeds(sumOf(next.map(({ bytes }) => bytes)), limits.bytesPerCaller))
        return over('BYTES_PER_CALLER', limits.bytesPerCaller, entries.length > 0);
      return { next };
    });

  const endAll = (caller: string, ids: ReadonlySet<string>) =>
    changeCaller(caller, (entries) => ({
      next: entries.map((one) => (ids.has(one.lookupId) ? { ...one, running: false } : one)),
    }));

  /**
   * Finds look-ups whose end could not be recorded, for example while the store was down.
   *
   * @returns whether there were any
   */
  async function forgetEnded(caller: string): Promise<boolean> {
    const kept = await documents.get(callerKey(caller));
    if (kept === null || kept === 'same') return false;
    const running = present(JSON.parse(kept.text) as Entry[]).filter((one) => one.running);
    const really = await Promise.all(running.map(({ lookupId }) => isRunning(lookupId)));
    const ended = running.filter((_, i) => really[i] === false).map(({ lookupId }) => lookupId);
    if (ended.length > 0) await endAll(caller, new Set(ended));
    return ended.length > 0;
  }

  async function releaseOf(caller: string, lookupId: string): Promise<void> {
    let released: Entry | undefined;
    await changeCaller(caller, (entries) => {
      released = entries.find((one) => one.lookupId === lookupId);
      return { next: entries.filter((one) => one !== released) };
    });
    if (released !== undefined) await changeTotal(released, -1);
  }

  return {
    /** Reserves quota for a look-up. @returns the limit that it would exceed; null on success */
    async reserve(caller: string, wanted: BulkReservation): Promise<BulkLimitExcess | null> {
      let excess = await takeOfCaller(caller, wanted);
      if (excess?.limit === 'RUNNING_PER_CALLER' && (await forgetEnded(caller)))
        excess = await takeOfCaller(caller, wanted);
      if (excess !== null) return excess;
      const total = await changeTotal(wanted, 1);
      if (total === null) return null;
      await changeCaller(caller, (entries) => ({
        next: entries.filter(({ lookupId }) => lookupId !== wanted.lookupId),
      }));
      return total;
    },
    /** Records that a look-up has ended; it stays stored. */
    async ended(caller: string, lookupId: string) {
      await endAll(caller, new Set([lookupId]));
    },
    /** Releases the quota of a look-up that is deleted early. */
    release: releaseOf,
    async storedBytes(): Promise<number> {
      const kept = await documents.get(TOTAL);
      if (kept === null || kept === 'same') return 0;
      return sumOf(Object.values(presentDays(JSON.parse(kept.text) as BytesByDay)));
    },
  };
}
