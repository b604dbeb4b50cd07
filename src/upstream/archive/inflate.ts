// Raw deflate data of known or unknown length, inflated as they arrive on zlib's own threads. It knows no archive format.
import { createInflateRaw, type InflateRaw } from 'node:zlib';
import { ArchiveError } from './archive-error.ts';
import type { ByteSource } from './byte-source.ts';

/** Compressed bytes given to zlib at once: at most about a thousand times as many come out before the next look at the limits. */
const STEP = 16 * 1024;

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
    if (error instanceof ArchiveError) throw error;
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
      throw new ArchiveError('corrupt', 'Compressed data are damaged.', undefined, { cause: error });
    }
    throw error;
  } finally {
    engine.destroy();
  }
}
