// A WebSocket connection below graphql-ws: limits before its acknowledgement, pings, close.
import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CloseCode, type Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { RequestRecord } from '../../telemetry/request-record.ts';

export const PATH = '/graphql';
/** Bytes that a client may send before the acknowledgement: enough for a token. */
const MAX_INIT_BYTES = 8 * 1024;
/** How long a client that is refused may take to close its end. */
const CLOSE_MS = 1_000;
/** Bytes that may wait for a client that reads slowly. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** WebSocket close code (RFC 6455): a normal end. */
const NORMAL = 1000;
/** WebSocket close code (RFC 6455): a message is too big. */
const TOO_BIG = 1009;
/** WebSocket close code (IANA): the client may try again later. */
export const TRY_AGAIN_LATER = 1013;

/** An operation that is open. */
interface Operation {
  readonly exchange: RequestRecord;
  /** Aborted when its client completes it before its end, or when the connection is closed. */
  readonly leaving: AbortController;
}

/** The state of a connection. */
export interface Connection {
  readonly socket: WebSocket;
  readonly incoming: IncomingMessage;
  /** Aborted when the connection is closed. */
  readonly signal: AbortSignal;
  /** Operations that are open, by their ids. */
  readonly operations: Map<string, Operation>;
  /** Value of the Authorization header that the connection stands for. */
  authorization: string | undefined;
  isAcknowledged: boolean;
}

/**
 * The Authorization header that connectionParams stand for: `authorization`, or `token` alone.
 *
 * @returns null when it is no text that a header can hold
 */
export function authorizationIn(params: Readonly<Record<string, unknown>> = {}): string | undefined | null {
  const [, header] = Object.entries(params).find(([name]) => name.toLowerCase() === 'authorization') ?? [];
  const given = header ?? params.token;
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'string' || !/^[\x20-\x7e]*$/.test(given)) return null;
  return given === header ? given : `Bearer ${given}`;
}

/** A connection as the request that opened it, with its token as a header. */
export function requestOf({ incoming, authorization }: Connection, signal: AbortSignal): Request {
  const { host = 'localhost', ...given } = incoming.headers;
  const headers = new Headers(authorization === undefined ? {} : { authorization });
  for (const name of ['x-request-id', 'traceparent', 'tracestate']) {
    const value = given[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  // A socket carries what a POST does: its page is checked when it connects.
  return new Request(`http://${host}${PATH}`, { method: 'POST', headers, signal });
}

export interface ConnectionOptions {
  readonly server: Server<Connection>;
  /** Milliseconds between pings; a client without a pong by the next ping is disconnected. */
  readonly pingMs: number;
  /** Called with what a handler of a message throws. */
  readonly onFault: (error: unknown) => void;
}

/** Closes a connection, and disconnects a client that does not close its end soon. */
export function refuseConnection(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  const late = setTimeout(() => socket.terminate(), CLOSE_MS);
  socket.once('close', () => clearTimeout(late));
}

/**
 * Closes a connection whose client sends more than a token before its acknowledgement; nothing more
 * of it is taken into memory.
 */
function limitInit(raw: Duplex, connection: Connection): void {
  let received = 0;
  const count = ({ length }: Buffer): void => {
    received += length;
    if (connection.isAcknowledged) raw.off('data', count);
    else if (received > MAX_INIT_BYTES) {
      raw.off('data', count);
      refuseConnection(connection.socket, TOO_BIG, `connection_init takes at most ${MAX_INIT_BYTES} bytes`);
      connection.socket.pause();
    }
  };
  // Before ws reads them, and gives the message that they complete.
  raw.prependListener('data', count);
}

function pingEvery(socket: WebSocket, milliseconds: number): void {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const pinging = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, milliseconds);
  socket.once('close', () => clearInterval(pinging));
}

/** Closes a connection that has had no operation for so long, or that reads too slowly. */
export function closeWhenIdle(socket: WebSocket, milliseconds: number, isBusy: () => boolean): void {
  let busyAt = Date.now();
  const looking = setInterval(() => {
    if (isBusy()) busyAt = Date.now();
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.terminate();
    else if (Date.now() - busyAt >= milliseconds) socket.close(NORMAL, 'Idle');
  }, Math.min(milliseconds, 5_000) / 2);
  socket.once('close', () => clearInterval(looking));
}

/** Serves one connection. @param raw - the connection below the WebSocket */
export function openConnection(
  socket: WebSocket,
  raw: Duplex,
  incoming: IncomingMessage,
  { server, pingMs, onFault }: ConnectionOptions,
): Connection {
  const gone = new AbortController();
  setMaxListeners(0, gone.signal);
  const connection: Connection = {
    socket,
    incoming,
    signal: gone.signal,
    operations: new Map(),
    authorization: undefined,
    isAcknowledged: false,
  };
  const fail = (error: unknown): void => {
    onFault(error);
    refuseConnection(socket, CloseCode.InternalServerError, 'Internal server error');
  };
  // A broken frame, or a connection that was reset: ws closes it, and it is the client's fault.
  socket.on('error', () => undefined);
  limitInit(raw, connection);
  pingEvery(socket, pingMs);
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (data) =>
        new Promise((resolve) => {
          // A client that is gone is noticed by `close`.
          if (socket.readyState === socket.OPEN) socket.send(data, () => resolve());
          else resolve();
        }),
      close: (code, reason) => refuseConnection(socket, code ?? NORMAL, reason ?? ''),
      onMessage: (handle) => void socket.on('message', (data) => void handle(String(data)).catch(fail)),
    },
    connection,
  );
  socket.once('close', (code, reason) => {
    gone.abort();
    for (const { leaving } of connection.operations.values()) leaving.abort();
    Promise.resolve(closed(code, String(reason))).catch(onFault);
  });
  return connection;
}
