// Bulk look-ups of a process: starts and cancels them, reports progress, and resumes those of a
// stopped process.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { type Broadcast, createBroadcast } from '../async/broadcast.ts';
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';
import {
  type BulkLookup,
  type BulkPart,
  type BulkRequest,
  chunkHashes,
  hasEnded,
  newPart,
  RETENTION_MS,
  stateOf,
} from './lookup.ts';
import { createLookupStore, type KeptLookup } from './lookup-store.ts';
import { type BulkSchedule, defaultBulkSchedule } from './part.ts';
import { type BulkLimitExcess, type BulkLimits, createBulkQuota } from './quota.ts';
import { type Run, type RunParts, startRun } from './run.ts';

export type BulkLookups = ReturnType<typeof openBulkLookups>;

export interface BulkSettings extends Pick<RunParts, 'openUpstream' | 'onError'> {
  readonly documents: LeasedDocumentStore;
  readonly limits: BulkLimits;
  readonly pace?: BulkSchedule;
  readonly now?: () => number;
}

/** Parts that this process has at the upstream at the same time. */
const PARTS_IN_FLIGHT = 8;
/** Interval of looking for abandoned look-ups, and for progress of other processes. */
const LOOK_MS = 5_000;
const FOLLOW_MS = 1_000;
/**
 * How long a start waits for the first answer of the upstream, and a cancellation for its result.
 */
const ANSWER_MS = 5_000;

/** Bytes of names and versions of a look-up's documents, and of its job ids. */
const DOCUMENTS_BYTES = 1_000;
const PART_BYTES = 150;

/** Approximate bytes of a look-up in the store. */
const bytesOf = (lookup: BulkLookup, ask: BulkRequest): number =>
  JSON.stringify(ask).length +
  JSON.stringify(lookup).length +
  lookup.parts.length * PART_BYTES +
  DOCUMENTS_BYTES;

const isOver = (lookup: BulkLookup): boolean => hasEnded(stateOf(lookup));

