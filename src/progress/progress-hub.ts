// Live progress of batches for all subscribers of a process: one poller for each principal and
// batch.
import { type BatchPoller, type PollerDependencies, startBatchPoller, type Watch } from './batch-poller.ts';
import type { BatchProgressEvent } from './progress-events.ts';
import { defaultPollSchedule, type Snapshot } from './snapshot.ts';

export type ProgressHub = ReturnType<typeof createProgressHub>;

/** Tries of writing the snapshot while other replicas write it. */
const TRIES = 5;

const keyOf = (principal: string | null, batchId: string): string =>
  `live/4/${principal ?? 'anonymous'}/${batchId}`;

export function createProgressHub({
  documents,
  pace = defaultPollSchedule,
  onError,
}: Omit<PollerDependencies, 'pace'> & Partial<PollerDependencies>) {
  const rooms = new Map<string, BatchPoller>();
  let closed = false;

  function pollerFor(principal: string | null, batchId: string): BatchPoller {
    const key = keyOf(principal, batchId);
    const found = rooms.get(key);
    if (found !== undefined) return found;
    const room = startBatchPoller({ documents, pace, onError }, key, batchId, () => rooms.delete(key));
    rooms.set(key, room);
    return room;
  }

  /** Marks the shared snapshot as expired. */
  async function expireSnapshot(key: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const kept = await documents.get(key);
      if (kept === null || kept === 'same') return;
      const snapshot = { ...(JSON.parse(kept.text) as Snapshot), dueAt: 0, polls: 0 };
      const expiresAt = Date.now() + pace.slowest * 2;
      const text = JSON.stringify(snapshot);
      if ((await documents.put(key, text, { expected: kept.version, expiresAt })) !== null) return;
    }
  }

  return {
    /** Subscribes to a batch: its present state, then every change, until it is settled. */
    watch(
      principal: string | null,
      batchId: string,
      watch: Watch,
    ): AsyncIterableIterator<BatchProgressEvent> {
      if (!closed) return pollerFor(principal, batchId).watch(watch);
      return (async function* () {})();
    },
    /** Has all replicas poll a batch now, after a cancellation. */
    async nudge(principal: string | null, batchId: string): Promise<void> {
      const key = keyOf(principal, batchId);
      await expireSnapshot(key).catch(onError);
      rooms.get(key)?.pollNow();
    },
    get rooms() {
      return rooms.size;
    },
    get watchers() {
      return [...rooms.values()].reduce((sum, room) => sum + room.watchers, 0);
    },
    /** Ends all subscriptions, including those that are being opened. */
    close() {
      closed = true;
      for (const room of [...rooms.values()]) room.close();
    },
  };
}
