// The weight of an input: letters of its texts, and its entries in letters. The cost of a check
// follows from it. It is measured on values as clients send them, before they are coerced, so that
// any JSON has a weight: a client may give one item where a list is expected.
import { memoize1 } from '@graphql-tools/utils';

/** Letters that weigh as much as an input object, a text and any other value. */
const OBJECT = 384;
const TEXT = 128;
const VALUE = 4;

/** A value that a document gives at many places, as a variable, is measured once. */
const objectWeight = memoize1((object: object): number => {
  let weight = Array.isArray(object) ? VALUE : OBJECT;
  for (const value of Object.values(object)) weight += inputWeight(value);
  return weight;
});

export function inputWeight(value: unknown): number {
  if (typeof value === 'string') return TEXT + value.length;
  return typeof value === 'object' && value !== null ? objectWeight(value) : VALUE;
}
