// Runs the parts of one look-up until all have ended: sends each, polls its job, sends it again
// when the upstream lost it, cancels it on request. Stores the progress after each change and
// renews the lease.
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { archiveLimits } from '../upstream/archive/archive-limits.ts';
import * as atlas from '../upstream/atlas-bulk.ts';
import { type FailureCode, UpstreamError } from '../upstream/errors.ts';
import { type Downloads, download } from '../upstream/http/download.ts';
import { discard } from '../upstream/http/response-body.ts';
import type { StreamedResponse, Upstream } from '../upstream/http/upstream-client.ts';
import {
  type BulkLookup,
  type BulkOptions,
  type BulkPart,
  type BulkRequest,
  chunkHashes,
  DEADLINE_MS,
  hasEnded,
  type KeptLookup,
  type LookupStore,
  readJob,
} from './lookup.ts';

/** Milliseconds between polls of a job: at first, and at most. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** How long a cancelled job may still finish: the spec has no state for it, it may stay pending. */
const CANCEL_WAIT_MS = 60_000;

export interface PartWork {
  readonly up: Upstream;
  readonly hashes: readonly string[];
  readonly options: BulkOptions;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  cancelled(): boolean;
  save(part: BulkPart): void;
  /** Waits; a cancellation ends the pause. @throws when the gateway stops */
  pause(milliseconds: number): Promise<void>;
}

const MAX_SENT = 4;

/** The bulk call always requests sequences: only they prove which proteins exist. */
const queryOf = (hashes: readonly string[], options: BulkOptions): atlas.BulkQuery => ({
  hashes,
  ...options,
  sequence: true,
});

/** Sends the part. A small one is answered with its archive, which a download requests again. */
async function send({ up, hashes, options }: PartWork, part: BulkPart): Promise<Partial<BulkPart>> {
  const answer = await atlas.bulk(up, queryOf(hashes, options));
  const sent = part.sent + 1;
  if (answer.kind === 'job') return { jobId: answer.jobId, sent };
  discard(answer.answer);
  return { state: 'COMPLETE', completed: part.requested, sent };
}

const failed = (code: string, message: string): Partial<BulkPart> => ({
  state: 'FAILED',
  problem: { code, message },
});

/** What becomes of a part whose job the upstream does not have any more or that failed. */
function lost(work: PartWork, { sent }: BulkPart): Partial<BulkPart> {
  if (work.cancelled()) return { state: 'CANCELLED' };
  if (sent < MAX_SENT) return { state: 'PENDING', jobId: null, completed: 0 };
  return failed('UPSTREAM_UNAVAILABLE', `The upstream gave no result, sent ${MAX_SENT} times.`);
}

const askedPause = (error: unknown): number =>
  error instanceof UpstreamError ? (error.failure.retryAfterSeconds ?? 0) * 1000 : 0;

/** Failed reads that may succeed later are retried until the deadline. @throws as `pause` */
async function runPart(part: BulkPart, work: PartWork): Promise<void> {
  let present = part;
  const change = (to: Partial<BulkPart>): void => {
    present = { ...present, ...to };
    work.save(present);
  };
  let wait = FIRST_PAUSE_MS;
  let cancelledAt: number | undefined;
  while (!hasEnded(present.state)) {
    const { jobId } = present;
    let pause = wait;
    try {
      if (Date.now() > work.deadline)
        change(failed('UPSTREAM_TIMEOUT', 'It did not finish within 24 hours.'));
      else if (jobId === null) change(work.cancelled() ? { state: 'CANCELLED' } : await send(work, present));
      else {
        if (work.cancelled() && cancelledAt === undefined) {
          change({ state: 'CANCEL_REQUESTED' });
          // A finished job keeps its results.
          await atlas.deleteBulkJob(work.up, jobId);
          cancelledAt = Date.now();
        }
        const read = readJob(present, await atlas.bulkJob(work.up, jobId), work.cancelled());
        const isOver = cancelledAt !== undefined && Date.now() > cancelledAt + CANCEL_WAIT_MS;
        if (read === 'lost') change(lost(work, present));
        else if (isOver && !hasEnded(read.state)) change({ ...read, state: 'CANCELLED' });
        else if (read.state !== present.state || read.completed !== present.completed) change(read);
      }
    } catch (error) {
      if (work.up.signal?.aborted === true) throw error;
      if (jobId !== null && atlas.isJobGone(error)) change(lost(work, present));
      else if (error instanceof UpstreamError && !error.failure.retryable)
        change(failed(error.failure.code, error.message));
      else pause = Math.max(pause, askedPause(error));
    }
    if (hasEnded(present.state)) return;
    await work.pause(pause * (0.8 + 0.4 * Math.random()));
    wait = Math.min(wait * 1.5, MAX_PAUSE_MS);
  }
}

