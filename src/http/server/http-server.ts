// The node:http server with its limits: connections, size of headers, and time for headers, for
// whole requests and without any activity. The proxy in front limits single clients.
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { INVALID_TARGET, isWebSocketRequest } from './request-target.ts';

export interface ServerLimits {
  /** Open connections at most, WebSockets among them; more are closed at once. */
  readonly maxConnections?: number;
  /** How long headers, and whole requests, may take to arrive; answered 408. */
  readonly headersTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly checkIntervalMs?: number;
  /** How long a connection may be open while nothing is sent or taken. */
  readonly socketTimeoutMs?: number;
  /** How long an answer may take to begin, although nothing is sent meanwhile. */
  readonly answerTimeoutMs?: number;
}

/** Connections as metrics count them. */
export interface ConnectionMetrics {
  opened(): void;
  closed(): void;
  /** A connection beyond the limit was closed at once. */
  dropped(): void;
}

export interface HttpServerHooks {
  readonly listener: RequestListener;
  readonly connections: ConnectionMetrics;
}

/** Bytes of a request's headers at most; more are answered 431. */
const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS = 4000;
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 5_000;
const SOCKET_TIMEOUT_MS = 90_000;
const ANSWER_TIMEOUT_MS = 240_000;
/**
 * Longer than the keep-alive of usual proxies, so that none uses a connection that is being closed.
 */
const KEEP_ALIVE_MS = 65_000;
/** Requests of one connection that may wait for the answers before them; with more it is closed. */
const MAX_PIPELINED = 100;

/** From Node 24.9 on; older ones take every offer of a protocol for an upgrade. */
const UPGRADES = { shouldUpgradeCallback: isWebSocketRequest };

/** Makes the server; it does not listen yet. */
export function createHttpServer(
  { listener, connections }: HttpServerHooks,
  limits: ServerLimits = {},
): Server {
  const oneByOne = withoutPipelining(listener);
  const silenceMs = limits.socketTimeoutMs ?? SOCKET_TIMEOUT_MS;
  const answerMs = limits.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersTimeoutMs ?? HEADERS_TIMEOUT_MS,
      requestTimeout: limits.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: limits.checkIntervalMs ?? CHECK_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      ...UPGRADES,
    },
    (request, response) => {
      // A client that goes on over its connection would be cut off in the middle of a request.
      if (!server.listening) response.setHeader('connection', 'close');
      awaitAnswer(response, silenceMs, answerMs);
      oneByOne(request, response);
    },
  );
  server.timeout = silenceMs;
  server.maxConnections = limits.maxConnections ?? MAX_CONNECTIONS;
  server.on('drop', () => connections.dropped());
  server.on('connection', (socket) => {
    connections.opened();
    socket.once('close', () => connections.closed());
  });
  return server;
}

/**
 * Closes a connection that is silent for too long, unless its client waits for an answer that has
 * not begun: one that was paid for must arrive.
 */
function awaitAnswer(response: ServerResponse, silenceMs: number, answerMs: number): void {
  const end = performance.now() + answerMs;
  response.on('timeout', (socket: Socket) => {
    const left = end - performance.now();
    if (response.headersSent || left <= 0) socket.destroy();
    else socket.setTimeout(Math.min(silenceMs, Math.ceil(left)));
  });
}

/**
 * The same listener, which is given one request of a connection at a time. Node holds the response
 * of a pipelined request back until the one before is sent, and emits no `close` for it. Node
 * accepts one connection in a turn of the event loop, so pipelined requests begin in turns of their
 * own: a crowd of them would keep new connections waiting for seconds.
 */
function withoutPipelining(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  const ready: Parameters<RequestListener>[] = [];
  function beginNext(): void {
    const next = ready.shift();
    if (next === undefined) return;
    if (ready.length > 0) setImmediate(beginNext);
    listener(...next);
  }
  return (request, response) => {
    if (response.socket !== null) return listener(request, response);
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > MAX_PIPELINED) return void socket.destroy();
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      if (ready.push([request, response]) === 1) setImmediate(beginNext);
    });
  };
}

const INTERNAL_ERROR =
  'Something went wrong inside the gateway. Quote the x-request-id of this answer when you report it.\n';
const PLAIN_HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Answers 500, or cuts an answer that has begun. */
export const destroyResponse = (response: ServerResponse): void =>
  void (response.headersSent
    ? response.destroy()
    : response.writeHead(500, PLAIN_HEADERS).end(INTERNAL_ERROR));

/** Answers a request whose target cannot be read, and closes its connection. */
export const refuseTarget = (response: ServerResponse): void =>
  void response.writeHead(400, { ...PLAIN_HEADERS, connection: 'close' }).end(INVALID_TARGET);
