// The node:http server with its limits against slow or greedy clients: connections, header size, time
// for headers and for whole requests, and time in which a client takes nothing of its response.
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { INVALID_TARGET } from '../request-target.ts';
import { isWebSocketRequest } from '../websocket/upgrade.ts';

export interface ServerLimits {
  /** Open connections at most, WebSockets among them; more are closed at once. */
  readonly maxConnections?: number;
  /** How long a client may take nothing of a response that waits for it, in milliseconds. */
  readonly slowReaderMs?: number;
  /** How long headers, and whole requests, may take to arrive, in milliseconds; answered 408. */
  readonly headersMs?: number;
  readonly requestMs?: number;
  readonly checkEveryMs?: number;
}

/** Connections as metrics count them. */
export interface ConnectionMetrics {
  opened(): void;
  closed(): void;
  /** A connection that the server has closed against its client's will. */
  cut(reason: 'slow_reader' | 'too_many_connections'): void;
}

export interface HttpHandler {
  readonly listener: RequestListener;
  readonly connections: ConnectionMetrics;
}

/** Bytes of a request's headers at most; more are answered 431. */
const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS = 4000;
const SLOW_READER_MS = 30_000;
const HEADERS_MS = 20_000;
const REQUEST_MS = 60_000;
const CHECK_MS = 5_000;
/**
 * Longer than the keep-alive of usual proxies, so that none sends a request on a connection being
 * closed.
 */
const KEEP_ALIVE_MS = 65_000;

/** From Node 24.9 on; older ones take every offer of a protocol for an upgrade. */
const UPGRADES = { shouldUpgradeCallback: isWebSocketRequest };

/** Makes the server; it does not listen yet. */
export function createHttpServer({ listener, connections }: HttpHandler, limits: ServerLimits = {}): Server {
  const { maxConnections = MAX_CONNECTIONS, slowReaderMs = SLOW_READER_MS } = limits;
  const onTimeout = (socket: Socket): void => {
    // Nothing waits for the client: the gateway works on the response, or streams rare events.
    if (socket.writableLength === 0) return void socket.setTimeout(slowReaderMs);
    socket.destroy();
    connections.cut('slow_reader');
  };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersMs ?? HEADERS_MS,
      requestTimeout: limits.requestMs ?? REQUEST_MS,
      connectionsCheckingInterval: limits.checkEveryMs ?? CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      ...UPGRADES,
    },
    (request, response) => {
      response.on('timeout', onTimeout);
      // A client that goes on over its connection would be cut off in the middle of a request.
      if (!server.listening) response.setHeader('connection', 'close');
      listener(request, response);
    },
  );
  // Node closes a connection without activity for so long, where bytes taken by the client count as
  // activity, unless a response is under way: then it asks the response.
  server.timeout = slowReaderMs;
  server.maxConnections = maxConnections;
  server.on('drop', () => connections.cut('too_many_connections'));
  server.on('connection', (socket) => {
    connections.opened();
    socket.once('close', connections.closed);
  });
  return server;
}

/** Requests that may wait on one connection for earlier responses; with more it is closed. */
const MAX_WAITING = 100;

/**
 * The same listener, given the next request of a connection when the response before is sent. The
 * response to such a request would not hear that its connection has closed.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (req, res) => {
    // A response without its connection is behind another one.
    if (res.socket !== null) return listener(req, res);
    const { socket } = req;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting.set(socket, count);
    res.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      setImmediate(listener, req, res);
    });
  };
}

const BROKEN =
  'Something went wrong inside the gateway. Quote the x-request-id of this answer when you report it.\n';
const PLAIN = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Ends an answer of node:http that has not begun. */
export const destroyResponse = (response: ServerResponse): void =>
  void (response.headersSent ? response.destroy() : response.writeHead(500, PLAIN).end(BROKEN));

export const brokenResponse = (): Response => new Response(BROKEN, { status: 500, headers: PLAIN });

/** Answers a request whose target cannot be read, and closes its connection. */
export const refuseTarget = (response: ServerResponse): void =>
  void response.writeHead(400, { ...PLAIN, connection: 'close' }).end(INVALID_TARGET);
