// Tests by hand for values that a schema would return as they are: they take a tenth of the time of
// zod, for records that come by the hundred.
import type * as z from 'zod';
import { isFields } from './is-fields.ts';

type Test = (value: unknown) => boolean;

const TESTS = new WeakMap<z.ZodType, Test>();

/**
 * Adds a test to a schema. @param isPlain - true only for values that the schema returns as they
 * are
 */
export function withTest<S extends z.ZodType>(schema: S, isPlain: Test): S {
  TESTS.set(schema, isPlain);
  return schema;
}

/** The test for a value that may be missing. */
export const orMissing =
  (isPlain: Test): Test =>
  (value) =>
    value == null || isPlain(value);

/**
 * The test for an object whose names are those of fields and whose values pass the tests of these.
 */
export const hasPlainFields =
  (shape: Readonly<Record<string, z.ZodType>>): Test =>
  (value) => {
    if (!isFields(value)) return false;
    for (const name in value) {
      const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
      if (schema === undefined || TESTS.get(schema)?.(value[name]) !== true) return false;
    }
    return true;
  };

/** The test for an object whose names are data: at most `max` of them. */
export const hasPlainMembers =
  (isPlain: Test, max: number): Test =>
  (value) => {
    if (!isFields(value)) return false;
    const members = Object.values(value);
    return members.length <= max && members.every(isPlain);
  };

type Read<T> = { [K in keyof T]: T[K] | undefined };

/** Reads the fields of an object, each by itself: one that breaks its schema is undefined. */
export function readFields<S extends z.ZodObject>(
  { shape }: S,
  record: Readonly<Record<string, unknown>>,
): Read<z.output<S>> {
  const read: Record<string, unknown> = {};
  for (const name in shape) {
    const value = Object.hasOwn(record, name) ? record[name] : undefined;
    const schema: z.ZodType = shape[name];
    read[name] =
      value === undefined || TESTS.get(schema)?.(value) === true ? value : schema.safeParse(value).data;
  }
  return read as Read<z.output<S>>;
}
