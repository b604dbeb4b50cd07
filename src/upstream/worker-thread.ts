// A thread that answers questions: started when first asked, kept for the next, never a reason for the process to stay
// alive. It does not know what is asked.

import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { asError } from './errors.ts';
import { JsonError } from './lenient-json.ts';

/** What goes to the thread. */
export interface Question {
  readonly id: number;
  readonly body: unknown;
}

/** What comes back; a failure without `kind` is a fault of ours. */
export type Answer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly kind?: 'json' | 'range';
      readonly message: string;
      readonly position?: number | undefined;
    };

/** Asks the thread. Rejects with JsonError, RangeError or Error as the thread's side threw. */
export type Ask = (body: unknown, transfer?: ArrayBuffer[]) => Promise<unknown>;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Node runs no TypeScript in a worker: from source, a line that registers tsx comes before the module. */
function startWorker(name: string): Worker {
  const extension = extname(import.meta.url);
  const module = new URL(`${name}${extension}`, import.meta.url);
  if (extension !== '.ts') return new Worker(module);
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const api = new URL('./dist/esm/api/index.mjs', tsx).href;
  const begin = `import(${JSON.stringify(api)}).then((tsx) => (tsx.register(), import(${JSON.stringify(module.href)})))`;
  return new Worker(begin, { eval: true });
}

function failureOf(answer: Answer & { ok: false }): Error {
  if (answer.kind === 'json') return new JsonError(answer.position);
  return answer.kind === 'range' ? new RangeError(answer.message) : new Error(answer.message);
}

/**
 * @param name - path of the module relative to this folder, without its extension; the module calls `serve`
 */
export function openThread(name: string): Ask {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let lastId = 0;

  const settle = (answer: Answer) => {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker?.unref();
    if (answer.ok) asked?.resolve(answer.value);
    else asked?.reject(failureOf(answer));
  };
  /** Everybody who waits is told, and the next question starts a new thread. */
  const lose = (lost: Worker, error: Error) => {
    if (worker !== lost) return;
    worker = undefined;
    const all = [...waiting.values()];
    waiting.clear();
    for (const { reject } of all) reject(error);
  };
  const start = (): Worker => {
    const started = startWorker(name);
    started.on('message', settle);
    started.on('error', (error) => lose(started, asError(error)));
    started.on('exit', () => lose(started, new Error('The thread ended.')));
    return started;
  };

  return (body, transfer = []) => {
    worker ??= start();
    const asked = worker;
    asked.ref();
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      const question: Question = { id, body };
      asked.postMessage(question, transfer);
    });
  };
}

/** A copy that can be given away to a thread while the caller keeps its own. */
export function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
