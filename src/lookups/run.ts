// Runs the parts of one look-up until all have ended: limits their number in flight, stores the
// progress after each change and renews the lease.
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import {
  type BulkLookup,
  type BulkPart,
  type BulkRequest,
  chunkHashes,
  DEADLINE_MS,
  hasEnded,
} from './lookup.ts';
import type { KeptLookup, LookupStore } from './lookup-store.ts';
import { runPart } from './part.ts';

/** Parts of one look-up that are at the upstream at the same time. */
const PARTS_AT_ONCE = 4;
/** Interval of renewing the lease and of looking for a cancellation by another replica. */
const TICK_MS = 1_000;

export interface RunParts {
  readonly store: LookupStore;
  /** Identifies this process among the replicas. */
  readonly owner: string;
  openUpstream(requestId: string, signal: AbortSignal): Upstream;
  /** Limits the parts of all look-ups together. */
  limit<T>(task: () => Promise<T>): Promise<T>;
  readonly onError: (error: unknown) => void;
}

export type Run = ReturnType<typeof startRun>;

/** Starts to run a look-up whose lease is held. */
export function startRun(
  parts: RunParts,
  kept: KeptLookup,
  { hashes, options }: BulkRequest,
  onChange: () => void,
) {
  const { store, owner } = parts;
  const { lookupId, startedAt } = kept.lookup;
  const stopping = new AbortController();
  const up = parts.openUpstream(lookupId, stopping.signal);
  const cancelling = new AbortController();
  let { lookup, version } = kept;
  let unsaved = false;
  let saving: Promise<void> | undefined;

  const stop = () => stopping.abort();

  async function save(): Promise<void> {
    while (unsaved) {
      unsaved = false;
      const written = await store.save(lookup, version);
      if (written !== null) version = written;
      // Another process has taken it over and writes its progress.
      else return stop();
    }
  }

  function change(next: BulkLookup): void {
    lookup = next;
    unsaved = true;
    saving ??= save()
      .catch(parts.onError)
      .finally(() => {
        saving = undefined;
      });
    onChange();
  }

  /** Ends at once when the look-up is cancelled. */
  async function pause(milliseconds: number): Promise<void> {
    const signals = [stopping, cancelling].map(({ signal }) => signal);
    const signal = AbortSignal.any(lookup.cancelRequested ? signals.slice(0, 1) : signals);
    await sleep(milliseconds, undefined, { signal }).catch(() => stopping.signal.throwIfAborted());
  }

  function cancel(): void {
    if (lookup.cancelRequested || lookup.parts.every(({ state }) => hasEnded(state))) return;
    change({ ...lookup, cancelRequested: true });
    cancelling.abort();
  }

  const chunks = chunkHashes(hashes);
  const runOne = (part: BulkPart, index: number): Promise<void> =>
    runPart(part, {
      up,
      hashes: chunks[index] ?? [],
      options,
      deadline: startedAt + DEADLINE_MS,
      cancelled: () => lookup.cancelRequested,
      pause,
      save: (next) => change({ ...lookup, parts: lookup.parts.with(index, next) }),
    });

  async function tick(): Promise<void> {
    if (!(await store.claim(lookupId, owner))) stop();
    else if (store.shared && !lookup.cancelRequested && (await store.cancelRequested(lookupId))) cancel();
  }

  async function work(): Promise<void> {
    const ticker = setInterval(() => void tick().catch(parts.onError), TICK_MS);
    ticker.unref();
    const few = pLimit(PARTS_AT_ONCE);
    const results = await Promise.allSettled(
      lookup.parts.map((part, index) => few(() => parts.limit(() => runOne(part, index)))),
    );
    clearInterval(ticker);
    if (!stopping.signal.aborted) {
      for (const result of results) if (result.status === 'rejected') parts.onError(result.reason);
    }
    await saving;
    if (lookup.parts.every(({ state }) => hasEnded(state))) await store.finish(lookupId);
    await store.release(lookupId, owner);
  }

  return {
    get lookup() {
      return lookup;
    },
    /** Cancels parts that were not sent, and asks the upstream to cancel the others. */
    cancel,
    /** Stops; another process can resume the look-up. */
    stop,
    /** Resolves when the run has ended or was stopped and everything is written. */
    done: work().catch(parts.onError),
  };
}
