// Reads the bodies of requests into memory within bounds: bytes of each, bytes and number of all
// that are not complete, by client address, and time. Of a body that goes on, the next piece is read
// when a turn of the event loop has time for it.
import type { IncomingMessage } from 'node:http';
import { createShares, type Shares } from './load-shedding.ts';
import type { Turns } from './turns.ts';

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

/** Opens the reading of bodies. */
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
    /** Bodies that are not complete. */
    get unfinished() {
      return unfinished.used;
    },
  };
}
