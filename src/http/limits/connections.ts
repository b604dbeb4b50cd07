// Bounds of connections: how many are open, in total and by client address, and how many bytes and how
// long a client may leave waiting in them.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientIp } from '../auth/node-request.ts';
import { createShares, type Shares } from './load-shedding.ts';

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

/** Creates the limits of one process. */
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
    /** Connections that are open. */
    get open() {
      return shares.used + surplus.size;
    },
  };
}

export interface SlowReaderLimits {
  /**
   * How long a client may leave what waits for it, beside the time that its bytes take at the least
   * rate.
   */
  readonly timeoutMs: number;
  /** Bytes buffered for clients. */
  readonly buffered: Shares;
  /** Called for each client that is disconnected. */
  readonly onCut: (reason: 'slow_reader' | 'too_much_unread') => void;
}

/** Bytes that a client has to take in a second, at least. */
const LEAST_RATE = 65_536;
const MAX_CHECK_MS = 500;

interface Connection {
  address: string;
  /** Bytes that wait, as they were counted. */
  counted: number;
  /** When bytes began to wait; 0 while none do. */
  since: number;
  /** By when the client must have taken what had been written by `since`. */
  until: number;
  written: number;
}

/** Opens the watch. */
export function openSlowReaders({ timeoutMs, buffered, onCut }: SlowReaderLimits) {
  const connections = new Map<Socket, Connection>();

  function count(connection: Connection, bytes: number): void {
    if (bytes !== connection.counted) buffered.force(connection.address, bytes - connection.counted);
    connection.counted = bytes;
  }
  function cut(socket: Socket, connection: Connection, reason: Parameters<typeof onCut>[0]): void {
    count(connection, 0);
    connections.delete(socket);
    socket.destroy();
    onCut(reason);
  }

  /** Whether a client has taken too little of what waits for it. */
  function isTooSlow(socket: Socket, connection: Connection, now: number): boolean {
    const { bytesWritten, writableLength } = socket;
    if (connection.since > 0) {
      const isTaken = bytesWritten - writableLength >= connection.written;
      if (!isTaken) return now > connection.until;
    }
    connection.since = now;
    connection.until = now + timeoutMs + (writableLength / LEAST_RATE) * 1000;
    connection.written = bytesWritten;
    return false;
  }

  function check(): void {
    const now = performance.now();
    const waiting: (readonly [Socket, Connection])[] = [];
    for (const [socket, connection] of connections) {
      count(connection, socket.writableLength);
      if (connection.counted === 0) connection.since = 0;
      else if (isTooSlow(socket, connection, now)) cut(socket, connection, 'slow_reader');
      else waiting.push([socket, connection]);
    }
    cutOver(waiting);
  }

  /**
   * For addresses with more unread bytes than their share: disconnects the longest-waiting clients,
   * except the last one.
   */
  function cutOver(waiting: (readonly [Socket, Connection])[]): void {
    const left = new Map<string, number>();
    for (const [, { address }] of waiting) left.set(address, (left.get(address) ?? 0) + 1);
    waiting.sort(([, a], [, b]) => a.since - b.since);
    for (const [socket, connection] of waiting) {
      const { address } = connection;
      const others = (left.get(address) ?? 0) - 1;
      if (others === 0 || !buffered.isOver(address)) continue;
      left.set(address, others);
      cut(socket, connection, 'too_much_unread');
    }
  }

  const checking = setInterval(check, Math.min(MAX_CHECK_MS, timeoutMs / 4)).unref();
  return {
    /**
     * Watches a connection until it is closed.
     *
     * @param address - of the client, as of its last request
     */
    watch(socket: Socket, address: string): void {
      const known = connections.get(socket);
      if (known === undefined) {
        const connection = { address, counted: 0, since: 0, until: 0, written: 0 };
        connections.set(socket, connection);
        socket.once('close', () => {
          count(connection, 0);
          connections.delete(socket);
        });
      } else if (known.address !== address) {
        const { counted } = known;
        count(known, 0);
        known.address = address;
        count(known, counted);
      }
    },
    close: () => clearInterval(checking),
  };
}
