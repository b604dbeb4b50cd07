// Requests whose client waits for "100 Continue" before it sends the body (RFC 9110, 10.1.1): it is
// sent when the body is wanted. A request that is refused before gets its refusal instead.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** Leaves it to the listener when to send the 100; node would send it at once. */
export function deferContinue(server: Server, listener: RequestListener): void {
  server.on('checkContinue', (req, res) => {
    waiting.add(req);
    listener(req, res);
  });
}

/** Asks a client that waits for its body. */
export function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  if (waiting.delete(req)) res.writeContinue();
}

/** Whether a client still waits to be asked for its body. */
export const isAwaitingContinue = (req: IncomingMessage): boolean => waiting.has(req);
