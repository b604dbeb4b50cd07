// Polls one batch for all its subscribers. Replicas share the snapshot through the store; a replica
// that finds it expired takes a 45 s lease and polls.
import { createBroadcast } from '../async/broadcast.ts';
import type { Clock } from '../async/clock.ts';
import type { PendingWork } from '../async/pending-work.ts';
import type { DocumentStore } from '../store/documents.ts';
import { createLease } from '../store/lease.ts';
import { MAX_RETRY_AFTER_SECONDS } from '../upstream/errors.ts';
import type { Upstream } from '../upstream/http/call.ts';
import { delayMs, intervalAfter, type PollScheduleOptions } from './poll-schedule.ts';
import { type BatchProgressEvent, createProgressReader } from './progress-events.ts';
import { readBatch, toReadFailure } from './read-batch.ts';
import {
  afterFailure,
  afterReading,
  EMPTY_SNAPSHOT,
  isBehind,
  needsTasks,
  REPORT_AFTER_FAILURES,
  type Snapshot,
} from './snapshot.ts';

export interface PollerDependencies {
  readonly documents: DocumentStore;
  readonly pace: PollScheduleOptions;
  readonly clock: Clock;
  /** Polls in flight. */
  readonly work: PendingWork;
  /** Receives unexpected errors, such as those of the store. Polling continues. */
  readonly onError: (error: unknown) => void;
}

export interface Watch {
  /** With the token of a subscriber. All subscribers of a poller are the same principal. */
  readonly upstream: Upstream;
  readonly signal: AbortSignal | undefined;
  /** Whether the subscriber needs the changed tasks. */
  readonly hasTasks: boolean;
}

export interface BatchPoller {
  /** How many subscribers it has. */
  readonly watchers: number;
  watch(watch: Watch): AsyncIterableIterator<BatchProgressEvent>;
  /** Reads the snapshot now, and polls where it is due. */
  checkNow(): void;
  /** Ends all subscriptions. */
  close(): void;
}

/** Lifetime of a snapshot after its last poll. */
const RETENTION_MS = 600_000;
/** A replica that polls for longer loses its lease. */
const LEASE_MS = 45_000;
/** Interval of looking at the store while another replica polls. */
const LEASE_CHECK_INTERVAL_MS = 200;

/**
 * @param key - of the snapshot in the document store
 * @param onEmpty - called when there are no subscribers left or the batch has ended; the poller
 * has then ended, too
 */
