// Serializes a large value to JSON in pieces, so that no turn of the event loop has to serialize
// all of it.
import { isLazyText, type SplitJson, splitJsonAtLazyTexts } from '../../structure/lazy-text.ts';
import { type Body, BUFFER_BYTES, type FillBuffer, openBody } from './response-body.ts';

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

/** Whether the JSON of a value is better made piece by piece. */
export const isLarge = (value: object): boolean => weightOf(value, WHOLE) > WHOLE;

const text = (json: string): SplitJson => ({ around: [json], texts: [] });

/** The JSON of a list without its brackets. */
function withoutBrackets({ around, texts }: SplitJson): SplitJson {
  const last = around.length - 1;
  return {
    around: around.map((json, i) => json.slice(i === 0 ? 1 : 0, i === last ? -1 : undefined)),
    texts,
  };
}

function* piecesOfList(list: readonly unknown[]): Generator<SplitJson, void, undefined> {
  yield text('[');
  for (let start = 0; start < list.length; ) {
    if (start > 0) yield text(',');
    let end = start;
    // As many as make a piece together.
    for (let weight = 0; end < list.length; end += 1) {
      weight += weightOf(list[end], PIECE);
      if (weight > PIECE) break;
    }
    if (end > start) yield withoutBrackets(splitJsonAtLazyTexts(list.slice(start, end)));
    else {
      yield* pieces(list[start]);
      end += 1;
    }
    start = end;
  }
  yield text(']');
}

function* piecesOfObject(object: object): Generator<SplitJson, void, undefined> {
  let before = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield text(`${before}${JSON.stringify(name)}:`);
    yield* pieces(member);
    before = ',';
  }
  yield text(before === '{' ? '{}' : '}');
}

function* pieces(value: unknown): Generator<SplitJson, void, undefined> {
  if (!isPlainObject(value) || weightOf(value, PIECE) <= PIECE)
    yield withoutBrackets(splitJsonAtLazyTexts([value]));
  else if (Array.isArray(value)) yield* piecesOfList(value);
  else yield* piecesOfObject(value);
}

/**
 * The JSON of a large value as bytes that are made as they are written.
 *
 * @param head - what stands before the JSON
 * @param tail - what follows it
 */
export const openPieces = (value: object, head: string, tail: string): Body => ({
  // To measure it would take as long as to make it.
  byteLength: Number.POSITIVE_INFINITY,
  open() {
    function* all(): Generator<SplitJson, void, undefined> {
      yield text(head);
      yield* pieces(value);
      yield text(tail);
    }
    const coming = all();
    let fill: FillBuffer | undefined;
    return (target) => {
      let written = 0;
      while (written + BUFFER_BYTES <= target.length) {
        if (fill === undefined) {
          const next = coming.next();
          if (next.done === true) break;
          fill = openBody(next.value).open();
        }
        const count = fill(target.subarray(written));
        written += count;
        if (count === 0) fill = undefined;
      }
      return written;
    };
  },
});
