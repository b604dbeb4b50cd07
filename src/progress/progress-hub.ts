// Live progress of batches for all subscribers of a process: one poller for each principal and
// batch.
import { systemClock } from '../async/clock.ts';
import { createPendingWork } from '../async/pending-work.ts';
import { type BatchPoller, type PollerDependencies, startBatchPoller, type Watch } from './batch-poller.ts';
import { defaultPollSchedule } from './poll-schedule.ts';
import type { BatchProgressEvent } from './progress-events.ts';
import type { Snapshot } from './snapshot.ts';

export interface ProgressHub {
  /** How many batches are polled. */
  readonly pollers: number;
  /** How many subscribers there are. */
  readonly watchers: number;
  /**
   * Subscribes to a batch: its present state, then every change, until no task is queued or
   * running.
   */
  watch(principal: string | null, batchId: string, watch: Watch): AsyncIterableIterator<BatchProgressEvent>;
  /** Has all replicas poll a batch now, after a cancellation. */
  pollNow(principal: string | null, batchId: string): Promise<void>;
  /**
   * Ends all subscriptions, including those that are being opened. Resolves when no poll is left,
   * whose lease would keep other replicas waiting.
   */
  close(): Promise<void>;
}

/** Tries of writing the snapshot while other replicas write it. */
const MAX_TRIES = 5;

const snapshotKey = (principal: string | null, batchId: string): string =>
  `live/5/${principal ?? 'anonymous'}/${batchId}`;

export function createProgressHub({
  documents,
  pace = defaultPollSchedule,
  clock = systemClock,
  onError,
}: Omit<PollerDependencies, 'pace' | 'work' | 'clock'> & Partial<PollerDependencies>): ProgressHub {
  const work = createPendingWork();
  const pollers = new Map<string, BatchPoller>();
  let closed = false;

  function findPoller(principal: string | null, batchId: string): BatchPoller {
    const key = snapshotKey(principal, batchId);
    const found = pollers.get(key);
    if (found !== undefined) return found;
    const poller = startBatchPoller({ documents, pace, work, clock, onError }, key, batchId, () =>
      pollers.delete(key),
    );
    pollers.set(key, poller);
    return poller;
  }

  /** Marks the shared snapshot as expired. */
  async function expireSnapshot(key: string): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const stored = await documents.get(key);
      if (stored === null || stored === 'same') return;
      const snapshot = { ...(JSON.parse(stored.text) as Snapshot), dueAt: 0, polls: 0 };
      const options = { expected: stored.version, lifetimeMs: pace.slowest * 2 };
      if ((await documents.put(key, JSON.stringify(snapshot), options)) !== null) return;
    }
  }

  return {
    get pollers() {
      return pollers.size;
    },
    get watchers() {
      return [...pollers.values()].reduce((sum, poller) => sum + poller.watchers, 0);
    },
    watch(principal, batchId, watch) {
      if (!closed) return findPoller(principal, batchId).watch(watch);
      return (async function* () {})();
    },
    async pollNow(principal, batchId) {
      const key = snapshotKey(principal, batchId);
      await expireSnapshot(key).catch(onError);
      pollers.get(key)?.checkNow();
    },
    close() {
      closed = true;
      for (const poller of [...pollers.values()]) poller.close();
      return work.ended();
    },
  };
}
