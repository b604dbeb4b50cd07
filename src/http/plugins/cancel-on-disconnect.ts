// A streamed answer tied to the connection that it goes to, which the server adapter leaves apart:
// a client that is gone is not told to the source, and a source that breaks leaves the client
// waiting. It must not know what is streamed.
import { nodeResponseOf } from '../auth/node-request.ts';

/**
 * Ties the body of a response to its connection, which the server adapter does not: cancels the
 * source when the client disconnects, and destroys the connection when the source fails, so that no
 * client takes a partial file for a whole one.
 *
 * @param serverContext - the server adapter's; without a connection the response is returned as it
 *   is
 */
export function cancelOnDisconnect(response: Response, serverContext: unknown): Response {
  const connection = nodeResponseOf(serverContext);
  if (connection === undefined || response.body === null) return response;
  const reader = response.body.getReader();
  const leave = () => void reader.cancel().catch(() => undefined);
  if (connection.destroyed) leave();
  else connection.once('close', leave);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
      } catch {
        connection.destroy();
      }
      connection.off('close', leave);
      return controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
