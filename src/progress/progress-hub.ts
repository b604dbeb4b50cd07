// Live progress of batches for all subscribers of a process: one poller for each principal and
// batch.
import {
  type BatchPoller,
  type PollerDependencies,
  type PollerKey,
  startBatchPoller,
  type Watch,
} from './batch-poller.ts';
import type { BatchProgressEvent } from './progress-events.ts';
import { defaultPollSchedule, type Snapshot } from './snapshot.ts';

export type ProgressHub = ReturnType<typeof createProgressHub>;

type LiveOptions = Pick<PollerDependencies, 'documents' | 'onError'> & Partial<PollerDependencies>;

/** Tries of writing the snapshot while other replicas write it. */
const TRIES = 5;

const placeOf = (principal: string | null, batchId: string): PollerKey => ({
  key: `live/3/${principal ?? 'anonymous'}/${batchId}`,
  batchId,
});

/** Creates the hub of a process. */
export function createProgressHub(options: LiveOptions) {
  const { documents, pace = defaultPollSchedule, now = Date.now, onError } = options;
  const parts = { documents, pace, now, onError };
  const rooms = new Map<string, BatchPoller>();
  let closed = false;

  function pollerFor(place: PollerKey): BatchPoller {
    const found = rooms.get(place.key);
    if (found !== undefined) return found;
    const room: BatchPoller = startBatchPoller(parts, place, () => {
      if (rooms.get(place.key) === room) rooms.delete(place.key);
    });
    rooms.set(place.key, room);
    return room;
  }

  /** Marks the shared snapshot as expired. */
  async function expireSnapshot(key: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const kept = await documents.get(key);
      if (kept === null || kept === 'same') return;
      const snapshot = { ...(JSON.parse(kept.text) as Snapshot), dueAt: 0, polls: 0 };
      const expiresAt = now() + pace.slowest * 2;
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
      if (!closed) return pollerFor(placeOf(principal, batchId)).watch(watch);
      return (async function* () {})();
    },
    /** Has all replicas poll a batch now, after a submission or cancellation. */
    async nudge(principal: string | null, batchId: string): Promise<void> {
      const { key } = placeOf(principal, batchId);
      await expireSnapshot(key).catch(onError);
      rooms.get(key)?.pollNow();
    },
    /** Number of pollers in this process. */
    get rooms() {
      return rooms.size;
    },
    /** Number of subscribers in this process. */
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
