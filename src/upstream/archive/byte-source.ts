// A byte stream with look-ahead, reading by length, and push-back.
import { setImmediate as turn } from 'node:timers/promises';
import { ArchiveError } from './archive-limits.ts';

/** Milliseconds that byte work may go on before other work of the process gets its turn. */
const SLICE = 8;

const endsTooEarly = () => new ArchiveError('truncated', 'The archive ends too early.');

/** For one reader. Every method but `back` waits for bytes that have not arrived. */
export type ByteSource = ReturnType<typeof byteSource>;

/**
 * Wraps a stream, yielding to the event loop in between. Returned bytes are views of the chunks;
 * copies only where they span two: joining all chunks would cost most of reading a large archive in
 * garbage collection.
 *
 * @param onWait - called each time before waiting for bytes or yielding
 */
export function byteSource(stream: AsyncIterable<Uint8Array>, onWait?: () => unknown) {
  const iterator = stream[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array(0);
  let at = 0;
  /** What came behind what is held. */
  const behind: Uint8Array[] = [];
  /** Bytes from here to the end of what is behind. */
  let have = 0;
  let position = 0;
  let ended = false;
  let long = false;
  let rested = performance.now();

  async function fill(count: number): Promise<void> {
    onWait?.();
    if (performance.now() - rested > SLICE) {
      await turn();
      rested = performance.now();
    }
    while (have < count && !ended) {
      const next = await iterator.next();
      if (next.done === true) ended = true;
      else if (next.value.length > 0) {
        // Not a Buffer: subarrays of a Buffer are Buffers, which cost ten times as much to create.
        behind.push(new Uint8Array(next.value.buffer, next.value.byteOffset, next.value.byteLength));
        have += next.value.length;
      }
    }
    skip(0);
  }

  /** Goes on by so many bytes, which are there. */
  function skip(count: number): void {
    at += count;
    have -= count;
    position += count;
    while (at >= held.length && behind.length > 0) {
      at -= held.length;
      held = behind.shift() ?? held;
    }
  }

  /** The next bytes, as many as there are of so many. */
  function view(count: number): Uint8Array {
    const length = Math.min(count, have);
    if (at + length <= held.length) return held.subarray(at, at + length);
    const joined = new Uint8Array(length);
    joined.set(held.subarray(at));
    let to = held.length - at;
    for (const piece of behind) {
      if (to === length) break;
      joined.set(piece.subarray(0, length - to), to);
      to += Math.min(piece.length, length - to);
    }
    return joined;
  }

  function taken(count: number): Uint8Array {
    const bytes = view(count);
    skip(bytes.length);
    return bytes;
  }

  const isHere = (count: number): boolean => have >= count && performance.now() - rested <= SLICE;

  return {
    /** Bytes consumed so far. */
    position: () => position,
    /**
     * The next `count` bytes without consuming them; fewer only at the end of the stream. At once
     * where they are here and the event loop need not run first: an archive has hundreds of entries.
     */
    peek: (count: number): Uint8Array | Promise<Uint8Array> =>
      isHere(count) ? view(count) : fill(count).then(() => view(count)),
    /**
     * Consumes exactly `count` bytes, in the same way.
     *
     * @param endsEarly - the error where the stream ends before
     */
    take: (count: number, endsEarly = endsTooEarly): Uint8Array | Promise<Uint8Array> =>
      isHere(count)
        ? taken(count)
        : fill(count).then(() => {
            if (have < count) throw endsEarly();
            return taken(count);
          }),
    /** Consumes between 1 and `most` bytes, whatever has arrived; null at the end. */
    async some(most: number): Promise<Uint8Array | null> {
      await fill(1);
      const piece = held.subarray(at, at + most);
      // Not on to the next piece: some of it may be given back.
      at += piece.length;
      have -= piece.length;
      position += piece.length;
      return piece.length === 0 ? null : piece;
    },
    /** All that is left, without consuming it; undefined once that is more than `most` bytes. */
    async rest(most: number): Promise<Uint8Array | undefined> {
      if (long) return undefined;
      await fill(most + 1);
      long = have > most;
      return long ? undefined : view(have);
    },
    /** Gives back the last `count` bytes of what `some` just returned. */
    back(count: number) {
      at -= count;
      have += count;
      position -= count;
    },
    /** Ends the stream without reading the rest. */
    async close() {
      if (!ended) await iterator.return?.();
      ended = true;
    },
  };
}
