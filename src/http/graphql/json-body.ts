// JSON as it is written: in pieces, of which large texts are unpacked one at a time and large
// values are serialized bit by bit, so that an answer with hundreds needs little more memory than
// one of them, and no turn of the event loop has to serialize all of it.
import { isLazyText, type JsonPieces, splitJsonAtLazyTexts } from '../../structure/lazy-text.ts';
import { ChunkWriter } from './chunk-writer.ts';

/** JSON that is made while it is written, anew each time. */
export interface Body {
  /** Approximate length in bytes; infinity when unknown. */
  readonly byteLength: number;
  readonly pieces: Iterable<JsonPieces[number]>;
}

/** Makes a body of pieces that are there. */
export const bodyOf = (pieces: JsonPieces): Body => ({
  byteLength: pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : piece.size), 0),
  pieces,
});

/** The same pieces without so many characters at both ends, and with others in their place. */
export function between(head: string, pieces: JsonPieces, tail: string, without = 0): JsonPieces {
  const last = pieces.length - 1;
  return pieces.map((piece, i) => {
    if (typeof piece !== 'string' || (i > 0 && i < last)) return piece;
    const inner = piece.slice(i === 0 ? without : 0, i === last && without > 0 ? -without : undefined);
    return `${i === 0 ? head : ''}${inner}${i === last ? tail : ''}`;
  });
}

/** Weight of a piece, about a fifth of a millisecond's work: values, and characters in hundreds. */
const PIECE = 4000;
const CHARACTERS = 100;
/** Weight of an answer that is made in one piece. */
const WHOLE = 40_000;

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !isLazyText(value) &&
  !('toJSON' in value && typeof value.toJSON === 'function');

/** What it takes to make the JSON of a value; more than `most` where it is more than that. */
function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS;
  if (!isPlainObject(value)) return 1;
  let weight = 1;
  if (Array.isArray(value)) {
    if (value.length > most) return value.length;
    for (let i = 0; i < value.length && weight <= most; i += 1) weight += weightOf(value[i], most - weight);
    return weight;
  }
  // Every answer is weighed: a list of its members would be made for each object.
  for (const name in value) {
    if (weight > most) break;
    weight += weightOf((value as Readonly<Record<string, unknown>>)[name], most - weight);
  }
  return weight;
}

/** How many items from a place on make a piece together; 0 where the first alone is too large. */
function countTogether(list: readonly unknown[], start: number): number {
  let end = start;
  for (let weight = 0; end < list.length; end += 1) {
    weight += weightOf(list[end], PIECE);
    if (weight > PIECE) break;
  }
  return end - start;
}

function* piecesOfList(list: readonly unknown[]): Body['pieces'] {
  yield '[';
  for (let start = 0; start < list.length; ) {
    if (start > 0) yield ',';
    const count = countTogether(list, start);
    if (count === 0) yield* piecesOf(list[start]);
    else yield* between('', splitJsonAtLazyTexts(list.slice(start, start + count)), '', 1);
    start += Math.max(1, count);
  }
  yield ']';
}

function* piecesOf(value: unknown): Body['pieces'] {
  if (!isPlainObject(value) || weightOf(value, PIECE) <= PIECE)
    return yield* between('', splitJsonAtLazyTexts([value]), '', 1);
  if (Array.isArray(value)) return yield* piecesOfList(value);
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* piecesOf(member);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/**
 * A value as JSON: a string, or for large values and large texts a body.
 *
 * @param head - text before the JSON
 * @param tail - text after it
 */
export function serialize(value: object, head: string, tail: string): string | Body {
  if (weightOf(value, WHOLE) > WHOLE) {
    function* pieces() {
      yield head;
      yield* piecesOf(value);
      yield tail;
    }
    // To measure it would take as long as to make it.
    return { byteLength: Number.POSITIVE_INFINITY, pieces: { [Symbol.iterator]: pieces } };
  }
  const pieces = between(head, splitJsonAtLazyTexts(value), tail);
  const [only] = pieces;
  return pieces.length === 1 && typeof only === 'string' ? only : bodyOf(pieces);
}

/**
 * Largest body that is serialized in one piece. Equals the default limit of the response cache for
 * one entry.
 */
export const STREAM_THRESHOLD_BYTES = 2_000_000;

/** All bytes of a body. */
export function toBuffer(body: string | Body): Buffer<ArrayBuffer> {
  if (typeof body === 'string') return Buffer.from(body);
  // Most often one chunk holds all. Escapes take some room, and a text needs some more than it has.
  const writer = new ChunkWriter(Math.ceil(1.03 * Math.min(body.byteLength, STREAM_THRESHOLD_BYTES)) + 64);
  const chunks = [...writer.add(body.pieces)];
  const rest = writer.take() ?? Buffer.alloc(0);
  return chunks.length === 0 ? rest : Buffer.concat([...chunks, rest]);
}
