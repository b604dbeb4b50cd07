// Inflates raw deflate data of known or unknown length: in zlib's threads as they arrive, or at
// once when small.
import { createInflateRaw, type InflateRaw, inflateRawSync } from 'node:zlib';
import { ArchiveError } from './archive-limits.ts';
import type { ByteSource } from './byte-source.ts';

/**
 * Compressed bytes per write to zlib, which yield at most some thousand times as many before the
 * next limit check.
 */
const STEP = 16 * 1024;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** Data that zlib cannot read, as our error; any other error as it is. */
const asDamage = (error: unknown): unknown =>
  codeOf(error).startsWith('Z_')
    ? new ArchiveError('corrupt', 'Compressed data are damaged.', undefined, { cause: error })
    : error;

/**
 * Writes one chunk and waits until zlib has consumed what it needs.
 *
 * @returns the number of bytes
 */
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
 * Inflates the next data of the source, and leaves the source right behind them.
 *
 * @param size - compressed bytes; undefined: the data mark their own end
 * @param check - called with each chunk's length before it is held; throws to stop
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

/**
 * Inflated bytes up to which data are inflated at once: ten milliseconds at most, half the time of
 * a thread.
 */
export const SMALL_ENTRY_BYTES = 4 * 1024 ** 2;

const isInflated = (value: unknown): value is { buffer: Buffer; engine: { bytesWritten: number } } =>
  typeof value === 'object' && value !== null && 'buffer' in value && 'engine' in value;

/** Inflates at once, and says how far zlib has read, which `info` brings and its types leave out. */
function inflateNow(packed: Uint8Array, chunkSize: number, maxOutputLength: number) {
  const found: unknown = inflateRawSync(packed, {
    chunkSize: Math.max(64, chunkSize),
    maxOutputLength,
    info: true,
  });
  if (!isInflated(found)) throw new TypeError('zlib did not say how far it read.');
  return { data: found.buffer, taken: found.engine.bytesWritten };
}

/**
 * Inflates data of known lengths at once, in a seventh of the time of streams for 500 structures.
 * The output buffer is one byte longer than needed, so that zlib sees the end without asking for
 * more.
 *
 * @param size - bytes that come out
 * @throws ArchiveError `corrupt`, or `size` when more comes out
 */
export function inflateSmallSync(data: Uint8Array, size: number): Uint8Array {
  try {
    const found = inflateNow(data, size + 1, Math.max(1, size));
    if (found.taken < data.length)
      throw new ArchiveError('corrupt', 'Compressed data end before the entry does.');
    return found.data;
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE')
      throw new ArchiveError('size', 'An entry is longer than it says.', undefined, { cause: error });
    throw asDamage(error);
  }
}

/**
 * Inflates data that mark their own end, from the rest of an archive.
 *
 * @returns undefined when they are damaged or large: {@link inflate} then reports what is wrong
 */
export function inflateUnknownLength(rest: Uint8Array): { data: Uint8Array; taken: number } | undefined {
  try {
    return inflateNow(rest, Math.min(4 * rest.length, SMALL_ENTRY_BYTES), SMALL_ENTRY_BYTES);
  } catch {
    return undefined;
  }
}
