// Threads that make structures, started when many are wanted and ended when none was for a while.
import type { Worker } from 'node:worker_threads';
import { startThread } from '../thread.ts';
import type { StructureOrder } from './structure-making.ts';

/** Threads of which each works on one order at a time. */
export interface StructureThreads {
  /** Starts the threads unless they run. */
  start(): void;
  /** Whether a thread is ready and idle. */
  free(): boolean;
  /** Whether a thread is ready, idle or not. */
  areReady(): boolean;
  /** Gives an order to an idle thread; rejects when the thread dies over it. */
  run(order: StructureOrder): Promise<Uint8Array>;
}

const THREADS = 2;
const IDLE_MS = 10_000;

/** @param onFree called whenever a thread becomes idle */
export function createStructureThreads(onFree: () => void): StructureThreads {
  const idle: Worker[] = [];
  const alive = new Set<Worker>();
  const ready = new Set<Worker>();
  let rest: NodeJS.Timeout | undefined;
  // One that fails would fail again: from then on everything is made without threads.
  let broken = false;

  const end = (worker: Worker): void => {
    alive.delete(worker);
    ready.delete(worker);
    const at = idle.indexOf(worker);
    if (at >= 0) idle.splice(at, 1);
  };
  const free = (worker: Worker): void => {
    idle.push(worker);
    onFree();
  };
  const restLater = (): void => {
    clearTimeout(rest);
    rest = setTimeout(() => {
      if (idle.length === alive.size) for (const worker of alive) void worker.terminate();
    }, IDLE_MS).unref();
  };
  const startOne = (): void => {
    const worker = startThread('./atlas/structure-worker', {
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
    });
    alive.add(worker);
    worker.unref();
    worker.once('message', () => {
      ready.add(worker);
      free(worker);
    });
    worker.once('error', () => {
      broken = true;
      end(worker);
    });
    worker.once('exit', () => end(worker));
  };

  return {
    start() {
      restLater();
      if (alive.size === 0 && !broken) for (let n = 0; n < THREADS; n++) startOne();
    },
    free: () => idle.length > 0,
    areReady: () => ready.size > 0,
    async run(order) {
      const worker = idle.shift();
      if (worker === undefined) throw new Error('no thread is idle');
      restLater();
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          worker.off('message', done);
          worker.off('exit', dead);
        };
        const done = (made: Uint8Array): void => {
          settle();
          resolve(made);
          free(worker);
        };
        const dead = (): void => {
          settle();
          reject(new Error('the thread ended over its order'));
        };
        worker.on('message', done);
        worker.on('exit', dead);
        worker.postMessage(order);
      });
    },
  };
}
