// One worker thread, started on first use and reused; an idle one does not keep the process alive.
// A pool (tinypool 2.2.0) starts a quarter slower, takes 1.5 MB more and doubles the round trip
// (Node 20, 2026-11-22).
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parentPort, Worker } from 'node:worker_threads';
import { PACKAGE_ROOT } from '../../package.ts';
import { JsonError } from './lenient-json.ts';

interface WorkerRequest {
  readonly id: number;
  readonly body: unknown;
}

type WorkerResponse =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: Pick<Error, 'name' | 'message'> };

/** Errors that keep their kind on the way; any other is a bug of the gateway. */
const ERRORS: Readonly<Record<string, new (message: string) => Error>> = { JsonError, RangeError };

/** Rejects with JsonError, RangeError or Error as the worker threw. */
type RunInWorker = (body: unknown, transfer?: ArrayBuffer[]) => Promise<unknown>;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Node runs no TypeScript in a worker: from source, a line that registers tsx comes first. */
function startWorker(name: string): Worker {
  const fromSource = import.meta.url.endsWith('.ts');
  const module = new URL(fromSource ? `src/${name}.ts` : `dist/${name}.js`, PACKAGE_ROOT);
  if (!fromSource) return new Worker(module);
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const api = new URL('./dist/esm/api/index.mjs', tsx).href;
  const begin =
    `import(${JSON.stringify(api)})` +
    `.then((tsx) => (tsx.register(), import(${JSON.stringify(module.href)})))`;
  return new Worker(begin, { eval: true });
}

/**
 * @param name - path of the module within `src/` without its extension: `scripts/build.js` compiles
 *   files named `*-worker.ts` for it. The module calls `handleWorkerMessages`
 */
export function createWorker(name: string): RunInWorker {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let lastId = 0;

  const settle = (answer: WorkerResponse) => {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker?.unref();
    if ('value' in answer) return asked?.resolve(answer.value);
    const { name, message } = answer.error;
    asked?.reject(new (ERRORS[name] ?? Error)(message));
  };
  /** Rejects all requests; the next one starts a new worker. */
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
    started.on('error', (error) => lose(started, error instanceof Error ? error : new Error(String(error))));
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
      const request: WorkerRequest = { id, body };
      asked.postMessage(request, transfer);
    });
  };
}

/** In the worker: answers every request with what `answer` returns or throws. */
export function handleWorkerMessages(answer: (body: unknown) => unknown): void {
  const port = parentPort;
  port?.on('message', ({ id, body }: WorkerRequest) => {
    let message: WorkerResponse;
    try {
      message = { id, value: answer(body) };
    } catch (thrown) {
      const { name, message: text } = thrown instanceof Error ? thrown : new Error(String(thrown));
      message = { id, error: { name, message: text } };
    }
    port.postMessage(message);
  });
}
