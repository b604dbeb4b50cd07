// A stream of bytes that can be looked at ahead, taken by length and given back. It knows nothing of what they mean.
import { setImmediate as turn } from 'node:timers/promises';
import { ArchiveError } from './archive-error.ts';

/** Milliseconds that byte work may go on before other work of the process gets its turn. */
const SLICE = 8;

/** Reads from one side only; every method but `back`, `close` and those that end in `Now` waits for bytes where there are none yet. */
export interface ByteSource {
  /** Bytes consumed so far. */
  readonly position: number;
  /** The next `count` bytes without consuming them; fewer only at the end of the stream. */
  peek(count: number): Promise<Uint8Array>;
  /** Consumes exactly `count` bytes. @throws ArchiveError `truncated` */
  take(count: number): Promise<Uint8Array>;
  /**
   * The same two where nobody has to be waited for, as most often within an archive of hundreds of small entries, for which waiting takes
   * longer than reading; undefined where somebody has to, other work of the process among them.
   */
  peekNow(count: number): Uint8Array | undefined;
  takeNow(count: number): Uint8Array | undefined;
  /** Consumes between 1 and `most` bytes, whatever has arrived; null at the end. */
  some(most: number): Promise<Uint8Array | null>;
  /** All that is left, without consuming it; undefined where that is more than `most` bytes, and ever after. */
  rest(most: number): Promise<Uint8Array | undefined>;
  /** Gives back the last `count` bytes of what `some` just returned. */
  back(count: number): void;
  /** Ends the stream where nobody wants the rest. */
  close(): Promise<void>;
}

/** Wraps a stream. Lets other work run in between, even when all bytes are there already. */
export function byteSource(stream: AsyncIterable<Uint8Array>): ByteSource {
  const iterator = stream[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array(0);
  let at = 0;
  let before = 0;
  let ended = false;
  let long = false;
  let rested = performance.now();

  async function fill(count: number): Promise<void> {
    if (performance.now() - rested > SLICE) {
      await turn();
      rested = performance.now();
    }
    const pieces: Uint8Array[] = [];
    let have = held.length - at;
    while (have < count && !ended) {
      const next = await iterator.next();
      if (next.done === true) ended = true;
      else if (next.value.length > 0) {
        pieces.push(next.value);
        have += next.value.length;
      }
    }
    if (pieces.length === 0) return;
    before += at;
    const rest = held.subarray(at);
    const first = pieces[0];
    const joined =
      rest.length === 0 && pieces.length === 1 && first !== undefined
        ? first
        : Buffer.concat([rest, ...pieces]);
    // As a Buffer every part that is taken of it would be one, which costs ten times as much to make.
    held = new Uint8Array(joined.buffer, joined.byteOffset, joined.byteLength);
    at = 0;
  }

  const isHere = (count: number): boolean => held.length - at >= count && performance.now() - rested <= SLICE;

  return {
    get position() {
      return before + at;
    },
    peekNow: (count) => (isHere(count) ? held.subarray(at, at + count) : undefined),
    takeNow(count) {
      if (!isHere(count)) return undefined;
      at += count;
      return held.subarray(at - count, at);
    },
    async peek(count) {
      await fill(count);
      return held.subarray(at, at + count);
    },
    async take(count) {
      await fill(count);
      if (held.length - at < count) throw new ArchiveError('truncated', 'The archive ends too early.');
      at += count;
      return held.subarray(at - count, at);
    },
    async some(most) {
      await fill(1);
      const piece = held.subarray(at, at + most);
      at += piece.length;
      return piece.length === 0 ? null : piece;
    },
    async rest(most) {
      if (long) return undefined;
      await fill(most + 1);
      long = held.length - at > most;
      return long ? undefined : held.subarray(at);
    },
    back(count) {
      at -= count;
    },
    async close() {
      if (!ended) await iterator.return?.();
      ended = true;
    },
  };
}
