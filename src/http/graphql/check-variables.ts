// Checks variables before anything else reads them: depth, length, and keys that no input can have.
// Iterative, because unchecked input may be too deep for recursion.
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

/** Half of a pair of code units that mean one character only together: no text of any encoding. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function checkText(text: string, what: string): void {
  if (LONE_SURROGATE.test(text))
    throw httpError(400, `\`${what}\` holds half of a surrogate pair, which is no character.`);
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
