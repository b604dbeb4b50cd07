// The weight of an input: letters of its texts, and its entries in letters. The cost of a check
// follows from it. It is measured on values as clients send them, before they are coerced, so that
// any JSON has a weight: a client may give one item where a list is expected.

/** Letters that weigh as much as an input object, a text and any other value. */
const OBJECT = 384;
const TEXT = 128;
const VALUE = 4;

/** A value that a document gives at many places, as a variable, is measured once if it is heavy. */
const heavy = new WeakMap<object, number>();
const HEAVY = 10_000;

function objectWeight(object: object): number {
  const known = heavy.get(object);
  if (known !== undefined) return known;
  let weight = Array.isArray(object) ? VALUE : OBJECT;
  for (const value of Object.values(object)) weight += inputWeight(value);
  if (weight >= HEAVY) heavy.set(object, weight);
  return weight;
}

export function inputWeight(value: unknown): number {
  if (typeof value === 'string') return TEXT + value.length;
  return typeof value === 'object' && value !== null ? objectWeight(value) : VALUE;
}
