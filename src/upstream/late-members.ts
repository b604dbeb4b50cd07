// Reads the members of an object by their schema when somebody asks for them: of a cluster's eleven most queries ask for two, and to
// check the others of a hundred clusters costs more than to answer. It knows no operation.
import type { z } from 'zod';

const GIVEN = Symbol('given');

interface View {
  readonly [GIVEN]: Readonly<Record<string, unknown>>;
}

/**
 * Makes a reader of objects whose members are each read on their own: one that is not what it should be must have a value to stand for it
 * (`catch`).
 *
 * @returns null for anything but an object
 */
export function lateMembers<S extends z.ZodObject>(schema: S): (value: unknown) => z.output<S> | null {
  const members = Object.fromEntries(
    Object.entries(schema.shape).map(([name, member]): [string, PropertyDescriptor] => [
      name,
      {
        enumerable: true,
        get(this: View) {
          return member.parse(this[GIVEN][name]);
        },
      },
    ]),
  );
  const prototype: object = Object.create(null, {
    ...members,
    toJSON: {
      value(this: View) {
        return schema.parse(this[GIVEN]);
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
