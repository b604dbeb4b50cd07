// Bounds of the bytes that are held for clients. Reads the bodies of requests into memory: bytes of each,
// bytes and number of all that are not complete, by client address, and time; of a body that goes on, the
// next piece is read when a turn of the event loop has time for it. Of answers: how many bytes and how long
// a client may leave waiting in its connections.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createShares, type Shares, type Turns } from './load-shedding.ts';

/** Why a body was not read to its end. */
export type BodyFailure = 'too_large' | 'too_slow' | 'too_many' | 'no_memory';

export interface BodyLimits {
  /** Bytes of one body. */
  readonly maxBytes: number;
  /** Bodies that are not complete; 0: any number. */
  readonly maxUnfinished: number;
  /** Milliseconds from the head of a request to the end of its body. */
  readonly timeoutMs: number;
  /** Bytes buffered for clients. */
  readonly buffered: Shares;
  readonly turns: Pick<Turns, 'begin'>;
}

export type RequestBodies = ReturnType<typeof openRequestBodies>;

const EMPTY: Buffer = Buffer.alloc(0);

/** Bytes of a body that says how long it is; undefined where it does not. */
function announcedLength({ headers }: IncomingMessage): number | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return length === undefined || encoding !== undefined ? undefined : Number(length);
}

export function openRequestBodies(limits: BodyLimits) {
  const { maxBytes, maxUnfinished, timeoutMs, buffered, turns } = limits;
  const unfinished = createShares(maxUnfinished);

  /**
   * Reads a body. What it takes of memory is counted until it is released.
   *
   * @param address - of the client
   * @param done - given the body or why there is none, once; never after the release
   * @returns releases the body; to be called when the request is over, also when its client has
   *   left
   */
  function read(
    incoming: IncomingMessage,
    address: string,
    done: (body: Buffer | BodyFailure) => void,
  ): () => void {
    const announced = announcedLength(incoming);
    // Most bodies arrive in one piece, which is then not copied. Of others the pieces are: each
    // costs more than its bytes.
    let room = EMPTY;
    let bytes = 0;
    let counted = 0;
    let isReading = true;

    const stop = (): void => {
      if (!isReading) return;
      isReading = false;
      clearTimeout(timer);
      incoming.off('data', add).off('end', finish);
      unfinished.give(address, 1);
    };
    const release = (): void => {
      stop();
      buffered.give(address, counted);
      counted = 0;
      room = EMPTY;
    };
    const fail = (failure: BodyFailure): void => {
      release();
      done(failure);
    };
    const finish = (): void => {
      stop();
      done(room.subarray(0, bytes));
    };
    const count = (more: number): boolean => {
      if (!buffered.take(address, more)) return false;
      counted += more;
      return true;
    };
    /**
     * Copies a piece behind what is there, into more room where it needs some.
     *
     * @returns whether there is room
     */
    const append = (chunk: Buffer): boolean => {
      const needed = bytes + chunk.length;
      if (needed > room.length) {
        const size = Math.max(needed, Math.min(2 * room.length, announced ?? maxBytes, maxBytes));
        if (!count(size - room.length)) return false;
        const larger = Buffer.allocUnsafeSlow(size);
        room.copy(larger, 0, 0, bytes);
        room = larger;
      }
      chunk.copy(room, bytes);
      return true;
    };
    const add = (chunk: Buffer): void => {
      const needed = bytes + chunk.length;
      const isWhole = chunk.length === announced;
      if (needed > maxBytes) fail('too_large');
      else if (isWhole ? !count(needed) : !append(chunk)) fail('no_memory');
      if (!isReading) return;
      if (isWhole) room = chunk;
      bytes = needed;
      // To wait for the end of what is complete already would take another turn.
      if (bytes === announced && incoming.complete) finish();
      else if (bytes !== announced) {
        incoming.pause();
        turns.begin(address, () => incoming.resume());
      }
    };

    if (!unfinished.take(address, 1)) {
      isReading = false;
      done('too_many');
      return () => undefined;
    }
    const timer = setTimeout(() => fail('too_slow'), timeoutMs).unref();
    if (announced !== undefined && announced > maxBytes) fail('too_large');
    else incoming.on('data', add).on('end', finish);
    return release;
  }

  /** Reads the rest of a body that is not wanted, a piece in each turn that has time, and drops it. */
  function discard(incoming: IncomingMessage, address: string): void {
    incoming.on('data', () => {
      incoming.pause();
      turns.begin(address, () => incoming.resume());
    });
    incoming.resume();
  }

  return {
    read,
    discard,
    get unfinished() {
      return unfinished.used;
    },
  };
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

/**
 * Opens the watch.
 *
 * @param timeoutMs - for which a client may leave what waits for it, beside the time that its bytes
 *   take at the least rate
 * @param onCut - called for each client that is disconnected
 */
export function openSlowReaders(
  timeoutMs: number,
  buffered: Shares,
  onCut: (reason: 'slow_reader' | 'too_much_unread') => void,
) {
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
