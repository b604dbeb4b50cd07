// Bulk look-ups of a process: starts and cancels them, reports progress, and resumes those of a
// stopped process.
import { randomBytes, randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';
import {
  type BulkLookup,
  type BulkPart,
  type BulkRequest,
  chunkHashes,
  createLookupStore,
  hasEnded,
  type KeptLookup,
  newPart,
  RETENTION_MS,
  stateOf,
} from './lookup.ts';
import { type BulkLimitExcess, type BulkLimits, createBulkQuota } from './quota.ts';
import { type Run, type RunParts, startRun } from './run.ts';

export type BulkLookups = ReturnType<typeof openBulkLookups>;

export interface BulkSettings extends Pick<RunParts, 'openUpstream' | 'onError'> {
  readonly documents: LeasedDocumentStore;
  readonly limits: BulkLimits;
}

/** Parts that this process has at the upstream at the same time. */
const PARTS_IN_FLIGHT = 8;
/** Interval of looking for abandoned look-ups, and for progress of other processes. */
const LOOK_MS = 5_000;
const FOLLOW_MS = 1_000;
/** How long a start waits for the upstream's first answer, and a cancellation for its result. */
const ANSWER_MS = 5_000;

/** Bytes of names and versions of a look-up's documents, and of its job ids. */
const DOCUMENTS_BYTES = 1_000;
const PART_BYTES = 150;

const bytesOf = (lookup: BulkLookup, ask: BulkRequest): number =>
  JSON.stringify(ask).length +
  JSON.stringify(lookup).length +
  lookup.parts.length * PART_BYTES +
  DOCUMENTS_BYTES;

const isOver = (lookup: BulkLookup): boolean => hasEnded(stateOf(lookup));

export function openBulkLookups(settings: BulkSettings) {
  const { documents, limits, onError, openUpstream } = settings;
  const store = createLookupStore(documents);
  const quota = createBulkQuota(documents, limits, Date.now, async (lookupId) => {
    const kept = await store.progress(lookupId);
    return kept !== null && !isOver(kept.lookup);
  });
  const parts: RunParts = {
    store,
    owner: randomUUID(),
    openUpstream,
    onError,
    limit: pLimit(PARTS_IN_FLIGHT),
  };
  const runs = new Map<string, Run>();
  /** Emits the id of each look-up of this process that has changed, and what ends a watch. */
  const changes = new EventEmitter().setMaxListeners(0);
  let watchers = 0;
  let ending = false;
  let closed = false;

  function endWatches(): void {
    ending = true;
    for (const lookupId of changes.eventNames()) changes.emit(lookupId);
  }

  function run(kept: KeptLookup, ask: BulkRequest): Run {
    const { lookupId } = kept.lookup;
    const started = startRun(parts, kept, ask, () => changes.emit(lookupId));
    runs.set(lookupId, started);
    void started.done.then(async () => {
      runs.delete(lookupId);
      if (isOver(started.lookup)) await quota.ended(started.lookup.account, lookupId).catch(onError);
    });
    return started;
  }

  /** Works on an unfinished look-up, unless another process does. */
  async function takeUp(lookupId: string): Promise<void> {
    if (closed || runs.has(lookupId) || !(await store.claim(lookupId, parts.owner))) return;
    const [kept, ask] = await Promise.all([store.progress(lookupId), store.ask(lookupId)]);
    if (closed || runs.has(lookupId)) return;
    if (kept === null || ask === null) return store.finish(lookupId);
    const taken = run(kept, ask);
    if (await store.cancelRequested(lookupId)) taken.cancel();
  }

  async function takeUpAll(): Promise<void> {
    for (const lookupId of await store.open()) await takeUp(lookupId);
  }

  async function get(lookupId: string): Promise<BulkLookup | null> {
    return runs.get(lookupId)?.lookup ?? (await store.progress(lookupId))?.lookup ?? null;
  }

  /** Resolves when a look-up may have changed: those of other processes are read from time to time. */
  const mayHaveChanged = (lookupId: string): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        changes.off(lookupId, done);
        resolve();
      };
      const timer = setTimeout(done, FOLLOW_MS).unref();
      changes.on(lookupId, done);
    });

  /** The present state, then the newest after each change, to the end. */
  async function* watchFrom(first: BulkLookup, signal?: AbortSignal): AsyncGenerator<BulkLookup> {
    const { lookupId } = first;
    const wake = () => changes.emit(lookupId);
    signal?.addEventListener('abort', wake, { once: true });
    watchers += 1;
    try {
      yield first;
      for (let last = first; !isOver(last); ) {
        const changed = mayHaveChanged(lookupId);
        if (ending || signal?.aborted === true) return;
        const lookup = await get(lookupId).catch(() => last);
        if (lookup === null) return;
        if (isDeepStrictEqual(lookup, last)) await changed;
        else {
          last = lookup;
          yield lookup;
        }
      }
    } finally {
      watchers -= 1;
      signal?.removeEventListener('abort', wake);
    }
  }

  /** Waits until a condition holds or the time is over; returns the look-up as it then is. */
  async function until(lookup: BulkLookup, wanted: (lookup: BulkLookup) => boolean): Promise<BulkLookup> {
    let last = lookup;
    if (wanted(last)) return last;
    for await (const state of watchFrom(lookup, AbortSignal.timeout(ANSWER_MS))) {
      last = state;
      if (wanted(state)) break;
    }
    return last;
  }

  async function forget({ lookupId, account }: BulkLookup): Promise<void> {
    await store.remove(lookupId);
    await quota.release(account, lookupId);
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
      const chunks = chunkHashes(ask.hashes);
      const lookup: BulkLookup = {
        lookupId: randomBytes(18).toString('base64url'),
        account,
        startedAt: Date.now(),
        requestedCount: ask.hashes.length,
        duplicateCount: ask.hashes.length - chunks.flat().length,
        cancelRequested: false,
        parts: chunks.map(({ length }) => newPart(length)),
      };
      const excess = await quota.reserve(account, {
        lookupId: lookup.lookupId,
        bytes: bytesOf(lookup, ask),
        expiresAt: lookup.startedAt + RETENTION_MS,
      });
      if (excess !== null) return excess;
      const { lookupId } = lookup;
      try {
        await store.claim(lookupId, parts.owner);
        const kept = await store.add(lookup, ask);
        if (limits.running > 0 && (await store.open()).length > limits.running) {
          await forget(lookup);
          return { limit: 'RUNNING_TOTAL', allowed: limits.running, freeAt: null };
        }
        run(kept, ask);
      } catch (error) {
        // What a store wrote of it before it was full would count as running for a week.
        await forget(lookup).catch(onError);
        throw error;
      }
      return until(
        lookup,
        ({ parts: [first] }) => first === undefined || first.sent > 0 || hasEnded(first.state),
      );
    },
    get,
    ask: store.ask,
    /** Cancels unfinished parts and returns the result. Null for an unknown look-up. */
    async cancel(lookupId: string): Promise<BulkLookup | null> {
      const lookup = await get(lookupId);
      if (lookup === null || isOver(lookup)) return lookup;
      const own = runs.get(lookupId);
      own?.cancel();
      // Tells the process that works on it, which may be another one. This one needs no store.
      await store.requestCancel(lookupId).catch((error: unknown) => {
        if (own === undefined) throw error;
        onError(error);
      });
      await takeUp(lookupId);
      runs.get(lookupId)?.cancel();
      const after = await until(runs.get(lookupId)?.lookup ?? lookup, isOver);
      return isOver(after) ? after : { ...after, cancelRequested: true };
    },
    /** The present state and every change, to the end. Null for an unknown look-up. */
    async watch(lookupId: string, signal: AbortSignal | undefined) {
      const lookup = await get(lookupId);
      return lookup === null ? null : watchFrom(lookup, signal);
    },
    /** Records that the upstream has deleted the archive of a part. */
    async expire(lookupId: string, index: number): Promise<void> {
      const kept = await store.progress(lookupId);
      // While a process works on it, only that process writes its progress.
      if (kept === null || !isOver(kept.lookup)) return;
      const parts = kept.lookup.parts.map(
        (part, i): BulkPart => (i === index ? { ...part, state: 'EXPIRED' } : part),
      );
      await store.save({ ...kept.lookup, parts }, kept.version);
    },
    async remove(lookupId: string): Promise<void> {
      const running = runs.get(lookupId);
      running?.stop();
      await running?.done;
      const lookup = running?.lookup ?? (await get(lookupId));
      if (lookup !== null) await forget(lookup);
    },
    counts: () => ({ working: runs.size, watchers }),
    /** Approximate bytes of the store that the look-ups of all processes use. */
    storedBytes: quota.storedBytes,
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
