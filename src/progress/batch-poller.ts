// Polls one batch for all its subscribers. Replicas share the snapshot through the store; a replica
// that finds it expired takes a 45 s lease and polls.
import { randomUUID } from 'node:crypto';
import { createBroadcast } from '../async/broadcast.ts';
import type { LeasedDocumentStore } from '../store/documents.ts';
import { list, listPages } from '../upstream/batch.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { ItemsRequest } from '../upstream/folds/list-items.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import type { BatchPage, ListItem } from '../upstream/wire.ts';
import { type BatchProgressEvent, createProgressReader } from './progress-events.ts';
import {
  afterFailure,
  afterReading,
  delayMs,
  EMPTY_SNAPSHOT,
  hasMoved,
  hasNoTaskPage,
  intervalAfter,
  isBehind,
  type PollScheduleOptions,
  REPORT_AFTER_FAILURES,
  type ReadFailure,
  type Reading,
  type Snapshot,
} from './snapshot.ts';

export interface PollerDependencies {
  readonly documents: LeasedDocumentStore;
  readonly pace: PollScheduleOptions;
  /** Receives unexpected errors, such as those of the store. Polling continues. */
  readonly onError: (error: unknown) => void;
}

export interface Watch {
  /** With the token of a subscriber. All subscribers of a poller are the same principal. */
  readonly upstream: Upstream;
  readonly signal: AbortSignal | undefined;
  /** Whether the subscriber needs the changed tasks. */
  readonly tasks: boolean;
}

export type BatchPoller = ReturnType<typeof startBatchPoller>;

/** Lifetime of a snapshot after its last poll. */
const KEEP_MS = 600_000;
/** A replica that polls for longer loses its lease. */
const LEASE_MS = 45_000;
/** Interval of looking at the store while another replica polls. */
const WAIT_MS = 200;

/** At most the lifetime of a snapshot: a later time was written by a clock that was ahead. */
const pauseLeft = (milliseconds: number): number => Math.min(KEEP_MS, Math.max(0, milliseconds));