const failure = (message: string, code: FailureCode, status?: number): UpstreamError =>
  new UpstreamError(message, {
    operation: 'bulkJob',
    code,
    ...(status === undefined ? {} : { status }),
    retryable: code === 'UPSTREAM_UNAVAILABLE',
  });

const unreadable = (): UpstreamError =>
  failure('The upstream did not give this part, although it is complete. Try again.', 'UPSTREAM_UNAVAILABLE');

async function urlOf(up: Upstream, jobId: string): Promise<string> {
  const { download_url: url } = await atlas.bulkJob(up, jobId).catch((error: unknown) => {
    throw atlas.isJobGone(error)
      ? failure('The upstream no longer has this part. Start the look-up again.', 'RESULT_EXPIRED', 410)
      : error;
  });
  if (url != null) return url;
  throw unreadable();
}

/**
 * Starts to download a part's archive.
 *
 * @param headers - such as `range`
 * @returns the response with status 200, 206, 304 or 416, its body unread
 * @throws UpstreamError RESULT_EXPIRED when the upstream has deleted it
 */
export async function openArchive(
  up: Upstream,
  downloads: Downloads,
  { jobId }: BulkPart,
  what: { readonly hashes: readonly string[]; readonly options: BulkOptions },
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamedResponse> {
  const { receivedBytes: maxBytes } = archiveLimits({
    proteins: what.hashes.length,
    perResidue: what.options.residueFeatures,
  });
  if (jobId === null) {
    const sent = await atlas.bulk(up, queryOf(what.hashes, what.options));
    if (sent.kind === 'zip') return sent.answer;
    throw unreadable();
  }
  // The second try is for a URL that expired before it was used.
  for (let tries = 0; tries < 2; tries += 1) {
    const answer = await download(up, downloads, await urlOf(up, jobId), { headers, maxBytes });
    if (answer !== null) return answer;
  }
  throw unreadable();
}

/** Parts of one look-up that are at the upstream at the same time. */
const PARTS_AT_ONCE = 4;
/** Interval of renewing the lease and of looking for a cancellation by another replica. */
const TICK_MS = 1_000;

export interface RunParts {
  readonly store: LookupStore;
  readonly owner: string;
  openUpstream(requestId: string, signal: AbortSignal): Upstream;
  limit<T>(task: () => Promise<T>): Promise<T>;
  readonly onError: (error: unknown) => void;
}

export type Run = ReturnType<typeof startRun>;

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
      const saved = lookup;
      const written = await store.save(saved, version);
      unsaved = lookup !== saved;
      if (written !== null) version = written;
      // Another process has taken it over and writes its progress.
      else return stop();
    }
  }

  /** Writes what has changed. What cannot be written now is written with the next change, or in the end. */
  function write(): Promise<void> {
    saving ??= save()
      .catch(parts.onError)
      .finally(() => {
        saving = undefined;
      });
    return saving;
  }

  function change(next: BulkLookup): void {
    lookup = next;
    unsaved = true;
    void write();
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
    if (!stopping.signal.aborted) {
      for (const result of results) if (result.status === 'rejected') parts.onError(result.reason);
    }
    // Tried until the end is stored: no process would go on with a look-up that is stored as unfinished.
    for (await write(); unsaved && !stopping.signal.aborted; await write())
      await sleep(TICK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    clearInterval(ticker);
    const hasEndedAll = lookup.parts.every(({ state }) => hasEnded(state));
    if (hasEndedAll && !stopping.signal.aborted) await store.finish(lookupId);
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
