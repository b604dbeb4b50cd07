// Requests that a client sends over one connection without waiting for answers are worked on one
// after the other, in the order in which they must be answered anyway: none takes anything before
// its answer could be written, and nothing is left of them when the connection closes.
import type { IncomingMessage, RequestListener } from 'node:http';

/** Requests that may wait on one connection for earlier answers; with more it is closed. */
const MAX_WAITING = 100;

/** The same listener, given the next request of a connection when the one before is answered. */
export function oneAtATime(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<IncomingMessage['socket'], number>();
  return (req, res) => {
    // A response without its connection is behind another one.
    if (res.socket !== null) return listener(req, res);
    const { socket } = req;
    const many = (waiting.get(socket) ?? 0) + 1;
    if (many > MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting.set(socket, many);
    res.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      setImmediate(listener, req, res);
    });
  };
}
