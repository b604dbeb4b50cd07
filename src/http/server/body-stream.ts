// Bodies that come in pieces: each is asked for when the client has read the one before.
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Ends a source early. An iterator that has not begun would leave a Readable open. */
export async function cancelSource(
  source: AsyncIterable<unknown>,
  iterator: AsyncIterator<unknown> = source[Symbol.asyncIterator](),
): Promise<void> {
  if (source instanceof Readable) source.on('error', () => undefined).destroy();
  else await iterator.return?.();
}

/** Waits until a connection takes more, or has closed. */
const drained = (connection: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      connection.off('drain', end).off('close', end);
      resolve();
    };
    connection.on('drain', end).on('close', end);
  });

/**
 * Sends what a source gives. The source is left when the connection closes, and the connection is
 * cut when the source fails, so that no client takes what has come for the whole.
 *
 * @param onError - given the failure of the source
 */
export async function sendPieces(
  connection: ServerResponse,
  source: AsyncIterable<string | Uint8Array>,
  onError: (error: unknown) => unknown = () => undefined,
): Promise<void> {
  const iterator = source[Symbol.asyncIterator]();
  const cancel = (): void => void cancelSource(source, iterator).catch(() => undefined);
  if (connection.destroyed) return cancel();
  connection.once('close', cancel);
  try {
    for (;;) {
      // Other requests get their turn between two pieces.
      await nextTurn();
      const { done, value } = await iterator.next();
      if (connection.destroyed) return;
      if (done === true) return void connection.end();
      if (!connection.write(value)) await drained(connection);
    }
  } catch (error) {
    onError(error);
    connection.destroy();
  }
}

/**
 * The same for a response without a connection: a stream that fails with the source.
 *
 * @param onError - given the failure of the source
 * @param onEnd - called once, when nothing more will come
 */
export function toBodyStream(
  source: AsyncIterable<string | Uint8Array>,
  onError: (error: unknown) => unknown = () => undefined,
  onEnd: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          // Other requests get their turn between two pieces.
          await nextTurn();
          const { done, value } = await iterator.next();
          if (done === true) {
            controller.close();
            onEnd();
          } else controller.enqueue(typeof value === 'string' ? Buffer.from(value) : value);
        } catch (error) {
          onError(error);
          controller.error(error);
          onEnd();
        }
      },
      async cancel() {
        onEnd();
        await cancelSource(source, iterator);
      },
    },
    { highWaterMark: 0 },
  );
}
