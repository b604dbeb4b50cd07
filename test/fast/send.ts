// Sends a stream over node:http as the server adapter does: the next piece when the one before has gone.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

export async function send(response: ServerResponse, stream: ReadableStream<Uint8Array>): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  for await (const piece of stream) {
    if (response.write(piece)) continue;
    await once(response, 'drain', { signal: left.signal }).catch(() => undefined);
    if (response.destroyed) return;
  }
  response.end();
}
