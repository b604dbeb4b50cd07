// Writes a sequence as one byte stream: events, parts of a result, and large results in chunks. A
// chunk is made when the client has read the previous one, and other requests get their turn in
// between.
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { withTimeout } from '../../async/timeout.ts';
import { type Body, BUFFER_BYTES, CHUNK_BYTES, type FillBuffer } from './response-body.ts';

export interface StreamOptions<T> {
  /** Serializes a part. Finished bytes may be shared by many streams. */
  readonly write: (part: T) => Uint8Array | string | Body;
  /** What stands before everything, and behind it. */
  readonly opening?: string;
  readonly closing?: string;
  /** What is sent when nothing has come for so many milliseconds. */
  readonly pulse?: { readonly text: string; readonly ms: number } | undefined;
  /** Where the bytes go. When it closes, the source is left; when the source fails, it is cut. */
  readonly connection?: ServerResponse | undefined;
}

/** Milliseconds of work after which other work gets its turn. */
const SLICE_MS = 8;

/** Stands for a turn of the event loop, or a time of silence, that was over first. */
const FIRST = Symbol('first');

const NOTHING = Buffer.alloc(0);

/** Fills buffers with bytes that are there. */
function fillFrom(bytes: Uint8Array): FillBuffer {
  let read = 0;
  return (target) => {
    const count = Math.min(bytes.length - read, target.length);
    target.set(bytes.subarray(read, read + count));
    read += count;
    return count;
  };
}

/** Makes the bytes of a stream, a piece at a time. */
class Pieces<T> {
  readonly #source: AsyncIterator<T>;
  readonly #options: StreamOptions<T>;
  #coming: Promise<IteratorResult<T>> | undefined;
  #fill: FillBuffer | undefined;
  #opening: string;
  #hasBegun = false;
  #hasEnded = false;
  #turnBegan = performance.now();

  constructor(source: AsyncIterator<T>, options: StreamOptions<T>) {
    this.#source = source;
    this.#options = options;
    this.#opening = options.opening ?? '';
  }

  /** The next bytes; undefined behind the last. */
  async next(): Promise<Uint8Array | undefined> {
    if (performance.now() - this.#turnBegan > SLICE_MS) {
      await turn();
      this.#turnBegan = performance.now();
    }
    const opening = this.#opening;
    this.#opening = '';
    if (opening !== '') return Buffer.from(opening);
    let buffer = NOTHING;
    let filled = 0;
    while (filled + BUFFER_BYTES <= CHUNK_BYTES) {
      if (this.#fill === undefined) {
        if (this.#hasEnded) break;
        const ready = await this.#advance(filled);
        if (ready === FIRST) break;
        if (ready !== undefined) return ready;
      }
      // Events are sent as they are: only what is made piece by piece needs a buffer. Each chunk has
      // its own, because nothing tells when the previous one has been sent.
      if (filled === 0) buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const count = this.#fill?.(buffer.subarray(filled)) ?? 0;
      filled += count;
      if (count === 0) this.#fill = undefined;
    }
    this.#hasBegun = true;
    return filled === 0 ? undefined : buffer.subarray(0, filled);
  }

  /** Leaves the source. */
  async leave(): Promise<void> {
    this.#hasEnded = true;
    await this.#source.return?.();
  }

  /**
   * Moves on to the next part.
   *
   * @param filled - bytes in the buffer: parts of the same turn join them, because each write has a
   *   fixed cost
   * @returns bytes to send by themselves, or a marker to flush the buffer
   */
  async #advance(filled: number): Promise<Uint8Array | typeof FIRST | undefined> {
    const { write, closing = '', pulse } = this.#options;
    this.#coming ??= this.#source.next();
    const coming = this.#coming;
    // It may fail when nothing waits for it any more.
    coming.catch(() => undefined);
    if (filled > 0 && (!this.#hasBegun || (await Promise.race([coming, turn(FIRST)])) === FIRST))
      return FIRST;
    const next =
      pulse === undefined || filled > 0
        ? await coming
        : await withTimeout(coming, pulse.ms, (): typeof FIRST => FIRST);
    if (next === FIRST) return Buffer.from(pulse?.text ?? '');
    this.#coming = undefined;
    if (next.done === true) {
      this.#hasEnded = true;
      this.#fill = fillFrom(Buffer.from(closing));
      return undefined;
    }
    const made = write(next.value);
    const bytes = typeof made === 'string' ? Buffer.from(made) : made;
    if (!(bytes instanceof Uint8Array)) this.#fill = bytes.open();
    else if (filled === 0) return bytes;
    else this.#fill = fillFrom(bytes);
    return undefined;
  }
}

/** The stream. Not a generator: a waiting source is closed at once, not when it continues. */
export function streamOf<T>(source: AsyncIterable<T>, options: StreamOptions<T>): ReadableStream<Uint8Array> {
  const { connection } = options;
  const pieces = new Pieces(source[Symbol.asyncIterator](), options);
  const leave = (): void => void pieces.leave().catch(() => undefined);
  if (connection?.destroyed === true) leave();
  else connection?.once('close', leave);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const bytes = await pieces.next();
          if (bytes !== undefined) return controller.enqueue(bytes);
          connection?.off('close', leave);
          controller.close();
        } catch (error) {
          // A client must not take what has come for the whole.
          connection?.destroy();
          if (connection === undefined) controller.error(error);
          else controller.close();
        }
      },
      cancel: () => pieces.leave(),
    },
    { highWaterMark: 0 },
  );
}
