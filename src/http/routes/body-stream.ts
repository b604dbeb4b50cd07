// Converts upstream bodies to web streams.
import { Readable } from 'node:stream';

/** Closes a body that may not have started: an abandoned iterator would hold its connection. */
function leave(body: AsyncIterable<Uint8Array>): void {
  if (!(body instanceof Readable)) return;
  // That it was given up is no news.
  body.on('error', () => undefined);
  body.destroy();
}

/**
 * A body as a web stream. Not Readable.toWeb, which throws an uncaught error when cancelled midway
 * (Node 20).
 */
export function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return?.();
        leave(body);
      },
    },
    // Nothing is read ahead: the body of a response to HEAD is never read.
    { highWaterMark: 0 },
  );
}
