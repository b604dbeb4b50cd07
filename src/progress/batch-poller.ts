// The one poller of a principal's batch: it polls while somebody watches, at the pace that the snapshot carries, and shares
// each snapshot with the other replicas, of which whoever finds it too old polls next. It knows no GraphQL.
import { randomUUID } from 'node:crypto';
import { createBroadcast } from '../async/broadcast.ts';
import type { LeasedDocumentStore } from '../store/documents/leased-documents.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import { pollBatch } from './poll.ts';
import { delayMs, firstInterval, nextInterval, type PollScheduleOptions } from './poll-schedule.ts';
import { type BatchProgressEvent, createProgressReader } from './progress-events.ts';
import { afterFailure, afterReading, emptySnapshot, hasNoTaskPage, type Snapshot } from './snapshot.ts';

/** What every room of a process shares. */
export interface PollerDependencies {
  readonly documents: LeasedDocumentStore;
  readonly pace: PollScheduleOptions;
  readonly now: () => number;
  /** Told of what must not happen: a store that fails. Polling goes on. */
  readonly onError: (error: unknown) => void;
}

/** Whose batch a room is about. */
export interface PollerKey {
  /** Key of the snapshot in the documents. */
  readonly key: string;
  readonly batchId: string;
}

export interface Watch {
  /** With the watcher's token. Any watcher's will do: all of a room belong to one principal. */
  readonly upstream: Upstream;
  readonly signal: AbortSignal | undefined;
  /** Whether changed tasks are wanted. */
  readonly tasks: boolean;
}

export interface BatchPoller {
  /** How many watch. */
  readonly watchers: number;
  watch(watch: Watch): AsyncIterableIterator<BatchProgressEvent>;
  /** Polls at once, whatever the pace says. */
  pollNow(): void;
  /** Ends every watch. */
  close(): void;
}

/** How long a snapshot outlives its last poll. */
const KEEP_MS = 600_000;
/** How long a replica may take for one poll before another one tries. */
const LEASE_MS = 45_000;
/** How soon to look again while another replica polls. */
const WAIT_MS = 200;

/** No pause outlives its snapshot; one that seems to may have been written down by a clock that was ahead. */
const pauseLeft = (milliseconds: number): number => Math.min(KEEP_MS, Math.max(0, milliseconds));

const failed = (error: unknown): Pick<UpstreamError, 'message' | 'failure'> =>
  error instanceof UpstreamError
    ? error
    : {
        message: 'The batch could not be read.',
        failure: { operation: 'list', code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      };

/**
 * Opens a room.
 *
 * @param onEmpty - told when nobody watches any more or nothing is left to watch; the room is then of no more use
 */
export function startBatchPoller(
  parts: PollerDependencies,
  { key, batchId }: PollerKey,
  onEmpty: () => void,
): BatchPoller {
  const { documents, pace, now } = parts;
  const owner = randomUUID();
  const topic = createBroadcast<Snapshot>();
  const readerOf = createProgressReader(now);
  const closing = new AbortController();
  let current = emptySnapshot(firstInterval(pace));
  /** When `current` was adopted, by a clock that nobody sets. */
  let adoptedAt = performance.now();
  let dueIn = 0;
  let version = 0;
  let upstream: Upstream | undefined;
  let tasksWanted = 0;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let again = false;
  let forced = false;

  // A store that fails costs the sharing, not the progress: then each replica polls for itself.
  const orElse = <T>(asked: Promise<T>, otherwise: T): Promise<T> =>
    asked.catch((error: unknown) => {
      parts.onError(error);
      return otherwise;
    });

  // Without a failure, that is: a read that failed waits for its time like any other.
  const needsTaskPage = () => tasksWanted > 0 && hasNoTaskPage(current) && current.streak === null;
  // Whoever sets the clock back must not stop the polling: the pause ends by the other clock, too.
  const untilDue = () => Math.max(0, Math.min(current.dueAt - now(), adoptedAt + dueIn - performance.now()));
  const isDue = () => forced || needsTaskPage() || (!current.over && untilDue() === 0);

  function adopt(snapshot: Snapshot, at: number): void {
    version = at;
    current = snapshot;
    adoptedAt = performance.now();
    dueIn = pauseLeft(snapshot.dueAt - now());
    topic.publish(snapshot);
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
    // A refusal that ended somebody's watch earlier is no news to a new one: it is asked again.
    if (version === 0 && snapshot.over && snapshot.streak !== null) version = kept.version;
    else adopt(snapshot, kept.version);
  }

  async function poll(up: Upstream): Promise<Snapshot> {
    const next = nextInterval(current.pace, pace);
    const due = (seconds?: number) => now() + delayMs(current.pace, Math.random(), seconds);
    try {
      const reading = await pollBatch({ ...up, signal: closing.signal }, batchId, current, tasksWanted > 0);
      return afterReading(current, reading, { pace: next, dueAt: due() });
    } catch (error) {
      const known = failed(error);
      return afterFailure(current, known, now(), { pace: next, dueAt: due(known.failure.retryAfterSeconds) });
    }
  }

  /** @returns milliseconds until the next look; undefined when there is nothing to wait for */
  async function step(): Promise<number | undefined> {
    await refresh();
    if (!isDue() || upstream === undefined || closing.signal.aborted) return undefined;
    if (!(await orElse(documents.claim(key, owner, LEASE_MS), true))) return WAIT_MS;
    try {
      // Another replica may have polled between the look and the lease.
      await refresh();
      if (!isDue()) return undefined;
      forced = false;
      const snapshot = await poll(upstream);
      if (closing.signal.aborted) return undefined;
      const expiresAt = now() + KEEP_MS;
      const text = JSON.stringify(snapshot);
      const written = await orElse(documents.put(key, text, { expected: version, expiresAt }), version);
      // Somebody asked for a poll while this one was under way: what it saw may be older than what they did.
      if (written === null) again = true;
      else adopt(snapshot, written);
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
        parts.onError(error);
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
    // Replicas tell each other nothing; they look at what they share.
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
    watch({ upstream: own, signal, tasks }) {
      upstream = own;
      if (tasks) tasksWanted += 1;
      const news = topic.watch(readerOf(tasks), signal, () => {
        if (tasks) tasksWanted -= 1;
        if (topic.watchers === 0) leave();
      });
      void pollIfDue();
      return news;
    },
    pollNow() {
      forced = true;
      void pollIfDue();
    },
    close: leave,
  };
}
