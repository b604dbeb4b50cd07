// A node:http server with timeouts against slow clients: for headers, bodies, and for reading the
// response.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connections.ts';

export interface ServerLimits {
  /** Bytes of a request's headers at most; more are answered 431. */
  readonly maxHeaderBytes: number;
  /** How long a client may take nothing of an answer that waits for it. */
  readonly slowReaderMs: number;
  /** How long a body may take; the listener sees to that, and Node must not end it before. */
  readonly bodyMs?: number;
  /** How long headers, and whole requests, may take to come; answered 408. */
  readonly headersMs?: number;
  readonly requestMs?: number;
  readonly checkEveryMs?: number;
}

const HEADERS_MS = 20_000;
const REQUEST_MS = 120_000;
const CHECK_MS = 5_000;
/**
 * Longer than the keep-alive of usual proxies, so that none sends a request on a connection being
 * closed.
 */
const KEEP_ALIVE_MS = 65_000;

/** The handlers of a server. */
export interface HttpHandler {
  readonly listener: RequestListener;
  readonly connections: Pick<ConnectionLimits, 'watch'>;
}

/** Makes the server; it does not listen yet. */
export function createHttpServer({ listener, connections }: HttpHandler, limits: ServerLimits): Server {
  const { maxHeaderBytes, slowReaderMs, bodyMs = 0, headersMs = HEADERS_MS } = limits;
  /**
   * The latest response of a connection; pipelined responses before it end first. Set once per
   * connection, not per request.
   */
  const last = new WeakMap<Socket, { answer: ServerResponse }>();
  const answer: RequestListener = (request, response) => {
    const known = last.get(request.socket);
    if (known === undefined) last.set(request.socket, { answer: response });
    else known.answer = response;
    listener(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersMs,
      requestTimeout: Math.max(limits.requestMs ?? REQUEST_MS, headersMs + bodyMs),
      connectionsCheckingInterval: limits.checkEveryMs ?? CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    answer,
  );
  deferContinue(server, answer);
  connections.watch(server);
  // Node's socket timeout: no activity for so long, where bytes taken by the client count as
  // activity.
  server.setTimeout(slowReaderMs, (socket) => {
    // An idle keep-alive connection has been idle for long enough.
    if (last.get(socket)?.answer.closed !== false) socket.destroy();
    // The client does not read.
    else if (socket.writableLength > 0) socket.destroy();
    // We are: it waits for us, or listens to a stream in which nothing happens.
    else socket.setTimeout(slowReaderMs);
  });
  return server;
}

const waiting = new WeakSet<IncomingMessage>();

/** Leaves it to the listener when to send the 100; node would send it at once. */
function deferContinue(server: Server, listener: RequestListener): void {
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
