// A node:http server with timeouts against slow clients: for headers, bodies, and for reading the response;
// how many connections are open, in total and by client address; and listeners around the gateway's: one
// request of a connection at a time, requests whose address cannot be read, and plain answers in place of
// those that the gateway fails to make, where the server adapter would answer with a stack trace.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { clientIp } from '../auth/node-request.ts';
import { isWebSocketRequest } from '../websocket/upgrade.ts';
import { createShares } from './load-shedding.ts';

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

export interface HttpHandler {
  readonly listener: RequestListener;
  readonly connections: Pick<ConnectionLimits, 'watch'>;
}

/** From Node 24.9 on; older ones take every offer of a protocol for an upgrade. */
const UPGRADES = { shouldUpgradeCallback: isWebSocketRequest };

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
    // A client that goes on over its connection would be cut off in the middle of a request.
    if (!server.listening) response.setHeader('connection', 'close');
    listener(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersMs,
      requestTimeout: Math.max(limits.requestMs ?? REQUEST_MS, headersMs + bodyMs),
      connectionsCheckingInterval: limits.checkEveryMs ?? CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      ...UPGRADES,
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

export type ConnectionLimits = ReturnType<typeof createConnectionLimits>;

export interface ConnectionLimitOptions {
  /** Connections at a time; 0: any number. */
  readonly maxConnections: number;
  /**
   * Whether connections come from the clients themselves, so that each address has its share. Those
   * of a proxy all come from its address.
   */
  readonly isShared: boolean;
  /** Called for each connection that is closed to make room for a newer one beyond the limit. */
  readonly onCut: () => void;
  /** Called for each connection when it is accepted. */
  readonly onAccepted: () => void;
}

/** Connections beyond the bound. With more, the one that came first is closed. */
const MAX_SURPLUS = 64;

export function createConnectionLimits(options: ConnectionLimitOptions) {
  const { maxConnections, isShared, onCut, onAccepted } = options;
  const shares = createShares(maxConnections);
  const addresses = new WeakMap<Socket, string | undefined>();
  /** In the order in which they came. */
  const surplus = new Set<Socket>();

  function isWithin(socket: Socket): boolean {
    if (!surplus.has(socket)) return true;
    if (!shares.take(addresses.get(socket), 1)) return false;
    surplus.delete(socket);
    return true;
  }

  function connected(socket: Socket): void {
    onAccepted();
    // A client may be gone before its connection is taken.
    const address = isShared ? clientIp({ headers: {}, socket }, 0) : undefined;
    addresses.set(socket, address);
    surplus.add(socket);
    socket.once('close', () => {
      if (!surplus.delete(socket)) shares.give(address, 1);
    });
    if (isWithin(socket) || surplus.size <= MAX_SURPLUS) return;
    for (const oldest of surplus) {
      oldest.destroy();
      onCut();
      break;
    }
  }

  return {
    /** Watches the connections of a server. */
    watch: (server: Server) => void server.on('connection', connected),
    /** Whether a connection is within the bound; one that is not may be later. */
    isWithin,
    get open() {
      return shares.used + surplus.size;
    },
  };
}

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

/** Whether the address of a request can be read at all: its Host header and its path make a URL. */
function isParsableUrl({ headers: { host = 'localhost' }, url = '/' }: IncomingMessage): boolean {
  if (host === lastAddress.host && url === lastAddress.url) return true;
  if (!URL.canParse(url, `http://${host}`) || !URL.canParse(`http://${host}${url}`)) return false;
  lastAddress = { host, url };
  return true;
}
/** What could be read last: most requests go where others have just gone. */
let lastAddress = { host: '', url: '' };

const ABSOLUTE_FORM = /^https?:\/\//i;

/**
 * Turns an absolute-form request target (`GET http://host/path`, as proxies send it) into a path.
 * Its host replaces the Host header (RFC 9112, section 3.2.2).
 */
export function toOriginForm(request: IncomingMessage): void {
  const { url = '' } = request;
  if (!ABSOLUTE_FORM.test(url) || !URL.canParse(url)) return;
  const { host, pathname, search } = new URL(url);
  request.url = pathname + search;
  request.headers.host = host;
}

/** The same listener, which refuses requests whose address cannot be read. */
export const wrapListener =
  (listener: RequestListener): RequestListener =>
  (request: IncomingMessage, response: ServerResponse & { req: IncomingMessage }) => {
    if (isParsableUrl(request)) return listener(request, response);
    response
      .writeHead(400, { ...PLAIN, connection: 'close' })
      .end('The address of this request cannot be read.\n');
  };
