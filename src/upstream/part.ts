// A part of a record that may take a call of its own. One type carries absence and failure through
// loader, cache and resolvers.

/** No answer has said anything yet, which proves nothing. */
export const UNKNOWN = undefined;

/**
 * A value; null where the service has said that there is none; the error of the call that failed.
 */
export type Part<T> = T | null | typeof UNKNOWN | Error;

export function isKnown<T>(part: Part<T>): part is T | null {
  return part !== UNKNOWN && !(part instanceof Error);
}

/** The value of a part; undefined where there is none, or none is known. */
export function partValue<T>(part: Part<T>): T | undefined {
  return isKnown(part) ? (part ?? undefined) : undefined;
}

/**
 * The value of a part that the resolver above has loaded.
 *
 * @throws Error of the call that failed, so that only this field becomes null
 */
export function readPart<T>(part: Part<T>): T | null {
  if (isKnown(part)) return part;
  throw part === UNKNOWN ? new Error('The look-ahead did not ask for this part.') : part;
}

/** Merges a part of two answers: a value wins over null, and the newer value over the older. */
export function mergePart<T>(
  older: Part<T>,
  newer: Part<T>,
  merge: (older: T, newer: T) => T = (_, value) => value,
): Part<T> {
  if (older === newer || newer === UNKNOWN) return older;
  if (!isKnown(newer)) return isKnown(older) ? older : newer;
  if (newer === null) return isKnown(older) ? older : null;
  return isKnown(older) && older !== null ? merge(older, newer) : newer;
}
