// One inflater for hundreds of small entries, with one output buffer for them all. `inflateRawSync` makes both anew for each: a quarter of
// the time, and 30 KB a structure outside of the heap, where garbage is collected only when there are 64 MB of it. Node has no public way
// to use an inflater again without waiting, so this leans on two of its internals, as the library that npm itself unpacks with does (minizlib);
// where they are not what they were, everything is inflated the ordinary way. It knows no archive format.
import { constants, createInflateRaw } from 'node:zlib';

/** Bytes that come out at most. */
export const MOST_OUT = 256 * 1024;

/** What is leant on: work without waiting, and the native half of the inflater, which that work closes at its end. */
interface Engine {
  _handle: { close(): void } | null;
  _processChunk(chunk: Uint8Array, flush: number): Uint8Array;
  readonly bytesWritten: number;
  reset(): void;
  removeAllListeners(event: string): unknown;
}

const isHandle = (value: unknown): value is { close(): void } =>
  typeof value === 'object' && value !== null && 'close' in value && typeof value.close === 'function';

const isEngine = (value: object): value is Engine =>
  '_handle' in value &&
  isHandle(value._handle) &&
  '_processChunk' in value &&
  typeof value._processChunk === 'function';

const stayOpen = (): void => undefined;

let engine: Engine | null | undefined;

function openEngine(): Engine | null {
  const made: object = createInflateRaw({ chunkSize: MOST_OUT + 1 });
  return isEngine(made) ? made : null;
}

/**
 * Inflates raw deflate data.
 *
 * @param data - whole
 * @returns how many of the data belong to it and what came out, in a buffer that the next call overwrites; undefined where there is no such
 * inflater, where the data are damaged, or where more than {@link MOST_OUT} comes out: the ordinary way says what is wrong
 */
export function inflateInPlace(data: Uint8Array): { taken: number; inflated: Uint8Array } | undefined {
  if (engine === undefined) engine = openEngine();
  const handle = engine?._handle;
  if (engine == null || handle == null) return undefined;
  const { close } = handle;
  handle.close = stayOpen;
  try {
    const inflated = engine._processChunk(data, constants.Z_FINISH);
    const taken = engine.bytesWritten;
    engine._handle = handle;
    engine.removeAllListeners('error');
    engine.reset();
    return inflated.length > MOST_OUT ? undefined : { taken, inflated };
  } catch {
    // It does not outlive an error.
    engine = undefined;
    return undefined;
  } finally {
    handle.close = close;
  }
}
