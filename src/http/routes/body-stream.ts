// An upstream body passed on as it comes. It must not know what is in it.
import { Readable } from 'node:stream';

/** Ends a body that may not have been begun: leaving its iterator alone would keep its connection for ever. */
function leave(body: AsyncIterable<Uint8Array>): void {
  if (!(body instanceof Readable)) return;
  // That it was given up is no news.
  body.on('error', () => undefined);
  body.destroy();
}

/** A body as a web stream. Not Readable.toWeb: that one, cancelled in the middle, throws where nobody can catch (Node 20). */
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
    // Nothing is begun before somebody reads: the answer to HEAD has a body that nobody will.
    { highWaterMark: 0 },
  );
}