/** Opens the look-ups and resumes unfinished ones. */
export function openBulkLookups(settings: BulkSettings) {
  const { documents, limits, pace = defaultBulkSchedule, now = Date.now, onError, openUpstream } = settings;
  const store = createLookupStore(documents, now);
  const quota = createBulkQuota(documents, limits, now, async (lookupId) => {
    const kept = await store.progress(lookupId);
    return kept === 'same' || (kept !== null && !isOver(kept.lookup));
  });
  const parts: RunParts = {
    store,
    owner: randomUUID(),
    pace,
    now,
    openUpstream,
    onError,
    limit: pLimit(PARTS_IN_FLIGHT),
  };
  const runs = new Map<string, Run>();
  const topics = new Map<string, Broadcast<BulkLookup>>();
  let ending = false;
  let closed = false;

  function endWatches(): void {
    ending = true;
    for (const topic of topics.values()) topic.end();
    topics.clear();
  }

  function tell(lookup: BulkLookup): void {
    const topic = topics.get(lookup.lookupId);
    topic?.publish(lookup);
    if (!isOver(lookup)) return;
    topic?.end();
    topics.delete(lookup.lookupId);
  }

  function run(kept: KeptLookup, ask: BulkRequest): Run {
    const { lookupId } = kept.lookup;
    const what = { unique: chunkHashes(ask.hashes).unique, options: ask.options };
    const started = startRun(parts, kept, what, tell);
    runs.set(lookupId, started);
    void started.done.then(async () => {
      runs.delete(lookupId);
      const { account } = started.lookup;
      if (account !== undefined && isOver(started.lookup))
        await quota.ended(account, lookupId).catch(onError);
    });
    return started;
  }

  /** Works on an unfinished look-up, unless another process does. */
  async function takeUp(lookupId: string): Promise<void> {
    if (closed || runs.has(lookupId) || !(await store.claim(lookupId, parts.owner))) return;
    const [kept, ask] = await Promise.all([store.progress(lookupId), store.ask(lookupId)]);
    if (closed || runs.has(lookupId)) return;
    if (kept === null || kept === 'same' || ask === null) return store.finish(lookupId);
    const taken = run(kept, ask);
    if (await store.cancelRequested(lookupId)) taken.cancel();
  }

  async function takeUpAll(): Promise<void> {
    for (const lookupId of await store.open()) await takeUp(lookupId);
  }

  async function get(lookupId: string): Promise<BulkLookup | null> {
    const here = runs.get(lookupId)?.lookup;
    if (here !== undefined) return here;
    const kept = await store.progress(lookupId);
    return kept === null || kept === 'same' ? null : kept.lookup;
  }

  /** Reports progress of a look-up of another process while it has subscribers. */
  async function followElsewhere(lookupId: string, topic: Broadcast<BulkLookup>): Promise<void> {
    let version: number | undefined;
    while (!closed && topics.get(lookupId) === topic) {
      if (!runs.has(lookupId)) {
        const kept = await store.progress(lookupId, version).catch(() => 'same' as const);
        if (kept === null) topic.end();
        else if (kept !== 'same') {
          version = kept.version;
          tell(kept.lookup);
        }
      }
      await sleep(FOLLOW_MS, undefined, { ref: false });
    }
  }

  function topicOf(lookup: BulkLookup): Broadcast<BulkLookup> {
    const found = topics.get(lookup.lookupId);
    if (found !== undefined) return found;
    const topic = createBroadcast<BulkLookup>();
    topics.set(lookup.lookupId, topic);
    tell(lookup);
    if (!isOver(lookup)) void followElsewhere(lookup.lookupId, topic);
    return topic;
  }

  function watchOf(lookup: BulkLookup, signal: AbortSignal | undefined): AsyncIterableIterator<BulkLookup> {
    const topic = topicOf(lookup);
    if (ending) topic.end();
    return topic.watch(
      (state) => state,
      signal,
      () => {
        if (topic.watchers === 0 && topics.get(lookup.lookupId) === topic) topics.delete(lookup.lookupId);
      },
    );
  }

  /** Waits until a condition holds or the time is over; returns the look-up as it then is. */
  async function until(lookup: BulkLookup, wanted: (lookup: BulkLookup) => boolean): Promise<BulkLookup> {
    let last = lookup;
    if (wanted(last)) return last;
    for await (const state of watchOf(lookup, AbortSignal.timeout(ANSWER_MS))) {
      last = state;
      if (wanted(state)) break;
    }
    return last;
  }

  /** Reserves quota for a new look-up. */
  const takeRoom = (lookup: BulkLookup, ask: BulkRequest, account: string): Promise<BulkLimitExcess | null> =>
    quota.reserve(account, {
      lookupId: lookup.lookupId,
      bytes: bytesOf(lookup, ask),
      expiresAt: lookup.startedAt + RETENTION_MS,
    });

  async function forget(lookupId: string, account: string | undefined): Promise<void> {
    await store.remove(lookupId);
    if (account !== undefined) await quota.release(account, lookupId);
  }

  void takeUpAll().catch(onError);
  // Without a shared store no other process can leave work behind.
  const looker = store.shared ? setInterval(() => void takeUpAll().catch(onError), LOOK_MS) : undefined;
  looker?.unref();

  return {
    /**
     * Starts a look-up. Resolves when its first part was sent or has failed, at the latest after 5
     * seconds.
     *
     * @param account - the caller in the quota
     * @returns the look-up, or the limit that it would exceed
     */
    async start(ask: BulkRequest, account: string): Promise<BulkLookup | BulkLimitExcess> {
      const { duplicateCount, sizes } = chunkHashes(ask.hashes);
      const lookup: BulkLookup = {
        lookupId: randomBytes(18).toString('base64url'),
        account,
        startedAt: now(),
        requestedCount: ask.hashes.length,
        duplicateCount,
        cancelRequested: false,
        parts: sizes.map(newPart),
      };
      const excess = await takeRoom(lookup, ask, account);
      if (excess !== null) return excess;
      await store.claim(lookup.lookupId, parts.owner);
      const version = await store.add(lookup, ask);
      if (limits.running > 0 && (await store.open()).length > limits.running) {
        await forget(lookup.lookupId, account);
        return { limit: 'RUNNING_TOTAL', allowed: limits.running, freeAt: null };
      }
      run({ lookup, version }, ask);
      return until(
        lookup,
        ({ parts: [first] }) => first === undefined || first.sent > 0 || hasEnded(first.state),
      );
    },
    /** Null for an unknown look-up. */
    get,
    /** The request; null for an unknown look-up. */
    ask: store.ask,
    /** Cancels unfinished parts and returns the result. Null for an unknown look-up. */
    async cancel(lookupId: string): Promise<BulkLookup | null> {
      const lookup = await get(lookupId);
      if (lookup === null || isOver(lookup)) return lookup;
      await store.requestCancel(lookupId);
      await takeUp(lookupId);
      runs.get(lookupId)?.cancel();
      const after = await until(runs.get(lookupId)?.lookup ?? lookup, isOver);
      return isOver(after) ? after : { ...after, cancelRequested: true };
    },
    /**
     * The present state and every change, until the look-up has ended. Null for an unknown look-up.
     */
    async watch(lookupId: string, signal: AbortSignal | undefined) {
      const lookup = await get(lookupId);
      return lookup === null ? null : watchOf(lookup, signal);
    },
    /** Records that the upstream has deleted the archive of a part. */
    async expire(lookupId: string, index: number): Promise<void> {
      const kept = await store.progress(lookupId);
      // While a process works on it, only that process writes its progress.
      if (kept === null || kept === 'same' || !isOver(kept.lookup)) return;
      const parts = kept.lookup.parts.map(
        (part, i): BulkPart => (i === index ? { ...part, state: 'EXPIRED' } : part),
      );
      await store.save({ ...kept.lookup, parts }, kept.version);
    },
    /** Deletes a look-up. */
    async remove(lookupId: string): Promise<void> {
      const running = runs.get(lookupId);
      running?.stop();
      await running?.done;
      const account = running?.lookup.account ?? (await get(lookupId))?.account;
      await forget(lookupId, account);
    },
    /** Look-ups that this process works on, and its subscribers. */
    counts: () => ({
      working: runs.size,
      watchers: [...topics.values()].reduce((sum, topic) => sum + topic.watchers, 0),
    }),
    /** Approximate bytes of the store that the look-ups of all processes use. */
    storedBytes: quota.storedBytes,
    /** Ends all subscriptions. */
    endWatches,
    /** Stops the work; another process resumes it. */
    async close() {
      closed = true;
      clearInterval(looker);
      endWatches();
      for (const running of runs.values()) running.stop();
      await Promise.all([...runs.values()].map(({ done }) => done));
    },
  };
}
