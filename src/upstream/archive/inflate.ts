// Raw deflate data of known or unknown length: inflated as they arrive on zlib's own threads, or at once where they are few. It
// knows no archive format.
import { createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { ArchiveError } from './archive-error.ts';
import type { ByteSource } from './byte-source.ts';

/** Compressed bytes given to zlib at once: at most about a thousand times as many come out before the next look at the limits. */
const STEP = 16 * 1024;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** Data that zlib cannot read, as our error; any other error as it is. */
const asDamage = (error: unknown): unknown =>
  codeOf(error).startsWith('Z_')
    ? new ArchiveError('corrupt', 'Compressed data are damaged.', undefined, { cause: error })
    : error;

/** Writes one piece and waits until zlib has taken what it wants of it. @returns the count of bytes taken */
function feed(engine: InflateRaw, piece: Uint8Array): Promise<number> {
  const before = engine.bytesWritten;
  return new Promise((resolve, reject) => {
    engine.once('error', reject);
    const done = () => {
      engine.off('error', reject);
      engine.off('end', done);
      // What is still buffered comes out as 'data' events now.
      while (engine.read() !== null);
      resolve(engine.bytesWritten - before);
    };
    engine.once('end', done);
    engine.write(piece, (error) => (error ? reject(error) : done()));
  });
}

function finish(engine: InflateRaw): Promise<void> {
  return new Promise((resolve, reject) => {
    engine.once('error', reject);
    engine.once('end', resolve);
    engine.end();
  });
}

/**
 * Inflates what the source holds next, and leaves the source right behind the compressed data.
 *
 * @param size - compressed bytes; undefined: the data say themselves where they end
 * @param check - told of each piece's length before it is kept; throws to stop
 * @throws ArchiveError `corrupt` or `truncated`
 */
export async function* inflate(
  source: ByteSource,
  size: number | undefined,
  check: (length: number) => void,
): AsyncGenerator<Uint8Array> {
  const engine = createInflateRaw({ chunkSize: 64 * 1024 });
  let ready: Uint8Array[] = [];
  let stopped: unknown;
  engine.on('data', (piece: Uint8Array) => {
    // Behind a stop the rest of this step, at most some MiB, is thrown away.
    if (stopped !== undefined) return;
    try {
      check(piece.length);
      ready.push(piece);
    } catch (error) {
      stopped = error;
    }
  });
  // An error that comes after the last listener was taken off must not end the process.
  engine.on('error', () => undefined);
  const emptied = () => {
    if (stopped !== undefined) throw stopped;
    const pieces = ready;
    ready = [];
    return pieces;
  };
  let left = size ?? Number.POSITIVE_INFINITY;
  try {
    for (let ended = false; left > 0 && !ended; ) {
      const piece = await source.some(Math.min(left, STEP));
      if (piece === null) throw new ArchiveError('truncated', 'The archive ends inside an entry.');
      const taken = await feed(engine, piece);
      yield* emptied();
      left -= taken;
      ended = taken < piece.length;
      if (ended) source.back(piece.length - taken);
    }
    if (size !== undefined) {
      if (left > 0) throw new ArchiveError('corrupt', 'Compressed data end before the entry does.');
      await finish(engine);
      yield* emptied();
    }
  } catch (error) {
    if (stopped !== undefined) throw stopped;
    throw asDamage(error);
  } finally {
    engine.destroy();
  }
}

/** Bytes, inflated, that are inflated at once: up to ten milliseconds, half of what zlib's threads and the way to them take. */
export const SMALL_ENTRY_BYTES = 4 * 1024 ** 2;

const isInflated = (value: unknown): value is { buffer: Buffer; engine: { bytesWritten: number } } =>
  typeof value === 'object' && value !== null && 'buffer' in value && 'engine' in value;

/**
 * Inflates data of known lengths that are here already. For 500 structures this takes a seventh of the time of as many streams,
 * and an output buffer one byte longer than needed half of that of zlib's own: zlib then sees the end without asking for more.
 *
 * @param size - bytes that come out
 * @throws ArchiveError `corrupt`, or `size` when more comes out
 */
export function inflateSmallSync(data: Uint8Array, size: number): Uint8Array {
  try {
    // `info` makes zlib say how far it read, which its types leave out.
    const found: unknown = inflateRawSync(data, {
      chunkSize: Math.max(64, size + 1),
      maxOutputLength: Math.max(1, size),
      info: true,
    });
    if (!isInflated(found)) throw new TypeError('zlib did not say how far it read.');
    if (found.engine.bytesWritten < data.length)
      throw new ArchiveError('corrupt', 'Compressed data end before the entry does.');
    return found.buffer;
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE')
      throw new ArchiveError('size', 'An entry is longer than it says.', undefined, { cause: error });
    throw asDamage(error);
  }
}

/**
 * Inflates data that say themselves where they end, from all that is left of an archive.
 *
 * @returns undefined when they are damaged or many: {@link inflate} then goes through them with care and says what is wrong
 */
export function inflateUnknownLength(rest: Uint8Array): { data: Uint8Array; taken: number } | undefined {
  try {
    const found: unknown = inflateRawSync(rest, {
      chunkSize: Math.min(Math.max(64, 4 * rest.length), SMALL_ENTRY_BYTES),
      maxOutputLength: SMALL_ENTRY_BYTES,
      info: true,
    });
    return isInflated(found) ? { data: found.buffer, taken: found.engine.bytesWritten } : undefined;
  } catch {
    return undefined;
  }
}
