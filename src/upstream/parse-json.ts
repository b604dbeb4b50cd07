// JSON bodies to values: small ones at once, large ones in a thread of their own. It does not know what the bodies mean.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ParseAnswer, ParseRequest } from './json-worker.ts';
import { JsonError, parseLenient } from './lenient-json.ts';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const waiting = new Map<number, Waiting>();
let thread: Worker | undefined;
let lastId = 0;

function settle(answer: ParseAnswer): void {
  const asked = waiting.get(answer.id);
  waiting.delete(answer.id);
  if (waiting.size === 0) thread?.unref();
  if (answer.ok) asked?.resolve(answer.value);
  else asked?.reject(new JsonError(answer.position));
}

/** Everybody who waits is told, and the next body starts a new thread. */
function lose(lost: Worker, error: Error): void {
  if (thread !== lost) return;
  thread = undefined;
  const all = [...waiting.values()];
  waiting.clear();
  for (const { reject } of all) reject(error);
}

function startThread(): Worker {
  const started = new Worker(
    new URL(`./json-worker${extname(import.meta.url)}`, import.meta.url),
    import.meta.url.endsWith('.ts') ? { execArgv: ['--import', 'tsx'] } : {},
  );
  started.on('message', settle);
  started.on('error', (error) => lose(started, error instanceof Error ? error : new Error(String(error))));
  started.on('exit', () => lose(started, new Error('The JSON thread ended.')));
  return started;
}

/**
 * Parses a JSON body. `NaN` and the infinities, which Python services write, are null.
 *
 * @param options.workerAboveBytes - a body longer than this is parsed in a thread; 1 MiB unless said
 * @throws JsonError - with the position, never the content
 */
export async function parseJson(
  bytes: Uint8Array,
  options: { readonly workerAboveBytes?: number } = {},
): Promise<unknown> {
  if (bytes.byteLength <= (options.workerAboveBytes ?? 1024 * 1024)) {
    return parseLenient(new TextDecoder().decode(bytes));
  }
  const id = ++lastId;
  thread ??= startThread();
  const asked = thread;
  asked.ref();
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    const request: ParseRequest = { id, bytes };
    asked.postMessage(request);
  });
}