export function startBatchPoller(
  { documents, pace, work, clock, onError }: PollerDependencies,
  key: string,
  batchId: string,
  onEmpty: () => void,
): BatchPoller {
  const lease = createLease(documents, key, LEASE_MS, clock);
  const longestWaitMs = delayMs(pace.slowest, 1, MAX_RETRY_AFTER_SECONDS);
  const topic = createBroadcast<Snapshot>();
  const createReader = createProgressReader(clock.now);
  const closing = new AbortController();
  let current = EMPTY_SNAPSHOT;
  /** When the next poll is due, by the monotonic clock: the system clock may be set. */
  let dueAt = 0;
  let version = 0;
  let upstream: Upstream | undefined;
  let taskWatchers = 0;
  let stopTimer = (): void => undefined;
  let isPolling = false;
  let pollAgain = false;
  /** Whether `current` says how the batch is now. A stored snapshot may be of minutes ago. */
  let isPresent = false;

  // A store that fails costs the sharing, not the progress: each replica then polls for itself.
  const orDefault = <T>(asked: Promise<T>, otherwise: T): Promise<T> =>
    asked.catch((error: unknown) => {
      onError(error);
      return otherwise;
    });

  // After a failed read the next poll waits for its time.
  const hasFailed = () => current.streak !== null || current.tasksStreak !== null;
  const mustReadTasks = () => taskWatchers > 0 && needsTasks(current) && !hasFailed();
  const msUntilDue = () => Math.max(0, dueAt - clock.monotonic());
  const isDue = () => mustReadTasks() || (!current.over && msUntilDue() === 0);

  function adopt(snapshot: Snapshot, at: number): void {
    version = at;
    current = snapshot;
    // A later time was written by a clock that was ahead.
    dueAt = clock.monotonic() + Math.min(longestWaitMs, snapshot.dueAt - clock.now());
    if (isPresent) topic.publish(snapshot);
    if (snapshot.over && !mustReadTasks()) end();
  }

  async function readSnapshot(): Promise<void> {
    const stored = await orDefault(documents.get(key, version), 'same' as const);
    if (stored === 'same') return;
    if (stored === null) {
      version = 0;
      return;
    }
    const snapshot = JSON.parse(stored.text) as Snapshot;
    // A refusal that ended earlier subscriptions is not sent to a new one: the poller reads again.
    const isRefused = snapshot.streak !== null || snapshot.tasksStreak !== null;
    const isOldRefusal = version === 0 && snapshot.over && isRefused;
    // The next poll overwrites it.
    if (isOldRefusal || isBehind(snapshot, current)) version = stored.version;
    else {
      isPresent ||= snapshot.over || snapshot.dueAt > clock.now();
      adopt(snapshot, stored.version);
    }
  }

  async function poll(up: Upstream): Promise<Snapshot> {
    const interval = intervalAfter(current.polls, pace);
    const next = (retryAfterSeconds?: number) => {
      const dueAt = clock.now() + delayMs(interval, clock.random(), retryAfterSeconds);
      return { polls: current.polls + 1, dueAt };
    };
    try {
      const reading = await readBatch({ ...up, signal: closing.signal }, batchId, current, taskWatchers > 0);
      const wait = reading.tasksFailure?.failure.retryAfterSeconds;
      return afterReading(current, reading, next(wait), clock.now());
    } catch (error) {
      const known = toReadFailure(error);
      return afterFailure(current, known, clock.now(), next(known.failure.retryAfterSeconds));
    }
  }

  /** @returns milliseconds until the next step; undefined when nothing is left to do */
  async function step(): Promise<number | undefined> {
    await readSnapshot();
    if (!isDue() || upstream === undefined || closing.signal.aborted) return undefined;
    if (!(await orDefault(lease.claim(), true))) return LEASE_CHECK_INTERVAL_MS;
    try {
      // Another replica may have polled before this one got the lease.
      await readSnapshot();
      if (!isDue()) return undefined;
      const snapshot = await poll(upstream);
      if (closing.signal.aborted) return undefined;
      const options = { expected: version, lifetimeMs: RETENTION_MS };
      const written = await orDefault(documents.put(key, JSON.stringify(snapshot), options), version);
      // A poll was requested during this one, whose result may be older than the change that caused
      // the request.
      if (written === null) pollAgain = true;
      else {
        isPresent ||=
          snapshot.over || (snapshot.streak?.count ?? REPORT_AFTER_FAILURES) >= REPORT_AFTER_FAILURES;
        adopt(snapshot, written);
      }
    } finally {
      await orDefault(lease.release(), undefined);
    }
    return undefined;
  }

  const checkNow = (): void => void work.run(pollIfDue);

  async function pollIfDue(): Promise<void> {
    pollAgain = true;
    if (isPolling) return;
    isPolling = true;
    let wait: number | undefined;
    while (pollAgain && !closing.signal.aborted) {
      pollAgain = false;
      try {
        wait = await step();
      } catch (error) {
        onError(error);
        wait = pace.first;
      }
    }
    isPolling = false;
    schedule(wait);
  }

  function schedule(wait: number | undefined): void {
    stopTimer();
    if (closing.signal.aborted) return;
    const own = msUntilDue();
    // Replicas do not signal each other; each looks at the store.
    const next = wait ?? (documents.isShared ? Math.min(own, pace.first) : own);
    stopTimer = clock.after(next, checkNow);
  }

  function end(): void {
    if (closing.signal.aborted) return;
    stopTimer();
    closing.abort();
    topic.end();
    onEmpty();
  }

  return {
    get watchers() {
      return topic.watchers;
    },
    watch({ upstream: own, signal, hasTasks }: Watch): AsyncIterableIterator<BatchProgressEvent> {
      upstream = own;
      if (hasTasks) taskWatchers += 1;
      const onLeave = () => {
        if (hasTasks) taskWatchers -= 1;
        if (topic.watchers === 0) end();
      };
      const isLast = (event: BatchProgressEvent) => event.kind === 'progress' && event.final;
      const events = topic.watch(createReader(hasTasks), signal, onLeave, isLast);
      checkNow();
      return events;
    },
    checkNow,
    close: end,
  };
}
