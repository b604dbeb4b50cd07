// Parses JSON of the service. Python services write NaN and Infinity, which JSON does not have:
// they are read as null.
import { decodeText } from '../../structure/lazy-text.ts';
import { findExcess, type JsonBounds } from './json-bounds.ts';
import { runInWorker, WORKER_ABOVE_BYTES } from './worker-pool.ts';

const NON_FINITE = /-?\b(?:NaN|Infinity)\b/g;

/**
 * Whether text ends in an odd number of backslashes, so that a quote behind it is part of a string.
 */
function endsEscaped(text: string): boolean {
  let end = text.length;
  while (text[end - 1] === '\\') end -= 1;
  return (text.length - end) % 2 === 1;
}

/** Replaces the numbers that JSON does not have, outside of strings. */
function replaceNonFinite(text: string): string {
  let isString = true;
  let before = '';
  return text
    .split('"')
    .map((piece) => {
      if (!isString || !endsEscaped(before)) isString = !isString;
      before = piece;
      return isString ? piece : piece.replace(NON_FINITE, 'null');
    })
    .join('"');
}

/** @throws SyntaxError, which does not say what stands there */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    try {
      return JSON.parse(replaceNonFinite(text)) as unknown;
    } catch {
      throw new SyntaxError('The JSON is not valid, or ends too early.');
    }
  }
}

/**
 * Limits of a JSON answer. Each object, list and name takes up to 400 bytes when it is parsed; the
 * catalogue of features, the richest answer, has some 100,000. Lists of numbers may have any
 * length.
 */
const ANSWER_BOUNDS: JsonBounds = {
  depth: 500,
  names: 500_000,
  nameBytes: 10_000,
  items: Number.POSITIVE_INFINITY,
  allItems: Number.POSITIVE_INFINITY,
  parts: 500_000,
};

/** Limits of a file of matrices, which a worker thread parses: each row is a list. */
export const MATRIX_BOUNDS: JsonBounds = { ...ANSWER_BOUNDS, depth: 32, parts: 2_000_000 };

/** Parses JSON in UTF-8 at once. @throws SyntaxError, also for JSON beyond the bounds */
export function parseJsonSync(bytes: Uint8Array, bounds: JsonBounds): unknown {
  const excess = findExcess(bytes, bounds);
  if (excess === null) return parseJsonText(decodeUtf8(bytes));
  const { depth, nameBytes } = bounds;
  if (excess.bound === 'depth') throw new SyntaxError(`The JSON is nested more than ${depth} levels deep.`);
  if (excess.bound === 'nameBytes')
    throw new SyntaxError(`The JSON has a name of more than ${nameBytes} bytes.`);
  throw new SyntaxError('The JSON holds too many objects, lists and members.');
}

/** @throws SyntaxError for more text than a string can hold */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch {
    throw new SyntaxError('The JSON is too long.');
  }
}

/** Parses the JSON of an answer at once. @throws SyntaxError, also for JSON beyond the bounds */
export const parseAnswer = (bytes: Uint8Array): unknown => parseJsonSync(bytes, ANSWER_BOUNDS);

/** Parses the JSON of an answer; a large one in a thread. @throws SyntaxError as `parseAnswer` */
export async function parseJson(bytes: Uint8Array): Promise<unknown> {
  if (bytes.byteLength <= WORKER_ABOVE_BYTES) return parseAnswer(bytes);
  // The copy moves to the thread; the caller keeps its own.
  const copy = new Uint8Array(bytes);
  return runInWorker('upstream/json/json-worker', copy, [copy.buffer]);
}
