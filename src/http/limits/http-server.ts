// A node server that no slow client can hold: headers and bodies must come in time, and answers must be taken. It knows no route.
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.ts';
import { deferContinue } from './expect-continue.ts';

export interface ServerLimits {
  /** Bytes of a request's headers at most; more are answered 431. */
  readonly maxHeaderBytes: number;
  /** How long a client may take nothing of an answer that waits for it. */
  readonly slowReaderMs: number;
  /** How long headers, and whole requests, may take to come; answered 408. */
  readonly headersMs?: number;
  readonly requestMs?: number;
  readonly checkEveryMs?: number;
}

const HEADERS_MS = 20_000;
const REQUEST_MS = 120_000;
const CHECK_MS = 5_000;
/** Longer than the usual proxy keeps a connection, so that none is closed under a request on its way. */
const KEEP_ALIVE_MS = 65_000;

/** Who answers what comes to a server. */
export interface HttpHandler {
  readonly listener: RequestListener;
  readonly connections: Pick<ConnectionLimits, 'watch'>;
}

/** Makes the server; it does not listen yet. */
export function createHttpServer({ listener, connections }: HttpHandler, limits: ServerLimits): Server {
  const { maxHeaderBytes, slowReaderMs } = limits;
  /** The last answer that was asked for on a connection: when it is given, all before it are. One entry for a connection, not for a request. */
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
      headersTimeout: limits.headersMs ?? HEADERS_MS,
      requestTimeout: limits.requestMs ?? REQUEST_MS,
      connectionsCheckingInterval: limits.checkEveryMs ?? CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    answer,
  );
  deferContinue(server, answer);
  connections.watch(server);
  // Node tells of connections on which nothing moved for so long, counting bytes that the client has taken as movement.
  server.setTimeout(slowReaderMs, (socket) => {
    // Nobody is answered here: a connection that is kept for the next request, and was for long enough.
    if (last.get(socket)?.answer.closed !== false) socket.destroy();
    // The client is the one who does not move.
    else if (socket.writableLength > 0) socket.destroy();
    // We are: it waits for us, or listens to a stream in which nothing happens.
    else socket.setTimeout(slowReaderMs);
  });
  return server;
}
