// Hands fold requests to one worker thread, one at a time, and survives the thread's death. All
// sandboxes of a process share the thread: loading the ligands takes it some seconds.
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

const internalError = (message: string): FoldAnswer => ({
  error: JSON.stringify({ code: 'internal_error', message }),
});

let thread: Worker | undefined;
let isWarm = false;
let idle: NodeJS.Timeout | undefined;
let lastAnswer: Promise<unknown> = Promise.resolve();

function endThread(): void {
  clearTimeout(idle);
  void thread?.terminate();
  thread = undefined;
  isWarm = false;
}

function openThread(): Worker {
  const opened = startThread('./batch/fold-worker');
  // Orders have listeners of their own; an idle thread that dies is started again.
  opened.on('error', () => undefined);
  opened.once('exit', () => {
    if (thread === opened) endThread();
  });
  opened.unref();
  return opened;
}

/** Sends an order to the thread, and waits for its answer. @param signal - ends the thread */
function send(order: FoldOrder, signal?: AbortSignal): Promise<FoldAnswer> {
  if (signal?.aborted) return Promise.resolve(internalError('The service is shutting down.'));
  clearTimeout(idle);
  thread ??= openThread();
  const worker = thread;
  return new Promise((resolve) => {
    const settle = (answer: FoldAnswer): void => {
      clearTimeout(timer);
      worker.off('message', settle).off('error', onError).off('exit', onExit);
      signal?.removeEventListener('abort', onAbort);
      if (thread === worker) idle = setTimeout(endThread, IDLE_MS).unref();
      resolve(answer);
    };
    const giveUp = (message: string): void => {
      if (thread === worker) endThread();
      settle(internalError(message));
    };
    const onError = (error: Error): void => giveUp(`The folding process failed: ${error.message}`);
    const onExit = (): void => giveUp('The folding process ended.');
    const onAbort = (): void => giveUp('The service is shutting down.');
    const timer = setTimeout(() => giveUp('Folding took too long.'), PATIENCE_MS).unref();
    worker.on('message', settle).once('error', onError).once('exit', onExit);
    signal?.addEventListener('abort', onAbort);
    worker.postMessage(order);
  });
}

/** Sends an order when the earlier ones are answered. */
function sendInTurn(order: FoldOrder, signal?: AbortSignal): Promise<FoldAnswer> {
  const answer = lastAnswer.then(() => send(order, signal));
  lastAnswer = answer;
  return answer;
}

export interface Folder {
  /** An answer never rejects: it holds the error. */
  fold(order: Omit<FoldOrder, 'form'>): Promise<FoldAnswer>;
  /**
   * Has the thread load what ligands need (some seconds), once, before the first ligand is folded.
   */
  warm(): void;
  /** Ends what the thread does for this folder. */
  close(): Promise<void>;
}

/** Makes a folder; the thread starts with the first request. @param form - of the results */
export function createFolder(form: ResultForm = DEFAULT_FORM): Folder {
  const controller = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  return {
    fold(order) {
      const answer = sendInTurn({ ...order, form }, controller.signal);
      last = answer;
      return answer;
    },
    warm() {
      if (isWarm) return;
      isWarm = true;
      void sendInTurn({ request: ETHANOL, repeatIndex: 0, createdAt: '', form });
    },
    async close() {
      controller.abort();
      await last;
    },
  };
}
