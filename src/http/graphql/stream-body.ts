// Writes a sequence as one byte stream: events, parts of a result, and large results in chunks.
// A chunk is made when the client has read the previous one, and other requests get their turn in
// between. Serializes an answer that begins before its end is known: as one JSON body, or as parts
// of `@stream`.
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { withTimeout } from '../../async/deadline.ts';
import { ChunkWriter } from './chunk-writer.ts';
import type { Body } from './serialize-result.ts';

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

/** Makes the bytes of a stream, a chunk at a time. */
class Chunks<T> {
  readonly #source: AsyncIterator<T>;
  readonly #options: StreamOptions<T>;
  readonly #writer = new ChunkWriter();
  #coming: Promise<IteratorResult<T>> | undefined;
  /** Writes the latest part. */
  #writing: Iterator<Uint8Array> | undefined;
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
    for (;;) {
      const full = this.#writing?.next();
      if (full?.done === false) return full.value;
      this.#writing = undefined;
      if (this.#hasEnded) return this.#writer.take();
      const ready = await this.#advance();
      if (ready === FIRST) return this.#writer.take();
      if (ready !== undefined) return ready;
    }
  }

  /** Makes no more of them. */
  end(): void {
    this.#hasEnded = true;
  }

  /**
   * Moves on to the next part. Parts of the same turn join what is written, because each write has a
   * fixed cost; events are sent as they are.
   *
   * @returns bytes to send by themselves, or a marker to send what is written
   */
  async #advance(): Promise<Uint8Array | typeof FIRST | undefined> {
    const { write, closing = '', pulse } = this.#options;
    const { hasBytes } = this.#writer;
    this.#coming ??= this.#source.next();
    const coming = this.#coming;
    // It may fail when nothing waits for it any more.
    coming.catch(() => undefined);
    if (hasBytes && (!this.#hasBegun || (await Promise.race([coming, turn(FIRST)])) === FIRST)) {
      this.#hasBegun = true;
      return FIRST;
    }
    const next =
      pulse === undefined || hasBytes
        ? await coming
        : await withTimeout(coming, pulse.ms, (): typeof FIRST => FIRST);
    if (next === FIRST) return Buffer.from(pulse?.text ?? '');
    this.#coming = undefined;
    this.#hasEnded ||= next.done === true;
    const made = next.done === true ? closing : write(next.value);
    const bytes = typeof made === 'string' ? Buffer.from(made) : made;
    if (!(bytes instanceof Uint8Array)) this.#writing = this.#writer.add(bytes.pieces);
    else if (hasBytes) this.#writing = this.#writer.addBytes(bytes);
    else return bytes;
    return undefined;
  }
}

/** Closes a Readable even if it has not been read: an iterator that has not begun would leave it open. */
export async function leaveSource(source: AsyncIterable<unknown>, iterator?: AsyncIterator<unknown>) {
  // That it was given up is no news.
  if (source instanceof Readable) source.on('error', () => undefined).destroy();
  else await iterator?.return?.();
}

/** The stream. Not a generator: a waiting source is closed at once, not when it continues. */
export function streamOf<T>(source: AsyncIterable<T>, options: StreamOptions<T>): ReadableStream<Uint8Array> {
  const { connection } = options;
  const iterator = source[Symbol.asyncIterator]();
  const chunks = new Chunks(iterator, options);
  const cancel = (): Promise<void> => {
    chunks.end();
    return leaveSource(source, iterator);
  };
  const leave = (): void => void cancel().catch(() => undefined);
  if (connection?.destroyed === true) leave();
  else connection?.once('close', leave);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const bytes = await chunks.next();
          if (bytes !== undefined) return controller.enqueue(bytes);
          controller.close();
        } catch (error) {
          // A client must not take what has come for the whole.
          connection?.destroy();
          if (connection === undefined) controller.error(error);
          else controller.close();
        }
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
}