const failed = (error: unknown): ReadFailure =>
  error instanceof UpstreamError
    ? error
    : {
        message: 'The batch could not be read.',
        failure: { operation: 'list', code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      };

/**
 * @param key - of the snapshot in the document store
 * @param onEmpty - called when there are no subscribers left or the batch is settled; the poller
 * has then ended
 */
export function startBatchPoller(
  { documents, pace, onError }: PollerDependencies,
  key: string,
  batchId: string,
  onEmpty: () => void,
) {
  const owner = randomUUID();
  const topic = createBroadcast<Snapshot>();
  const readerOf = createProgressReader(Date.now);
  const closing = new AbortController();
  let current = EMPTY_SNAPSHOT;
  /** When `current` was adopted, by the monotonic clock. */
  let adoptedAt = performance.now();
  let dueIn = 0;
  let version = 0;
  let upstream: Upstream | undefined;
  let tasksWanted = 0;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let again = false;
  let forced = false;
  /** Whether `current` says how the batch is now. A stored snapshot may be of minutes ago. */
  let isPresent = false;

  // A store that fails costs the sharing, not the progress: each replica then polls for itself.
  const orElse = <T>(asked: Promise<T>, otherwise: T): Promise<T> =>
    asked.catch((error: unknown) => {
      onError(error);
      return otherwise;
    });

  // After a failed read the next poll waits for its time.
  const hasFailed = () => current.streak !== null || current.tasksStreak !== null;
  const needsTaskPage = () => tasksWanted > 0 && hasNoTaskPage(current) && !hasFailed();
  // The monotonic clock also ends the pause, in case the system clock is set back.
  const untilDue = () =>
    Math.max(0, Math.min(current.dueAt - Date.now(), adoptedAt + dueIn - performance.now()));
  const isDue = () => forced || needsTaskPage() || (!current.over && untilDue() === 0);

  function adopt(snapshot: Snapshot, at: number): void {
    version = at;
    current = snapshot;
    adoptedAt = performance.now();
    dueIn = pauseLeft(snapshot.dueAt - Date.now());
    if (isPresent) topic.publish(snapshot);
    if (snapshot.over && !needsTaskPage()) leave();
  }

  async function refresh(): Promise<void> {
    const kept = await orElse(documents.get(key, version), 'same' as const);
    if (kept === 'same') return;
    if (kept === null) {
      version = 0;
      return;
    }
    const snapshot = JSON.parse(kept.text) as Snapshot;
    // A refusal that ended earlier subscriptions is not sent to a new one: the poller reads again.
    const isRefused = snapshot.streak !== null || snapshot.tasksStreak !== null;
    const isOldRefusal = version === 0 && snapshot.over && isRefused;
    // The next poll overwrites it.
    if (isOldRefusal || isBehind(snapshot, current)) version = kept.version;
    else {
      isPresent ||= snapshot.over || snapshot.dueAt > Date.now();
      adopt(snapshot, kept.version);
    }
  }

  async function poll(up: Upstream): Promise<Snapshot> {
    const interval = intervalAfter(current.polls, pace);
    const next = (retryAfterSeconds?: number) => {
      const dueAt = Date.now() + delayMs(interval, Math.random(), retryAfterSeconds);
      return { polls: current.polls + 1, dueAt };
    };
    try {
      const reading = await pollBatch({ ...up, signal: closing.signal }, batchId, current, tasksWanted > 0);
      const wait = reading.tasksFailure?.failure.retryAfterSeconds;
      return afterReading(current, reading, next(wait), Date.now());
    } catch (error) {
      const known = failed(error);
      return afterFailure(current, known, Date.now(), next(known.failure.retryAfterSeconds));
    }
  }

  /** @returns milliseconds until the next step; undefined when nothing is left to do */
  async function step(): Promise<number | undefined> {
    await refresh();
    if (!isDue() || upstream === undefined || closing.signal.aborted) return undefined;
    if (!(await orElse(documents.claim(key, owner, LEASE_MS), true))) return WAIT_MS;
    try {
      // Another replica may have polled before this one got the lease.
      await refresh();
      if (!isDue()) return undefined;
      forced = false;
      const snapshot = await poll(upstream);
      if (closing.signal.aborted) return undefined;
      const expiresAt = Date.now() + KEEP_MS;
      const text = JSON.stringify(snapshot);
      const written = await orElse(documents.put(key, text, { expected: version, expiresAt }), version);
      // A poll was requested during this one, whose result may be older than the change that caused
      // the request.
      if (written === null) again = true;
      else {
        isPresent ||=
          snapshot.over || (snapshot.streak?.count ?? REPORT_AFTER_FAILURES) >= REPORT_AFTER_FAILURES;
        adopt(snapshot, written);
      }
    } finally {
      await orElse(documents.release(key, owner), undefined);
    }
    return undefined;
  }

  async function pollIfDue(): Promise<void> {
    again = true;
    if (looking) return;
    looking = true;
    let wait: number | undefined;
    while (again && !closing.signal.aborted) {
      again = false;
      try {
        wait = await step();
      } catch (error) {
        onError(error);
        wait = pace.first;
      }
    }
    looking = false;
    arm(wait);
  }

  function arm(wait: number | undefined): void {
    clearTimeout(timer);
    if (closing.signal.aborted) return;
    const own = untilDue();
    // Replicas do not signal each other; each looks at the store.
    const next = wait ?? (documents.shared ? Math.min(own, pace.first) : own);
    timer = setTimeout(() => void pollIfDue(), next);
  }

  function leave(): void {
    if (closing.signal.aborted) return;
    clearTimeout(timer);
    closing.abort();
    topic.end();
    onEmpty();
  }

  return {
    get watchers() {
      return topic.watchers;
    },
    watch({ upstream: own, signal, tasks }: Watch): AsyncIterableIterator<BatchProgressEvent> {
      upstream = own;
      if (tasks) tasksWanted += 1;
      const onLeave = () => {
        if (tasks) tasksWanted -= 1;
        if (topic.watchers === 0) leave();
      };
      const isLast = (event: BatchProgressEvent) => event.kind === 'progress' && event.final;
      const news = topic.watch(readerOf(tasks), signal, onLeave, isLast);
      void pollIfDue();
      return news;
    },
    /** Polls now, without waiting for the interval. */
    pollNow() {
      forced = true;
      void pollIfDue();
    },
    /** Ends all subscriptions. */
    close: leave,
  };
}

const unknownBatch = (batchId: string): UpstreamError =>
  new UpstreamError(`There is no batch ${JSON.stringify(batchId.slice(0, 60))} of this caller.`, {
    operation: 'list',
    code: 'NOT_FOUND',
    status: 404,
    retryable: false,
  });

async function listed(up: Upstream, batchId: string, items?: ItemsRequest): Promise<BatchPage> {
  const answer = await list(up, batchId, { items });
  if (answer === null) throw unknownBatch(batchId);
  return answer.data;
}

/** State and counts are those of the first page; the next poll sees changes during the read. */
async function withItems(up: Upstream, batchId: string): Promise<Reading> {
  let first: BatchPage | null = null;
  const all: ListItem[] = [];
  for await (const { page, items } of listPages((request) => listed(up, batchId, request))) {
    first ??= page;
    all.push(...items);
  }
  if (first === null) throw unknownBatch(batchId);
  return { page: first, items: all };
}

/**
 * Reads state and counts, and tasks that have changed. Tasks that cannot be read hide nothing else.
 *
 * @param tasks - whether a subscriber needs the changed tasks
 * @throws UpstreamError also for an unknown batch
 */
async function pollBatch(up: Upstream, batchId: string, before: Snapshot, tasks: boolean): Promise<Reading> {
  const page = await listed(up, batchId);
  const moved = hasMoved(before.page, page);
  const stale = tasks && hasNoTaskPage({ ...before, page, sequence: before.sequence + (moved ? 1 : 0) });
  const counted: Reading = { page, items: null };
  if (!stale) return counted;
  return withItems(up, batchId).catch((error: unknown) => ({ ...counted, tasksFailure: failed(error) }));
}
