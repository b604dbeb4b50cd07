// Live progress of batches for any number of watchers: finds or opens the room of a principal's batch. It knows no GraphQL.

import { createTopic } from '../async/broadcast.ts';
import type { Documents } from '../store/documents/leased-documents.ts';
import { openRoom, type Room, type RoomPlace, type Watch } from './batch-poller.ts';
import { type PaceRules, startPace, usualPace } from './poll-schedule.ts';
import type { BatchNews } from './progress-events.ts';
import type { Snapshot } from './snapshot.ts';

export interface Live {
  /** Watches a batch: its present state first, then every change, until it is settled. */
  watch(principal: string | null, batchId: string, watch: Watch): AsyncIterableIterator<BatchNews>;
  /** Has a batch polled at once, here and by other replicas: a submit or cancel has just changed it. */
  nudge(principal: string | null, batchId: string): Promise<void>;
  /** How many rooms are open: batches that are polled by this process while they are watched. */
  readonly rooms: number;
  /** How many watch batches through this process. */
  readonly watchers: number;
  /** Ends every watch, and every one that is still opened. */
  close(): void;
}

export interface LiveOptions {
  readonly documents: Documents;
  readonly pace?: PaceRules;
  readonly now?: () => number;
  readonly onError: (error: unknown) => void;
}

/** Tries of a nudge against replicas that write at the same time. */
const TRIES = 5;

const placeOf = (principal: string | null, batchId: string): RoomPlace => ({
  key: `live/1/${principal ?? 'anonymous'}/${batchId}`,
  batchId,
});

/** Opens what all requests of a process share. */
export function openLive(options: LiveOptions): Live {
  const { documents, pace = usualPace, now = Date.now, onError } = options;
  const parts = { documents, pace, now, onError };
  const rooms = new Map<string, Room>();
  let closed = false;

  function roomOf(place: RoomPlace): Room {
    const found = rooms.get(place.key);
    if (found !== undefined) return found;
    const room: Room = openRoom(parts, place, () => {
      if (rooms.get(place.key) === room) rooms.delete(place.key);
    });
    rooms.set(place.key, room);
    return room;
  }

  /** Makes the shared snapshot too old. */
  async function age(key: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const kept = await documents.get(key);
      if (kept === null || kept === 'same') return;
      const snapshot = { ...(JSON.parse(kept.text) as Snapshot), dueAt: 0, pace: startPace(pace) };
      const expiresAt = now() + pace.slowest * 2;
      const text = JSON.stringify(snapshot);
      if ((await documents.put(key, text, { expected: kept.version, expiresAt })) !== null) return;
    }
  }

  return {
    watch(principal, batchId, watch) {
      if (!closed) return roomOf(placeOf(principal, batchId)).watch(watch);
      const ended = createTopic<never>();
      ended.end();
      return ended.watch<BatchNews>(
        () => undefined,
        watch.signal,
        () => undefined,
      );
    },
    async nudge(principal, batchId) {
      const { key } = placeOf(principal, batchId);
      await age(key).catch(onError);
      rooms.get(key)?.nudge();
    },
    get rooms() {
      return rooms.size;
    },
    get watchers() {
      return [...rooms.values()].reduce((sum, room) => sum + room.watchers, 0);
    },
    close() {
      closed = true;
      for (const room of [...rooms.values()]) room.close();
    },
  };
}
