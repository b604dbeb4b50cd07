// GraphQL over WebSocket (graphql-transport-ws), served by graphql-ws at the path of GraphQL over
// HTTP. The token in connectionParams stands for the Authorization header.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloseCode } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { findExcess } from '../../upstream/json/json-bounds.ts';
import { CLIENT_BOUNDS, excessText } from '../server/json-body.ts';
import {
  createSocketOperations,
  type Params,
  type SocketConnection,
  type SocketGateway,
} from './operations.ts';
import { refuseUpgrade, type UpgradeRules, upgradeRefusal } from './upgrade.ts';

export interface WebSocketOptions extends UpgradeRules {
  /** Bytes of one message at most. */
  readonly maxBytes: number;
  /** Sockets that may be open at the same time. */
  readonly maxSockets?: number;
  /** Time between two pings; a client without a pong by the next one is disconnected. */
  readonly pingMs?: number;
}

/** Open sockets. */
export interface SocketServer {
  /**
   * Takes no new connections and operations, and closes all connections with 1001 when their
   * operations have been answered. Complete the streams before.
   *
   * @param milliseconds - after which connections are closed all the same
   */
  close(milliseconds?: number): Promise<void>;
}

/** Half of the connections that the server takes. */
const MAX_SOCKETS = 2000;
/** Bytes that a client may send before its acknowledgement: enough for a token. */
const MAX_INIT_BYTES = 8 * 1024;
/** How long a client may take to close its end. */
const CLOSE_TIMEOUT_MS = 1_000;
/** How long operations may take to end when the server stops, where `close` does not say. */
const DRAIN_TIMEOUT_MS = 2_000;
const DRAIN_INTERVAL_MS = 20;
/** Bytes of the reason in a close frame (RFC 6455, section 5.5). */
const MAX_REASON_BYTES = 123;

/** A text that fits into a close frame. */
const closeReason = (text: string): string =>
  Buffer.byteLength(text) <= MAX_REASON_BYTES ? text : `${text.slice(0, MAX_REASON_BYTES / 4)}…`;

/** A socket that is closed by a message beyond the bounds, as by one that is too large. */
class BoundedSocket extends WebSocket {
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    const [message] = args;
    const excess =
      event === 'message' && message instanceof Uint8Array ? findExcess(message, CLIENT_BOUNDS) : null;
    if (excess === null) return super.emit(event, ...args);
    this.close(CloseCode.BadRequest, closeReason(`The message has ${excessText(excess, CLIENT_BOUNDS)}`));
    return true;
  }
}

/** Serves GraphQL over WebSocket on a node server. */
export function attachWebSocket(
  server: Server,
  gateway: SocketGateway,
  options: WebSocketOptions,
): SocketServer {
  const { maxBytes, maxSockets = MAX_SOCKETS, pingMs } = options;
  // The types of ws lack `closeTimeout`.
  const socketOptions = {
    noServer: true,
    maxPayload: maxBytes,
    closeTimeout: CLOSE_TIMEOUT_MS,
    WebSocket: BoundedSocket,
  };
  const sockets = new WebSocketServer(socketOptions);
  const operations = createSocketOperations(gateway);
  const graphql = useServer<Params, Partial<SocketConnection>>(operations.hooks, sockets, pingMs);
  let closing: Promise<void> | undefined;

  sockets.on('connection', (socket: WebSocket, { socket: raw }: IncomingMessage) => {
    // graphql-ws prints errors of clients, such as a message that is too large; ws has closed the
    // socket.
    socket.removeAllListeners('error').on('error', () => undefined);
    const before = raw.bytesRead;
    const limitInit = (): void => {
      if (operations.isAcknowledged(socket)) raw.off('data', limitInit);
      else if (raw.bytesRead - before > MAX_INIT_BYTES) socket.terminate();
    };
    raw.on('data', limitInit);
  });

  const upgrade = (request: IncomingMessage, raw: Duplex, head: Buffer): void => {
    raw.on('error', () => raw.destroy());
    const isFull = sockets.clients.size >= maxSockets;
    const refusal =
      upgradeRefusal(request, options) ?? (isFull ? { status: '503 Service Unavailable' } : null);
    if (refusal !== null) refuseUpgrade(raw, refusal);
    else
      sockets.handleUpgrade(request, raw, head, (socket) => {
        sockets.emit('connection', socket, request);
      });
  };
  server.on('upgrade', upgrade);

  async function closeAll(milliseconds: number): Promise<void> {
    server.off('upgrade', upgrade);
    operations.stop();
    const deadline = performance.now() + milliseconds;
    while (operations.openCount > 0 && performance.now() < deadline) await sleep(DRAIN_INTERVAL_MS);
    await graphql.dispose();
  }

  return {
    close(milliseconds = DRAIN_TIMEOUT_MS) {
      closing ??= closeAll(milliseconds);
      return closing;
    },
  };
}
