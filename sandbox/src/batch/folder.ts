// Hands fold requests to one worker thread, one at a time, and survives the thread's death.
import type { Worker } from 'node:worker_threads';
import { DEFAULT_FORM, type ResultForm } from '../folding/rows.ts';
import { startThread } from '../thread.ts';
import type { FoldAnswer, FoldOrder } from './fold-worker.ts';

/** C: a fold that takes longer than this is given up and fails its task. */
const PATIENCE_MS = 180_000;

/**
 * A thread without work this long is ended; the memory it took is worth more than its next start.
 */
const IDLE_MS = 120_000;

const ETHANOL = JSON.stringify({
  model: 'warm-up',
  input: { sequences: [{ type: 'ligand', id: 'L', smiles: 'CCO' }] },
  includePae: false,
  includePairChainsIptm: false,
  includeEmbeddings: false,
});

/**
 * A process that starts sandboxes one after the other, as tests do, would load the ligands for each
 * of them.
 */
const MAX_SPARE = 2;
const spare = new Map<Worker, () => void>();

/** Node's own listeners stay: without them a thread's messages are not read. */
const removeListeners = (thread: Worker): void => {
  for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event);
};

/** Keeps an idle thread for the next folder of this process, and ends it when none comes. */
function spareThread(thread: Worker): void {
  const end = () => void thread.terminate();
  removeListeners(thread);
  if (spare.size === MAX_SPARE) {
    end();
    return;
  }
  const timer = setTimeout(end, IDLE_MS).unref();
  const release = () => {
    clearTimeout(timer);
    spare.delete(thread);
    removeListeners(thread);
  };
  spare.set(thread, release);
  thread.once('error', release);
  thread.once('exit', release);
}

function takeThread(): Worker {
  const [found] = spare;
  found?.[1]();
  return found?.[0] ?? startThread('./batch/fold-worker');
}

export interface Folder {
  /** An answer never rejects: it holds the error. */
  fold(order: Omit<FoldOrder, 'form'>): Promise<FoldAnswer>;
  /**
   * Has the thread load what ligands need (some seconds), once, before the first ligand is folded.
   */
  warm(): void;
  close(): Promise<void>;
}

const internalError = (message: string): FoldAnswer => ({
  error: JSON.stringify({ code: 'internal_error', message }),
});

/** Makes a folder; its thread starts with the first request. @param form - of the results */
export function createFolder(form: ResultForm = DEFAULT_FORM): Folder {
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let warmed = false;
  let rest: NodeJS.Timeout | undefined;
  let closed = false;
  let busy = false;
  /** Called at the end of the request that the thread works on. */
  let settle: (answer: FoldAnswer) => void = () => {};

  function start(): Worker {
    const thread = takeThread();
    const lost = (message: string): void => {
      if (worker !== thread) return;
      worker = undefined;
      settle(internalError(message));
    };
    thread.on('message', (answer: FoldAnswer) => {
      if (worker === thread) settle(answer);
    });
    thread.on('error', (error) => lost(`The folding process failed: ${error.message}`));
    thread.on('exit', () => lost('The folding process ended.'));
    thread.unref();
    return thread;
  }

  function endIdle(): void {
    void worker?.terminate();
    worker = undefined;
    warmed = false;
  }

  function ask(order: FoldOrder): Promise<FoldAnswer> {
    if (closed) return Promise.resolve(internalError('The service is shutting down.'));
    worker ??= start();
    const thread = worker;
    clearTimeout(rest);
    busy = true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        settle(internalError('Folding took too long.'));
        worker = undefined;
        void thread.terminate();
      }, PATIENCE_MS).unref();
      settle = (answer) => {
        clearTimeout(timer);
        settle = () => {};
        busy = false;
        rest = setTimeout(endIdle, IDLE_MS).unref();
        resolve(answer);
      };
      thread.postMessage(order);
    });
  }

  return {
    fold(order) {
      const answer = last.then(() => ask({ ...order, form }));
      last = answer;
      return answer;
    },
    warm() {
      if (!warmed) void this.fold({ request: ETHANOL, repeatIndex: 0, createdAt: '' });
      warmed = true;
    },
    async close() {
      closed = true;
      clearTimeout(rest);
      if (busy) await worker?.terminate();
      await last;
      if (worker !== undefined) spareThread(worker);
      worker = undefined;
    },
  };
}
