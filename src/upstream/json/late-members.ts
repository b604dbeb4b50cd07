// Reads the members of an object by their schema lazily: most queries select two of a cluster's
// eleven, and validating the rest of a hundred clusters costs more than answering.
import { z } from 'zod';
import { validate } from '../http/validate-response.ts';

const GIVEN = Symbol('given');

interface View {
  readonly [GIVEN]: Readonly<Record<string, unknown>>;
}

/**
 * Creates a reader of objects with lazy members. An invalid member without a fallback is
 * UPSTREAM_DRIFT when read.
 *
 * @param name - of the answer, for the error
 * @returns null for anything but an object
 */
export function lazyObject<S extends z.ZodObject>(
  name: string,
  schema: S,
): (value: unknown) => z.output<S> | null {
  const members = Object.fromEntries(
    Object.entries(schema.shape).map(([key, member]): [string, PropertyDescriptor] => {
      const around = z.object({ [key]: member });
      return [
        key,
        {
          enumerable: true,
          get(this: View) {
            const read = member.safeParse(this[GIVEN][key]);
            return read.success ? read.data : validate(name, around, this[GIVEN])[key];
          },
        },
      ];
    }),
  );
  const prototype: object = Object.create(null, {
    ...members,
    toJSON: {
      value(this: View) {
        return validate(name, schema, this[GIVEN]);
      },
    },
  });
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const view: { [GIVEN]?: object } = Object.create(prototype);
    view[GIVEN] = value;
    return view as z.output<S>;
  };
}
