// Checks request bodies and variables before anything else reads them. Iterative, because unchecked
// input may be too deep for recursion; values are counted before JSON.parse, which blocks the event
// loop.
import { afterString, COMMA, OPEN, QUOTE } from '../../upstream/json/json-scan.ts';
import { httpError } from './http-error.ts';

/** What variables may hold at most. */
const TREE_LIMITS = {
  /** Objects and lists inside each other. */
  depth: 64,
  /** Members of one list: the longest that any argument takes. */
  list: 100_000,
  /** Values in all. */
  values: 500_000,
} as const;

function checkText(text: string, what: string): void {
  if (!text.isWellFormed())
    throw httpError(400, `\`${what}\` holds half of a surrogate pair, which is not a character.`);
}

/**
 * @param what - the member of the request that is looked through
 * @throws GraphQLError (400) when it is too deep, too long, or holds what no input can mean
 */
export function checkVariables(tree: unknown, what: string): void {
  const open: { value: unknown; depth: number }[] = [{ value: tree, depth: 0 }];
  let values = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') checkText(value, what);
    if (typeof value !== 'object' || value === null) continue;
    if (depth > TREE_LIMITS.depth)
      throw httpError(400, `\`${what}\` is more than ${TREE_LIMITS.depth} levels deep.`);
    const children = Array.isArray(value) ? value : Object.values(value);
    values += children.length;
    if (Array.isArray(value) && value.length > TREE_LIMITS.list)
      throw httpError(
        400,
        `\`${what}\` holds a list of ${value.length}; no argument takes more than 50,000.`,
      );
    if (values > TREE_LIMITS.values)
      throw httpError(
        400,
        `\`${what}\` holds more than ${TREE_LIMITS.values} values; send them in several requests.`,
      );
    if (!Array.isArray(value)) {
      if (Object.hasOwn(value, '__proto__'))
        throw httpError(400, `\`${what}\` holds a member \`__proto__\`; no input has one.`);
      for (const name of Object.keys(value)) checkText(name, what);
    }
    for (const child of children) open.push({ value: child, depth: depth + 1 });
  }
}

/** Smaller bodies cannot hold enough values to matter. */
export const LARGE_BODY_BYTES = 256 * 1024;
/** Objects and lists of one body: 2,000 tasks have some 20,000. */
const MAX_CONTAINERS = 100_000;
/** Values of one body, as of variables ({@link TREE_LIMITS}), beside what surrounds them. */
const MAX_VALUES = 501_000;

const BRACKET = 0x5b;

/** @throws GraphQLError (400) when the body holds more values than any request needs */
export function checkValueCount(body: Buffer): void {
  if (body.length < LARGE_BODY_BYTES) return;
  let [containers, separators] = [0, 0];
  for (let i = 0; i < body.length; i += 1) {
    const byte = body[i];
    if (byte === QUOTE) {
      const end = afterString(body, i);
      if (end < 0) return;
      i = end - 1;
    } else if (byte === COMMA) separators += 1;
    else if (byte === OPEN || byte === BRACKET) containers += 1;
    if (containers > MAX_CONTAINERS || separators > MAX_VALUES)
      throw httpError(
        400,
        `The body holds more than ${MAX_CONTAINERS} objects and lists or ${MAX_VALUES} values; ` +
          'send them in several requests.',
      );
  }
}
