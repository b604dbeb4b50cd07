// Structures of Atlas proteins, made when they are asked for and kept for a while within a byte
// budget. A few are made in this thread, one a turn; many are made by threads alone.
import { LRUCache } from 'lru-cache';
import { makeStructure, type StructureOrder } from './structure-making.ts';
import { createStructureThreads } from './structure-threads.ts';

/** Makes the texts and pictures of structures. Everything is a function of the order alone. */
export interface Structures {
  make(order: StructureOrder): Promise<Uint8Array>;
  /** Says that so many are going to be asked for, so that threads can be started in time. */
  expect(count: number): void;
}

/** Budget for texts and pictures together; a structure of 300 residues is about 0.2 MB. */
const BUDGET_BYTES = 16 * 2 ** 20;
/** Threads take a while to start: below these numbers it is quicker without. */
const MANY_EXPECTED = 30;
const MANY_WAITING = 4;

interface Waiting {
  readonly order: StructureOrder;
  readonly resolve: (made: Uint8Array) => void;
  readonly reject: (reason: unknown) => void;
}

function createStructures(): Structures {
  const cache = new LRUCache<string, Uint8Array>({
    maxSize: BUDGET_BYTES,
    sizeCalculation: (made, key) => made.length + key.length,
  });
  const making = new Map<string, Promise<Uint8Array>>();
  const queue: Waiting[] = [];
  const threads = createStructureThreads(() => pump());
  let here = false;

  function makeHere(): void {
    // Threads that are ready make all: this one has to give them their orders in time.
    const next = threads.areReady() ? undefined : queue.shift();
    here = next !== undefined;
    if (next === undefined) {
      pump();
      return;
    }
    try {
      next.resolve(makeStructure(next.order));
    } catch (error) {
      next.reject(error);
    }
    setImmediate(makeHere);
  }

  function pump(): void {
    while (threads.free()) {
      const next = queue.shift();
      if (next === undefined) return;
      // The main thread makes what a dead thread could not, so that its error can be told.
      threads.run(next.order).then(next.resolve, () =>
        setImmediate(() => {
          queue.unshift(next);
          pump();
        }),
      );
    }
    if (queue.length > MANY_WAITING) threads.start();
    if (queue.length > 0 && !here && !threads.areReady()) {
      here = true;
      setImmediate(makeHere);
    }
  }

  return {
    make(order) {
      const key = JSON.stringify(order);
      const kept = cache.get(key);
      if (kept !== undefined) return Promise.resolve(kept);
      const started = making.get(key);
      if (started !== undefined) return started;
      const made = new Promise<Uint8Array>((resolve, reject) => queue.push({ order, resolve, reject }));
      making.set(key, made);
      made
        .then(
          (bytes) => cache.set(key, bytes),
          () => {},
        )
        .finally(() => making.delete(key));
      pump();
      return made;
    },
    expect(count) {
      if (count >= MANY_EXPECTED) threads.start();
    },
  };
}

/** One for all sandboxes of the process: its threads cost a second each to start. */
export const structures = createStructures();
