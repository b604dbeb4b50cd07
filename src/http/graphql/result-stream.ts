// Writes results as JSON in pieces of about 64 KB, each when the client has read the one before.
// Large lists are serialized item by item, so that a response of many structures is never one
// string.
import { withTimeout } from '../../async/deadline.ts';
import { LazyText } from '../../structure/lazy-text.ts';
import type { StreamFraming } from './media-type.ts';

const PIECE_CHARACTERS = 64 * 1024;

const isBranch = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !('toJSON' in value);

const holdsText = (value: unknown): boolean =>
  value instanceof LazyText || (isBranch(value) && Object.values(value).some(holdsText));

/** Items of a list are alike. */
const SAMPLE = 10;

/**
 * JSON of a value in small and large pieces. Items of lists are serialized whole unless they hold
 * large texts, and so are rows of matrices.
 */
function* serialize(value: unknown): Generator<string> {
  if (value instanceof LazyText) yield value.stringify();
  else if (!isBranch(value)) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) {
    if (!value.some(isBranch)) return yield JSON.stringify(value);
    const isWhole = !value.slice(0, SAMPLE).some(holdsText);
    let separator = '[';
    for (const item of value) {
      yield separator;
      if (isWhole) yield JSON.stringify(item) ?? 'null';
      else yield* serialize(item);
      separator = ',';
    }
    yield ']';
  } else {
    let separator = '{';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      yield* serialize(member);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }
}

/** JSON of a value in pieces of about 64 KB. @param before, after - text around it */
export function* toJsonPieces(value: object, before = '', after = ''): Generator<string> {
  let piece = before;
  for (const text of serialize(value)) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece + after;
}

const encoder = new TextEncoder();

/**
 * A text in UTF-8, in two parts where it is not ASCII. Buffer.from would measure it first, which
 * takes longer than writing it.
 */
function* encode(text: string): Generator<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(text.length);
  const { read, written } = encoder.encodeInto(text, bytes);
  yield bytes.subarray(0, written);
  if (read < text.length) yield Buffer.from(text.slice(read));
}

/** The pieces in UTF-8. @throws the error after which the response would be too large */
export function* limitBytes(
  pieces: Iterable<string>,
  maxBytes: number,
  tooLarge: () => Error,
): Generator<Buffer> {
  let length = 0;
  for (const piece of pieces) {
    for (const bytes of encode(piece)) {
      length += bytes.length;
      if (length > maxBytes) throw tooLarge();
      yield bytes;
    }
  }
}

export interface PartOptions<T> {
  readonly framing: StreamFraming;
  /** The JSON of a part in pieces. */
  readonly toPieces: (part: T) => Iterable<Buffer>;
  /** Milliseconds of silence after which a sign of life is sent. */
  readonly pulseMs: number;
}

const SILENCE = Symbol('silence');

/**
 * Frames results that come one after the other. Not a generator: `return` does not wait for `next`.
 */
export function frameParts<T>(
  parts: AsyncIterable<T>,
  { framing, toPieces, pulseMs }: PartOptions<T>,
): AsyncIterableIterator<string | Buffer> {
  const source = parts[Symbol.asyncIterator]();
  let pieces: Iterator<string | Buffer> = [framing.opening].values();
  let coming: Promise<IteratorResult<T>> | undefined;
  let hasEnded = false;

  async function next(): Promise<IteratorResult<string | Buffer>> {
    const piece = pieces.next();
    if (piece.done !== true) return { done: false, value: piece.value };
    if (hasEnded) return { done: true, value: undefined };
    coming ??= source.next();
    const { pulse } = framing;
    const part =
      pulse === undefined ? await coming : await withTimeout(coming, pulseMs, (): typeof SILENCE => SILENCE);
    if (part === SILENCE) return { done: false, value: pulse ?? '' };
    coming = undefined;
    hasEnded = part.done === true;
    pieces = part.done === true ? [framing.closing].values() : toPieces(part.value)[Symbol.iterator]();
    return next();
  }

  return {
    next,
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
