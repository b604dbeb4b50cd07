// Limits open connections, in total and per client address. The path is known only after the
// request head, so a few connections beyond the limit are accepted: health checks are answered on
// them, all other requests are refused.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientIp } from '../auth/node-request.ts';
import { createShares } from './shares.ts';

export interface ConnectionLimits {
  /** Watches the connections of a server. */
  watch(server: Server): void;
  /** Whether a connection is within the bound; one that is not may be later. */
  isWithin(socket: Socket): boolean;
  /** Connections that are open. */
  readonly open: number;
}

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
export function createConnectionLimits(options: ConnectionLimitOptions): ConnectionLimits {
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
    watch: (server) => void server.on('connection', connected),
    isWithin,
    get open() {
      return shares.used + surplus.size;
    },
  };
}
