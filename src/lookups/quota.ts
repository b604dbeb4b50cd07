// Quota of bulk look-ups: running and stored look-ups and bytes in the store, for each caller and
// in total. Usage is a shared document that replicas change by compare-and-set.
import { setTimeout as sleep } from 'node:timers/promises';
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';

/** 0 means no limit. */
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
/** Tries against other processes that write the same document. */
const TRIES = 20;
const MAX_PAUSE_MS = 20;

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
const exceeds = (used: number, allowed: number): boolean => allowed > 0 && used > allowed;

/** Another look-up, or why there is no room for it. */
type Change<T> = { readonly next: T } | { readonly excess: BulkLimitExcess };

/** @param isRunning - whether a look-up counted as running really runs; checked before a refusal */
export function createBulkQuota(
  documents: LeasedDocumentStore,
  limits: BulkLimits,
  now: () => number,
  isRunning: (lookupId: string) => Promise<boolean>,
) {
  async function read<T>(key: string, empty: T): Promise<{ value: T; version: number }> {
    const kept = await documents.get(key);
    if (kept === null || kept === 'same') return { value: empty, version: 0 };
    return { value: JSON.parse(kept.text) as T, version: kept.version };
  }

  /** Changes a document in one step. @returns why nothing changes; null when it is written */
  async function update<T>(
    key: string,
    empty: T,
    expiresAt: number,
    change: (value: T) => Change<T>,
  ): Promise<BulkLimitExcess | null> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { value, version: expected } = await read(key, empty);
      const changed = change(value);
      if ('excess' in changed) return changed.excess;
      const written = await documents.put(key, JSON.stringify(changed.next), { expected, expiresAt });
      if (written !== null) return null;
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
    throw new Error('Other processes change the quota of bulk look-ups again and again.');
  }

  const presentDays = (days: BytesByDay): Record<string, number> =>
    Object.fromEntries(
      Object.entries(days).filter(([day, bytes]) => Number(day) * DAY_MS > now() && bytes > 0),
    );
  const present = (entries: readonly Entry[]): Entry[] => entries.filter((one) => one.expiresAt > now());

  const changeTotal = ({ bytes, expiresAt }: BulkReservation, sign: 1 | -1) =>
    update<BytesByDay>(TOTAL, {}, Math.max(expiresAt, now()) + DAY_MS, (days) => {
      const next = presentDays(days);
      const day = String(Math.ceil(expiresAt / DAY_MS));
      next[day] = Math.max(0, (next[day] ?? 0) + sign * bytes);
      return sign > 0 && exceeds(sumOf(Object.values(next)), limits.bytes)
        ? { excess: { limit: 'BYTES_TOTAL', allowed: limits.bytes, freeAt: null } }
        : { next };
    });

  /** The document of a caller expires with the last of its entries. */
  const changeCaller = (caller: string, change: (entries: Entry[]) => Change<Entry[]>) =>
    update<Entry[]>(callerKey(caller), [], now() + 8 * DAY_MS, (entries) => change(present(entries)));

  /** @returns what was removed, to one of several that remove it at the same time */
  async function removeEntry(caller: string, lookupId: string): Promise<Entry | undefined> {
    let removed: Entry | undefined;
    await changeCaller(caller, (entries) => {
      removed = entries.find((one) => one.lookupId === lookupId);
      return { next: entries.filter((one) => one !== removed) };
    });
    return removed;
  }

  const takeOfCaller = (caller: string, wanted: BulkReservation) =>
    changeCaller(caller, (entries) => {
      const next = [...entries, { ...wanted, running: true }];
      const { runningPerCaller, keptPerCaller, bytesPerCaller } = limits;
      const freeAt = entries.length === 0 ? null : Math.min(...entries.map((one) => one.expiresAt));
      if (exceeds(next.filter(({ running }) => running).length, runningPerCaller))
        return { excess: { limit: 'RUNNING_PER_CALLER', allowed: runningPerCaller, freeAt: null } };
      if (exceeds(next.length, keptPerCaller))
        return { excess: { limit: 'KEPT_PER_CALLER', allowed: keptPerCaller, freeAt } };
      if (exceeds(sumOf(next.map(({ bytes }) => bytes)), bytesPerCaller))
        return { excess: { limit: 'BYTES_PER_CALLER', allowed: bytesPerCaller, freeAt } };
      return { next };
    });

  const endAll = (caller: string, ids: readonly string[]) =>
    changeCaller(caller, (entries) => ({
      next: entries.map((one) => (ids.includes(one.lookupId) ? { ...one, running: false } : one)),
    }));

  /** Records ends that could not be recorded, as while the store was down. @returns whether any */
  async function forgetEnded(caller: string): Promise<boolean> {
    const { value } = await read<Entry[]>(callerKey(caller), []);
    const running = present(value).filter((one) => one.running);
    const really = await Promise.all(running.map(({ lookupId }) => isRunning(lookupId)));
    const ended = running.filter((_, i) => really[i] === false).map(({ lookupId }) => lookupId);
    if (ended.length > 0) await endAll(caller, ended);
    return ended.length > 0;
  }

  return {
    /** Reserves quota for a look-up. @returns the limit that it would exceed; null on success */
    async reserve(caller: string, wanted: BulkReservation): Promise<BulkLimitExcess | null> {
      let excess = await takeOfCaller(caller, wanted);
      if (excess?.limit === 'RUNNING_PER_CALLER' && (await forgetEnded(caller)))
        excess = await takeOfCaller(caller, wanted);
      if (excess !== null) return excess;
      const total = await changeTotal(wanted, 1);
      if (total !== null) await removeEntry(caller, wanted.lookupId);
      return total;
    },
    /** Records that a look-up has ended; it stays stored. */
    async ended(caller: string, lookupId: string) {
      await endAll(caller, [lookupId]);
    },
    async release(caller: string, lookupId: string): Promise<void> {
      const released = await removeEntry(caller, lookupId);
      if (released !== undefined) await changeTotal(released, -1);
    },
    async storedBytes(): Promise<number> {
      return sumOf(Object.values(presentDays((await read<BytesByDay>(TOTAL, {})).value)));
    },
  };
}
