// Counts the values of a JSON body before it is parsed: JSON.parse blocks the event loop, and a
// body of 6 MB can hold two million objects. One pass over the bytes; strings are skipped.
import { httpError } from './http-error.ts';

/** Smaller bodies cannot hold enough values to matter. */
const COUNTED_FROM_BYTES = 256 * 1024;
/** Objects and lists of one body: 2,000 tasks have some 20,000. */
const MAX_CONTAINERS = 100_000;
/** Values of one body, as of variables (check-tree.ts), beside what surrounds them. */
const MAX_VALUES = 501_000;

const [QUOTE, BACKSLASH, COMMA, BRACE, BRACKET] = [0x22, 0x5c, 0x2c, 0x7b, 0x5b];

/**
 * The end of the string that starts at `start`: the next quotation mark without a backslash before
 * it.
 */
function endOfText(body: Uint8Array, start: number): number {
  let i = start;
  while (i < body.length && body[i] !== QUOTE) i += body[i] === BACKSLASH ? 2 : 1;
  return i;
}

/** @throws GraphQLError (400) when the body holds more values than any request needs */
export function checkValueCount(body: Uint8Array): void {
  if (body.length < COUNTED_FROM_BYTES) return;
  let [containers, separators] = [0, 0];
  for (let i = 0; i < body.length; i += 1) {
    const byte = body[i];
    if (byte === QUOTE) i = endOfText(body, i + 1);
    else if (byte === COMMA) separators += 1;
    else if (byte === BRACE || byte === BRACKET) containers += 1;
    if (containers > MAX_CONTAINERS || separators > MAX_VALUES)
      throw httpError(
        400,
        `The body holds more than ${MAX_CONTAINERS} objects and lists or ${MAX_VALUES} values; ` +
          'send them in several requests.',
      );
  }
}
