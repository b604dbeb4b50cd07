// Reads the members of an object by their schema lazily: most queries select two of a cluster's
// eleven, and one that cannot be read must not take the others with it.
import { z } from 'zod';
import { validate } from '../http/validate-response.ts';

const READ = Symbol('read');

interface View {
  /** The member as it came; undefined where there is none. */
  readonly [READ]: (key: string) => unknown;
}

/**
 * Creates objects whose members are read and checked when they are asked for. One that is invalid
 * and has no fallback is UPSTREAM_DRIFT then.
 *
 * @param name - of the answer, for the error
 */
export function lazyObject<S extends z.ZodObject>(
  name: string,
  schema: S,
): (read: (key: string) => unknown) => z.output<S> {
  const members = Object.entries(schema.shape).map(([key, member]): [string, PropertyDescriptor] => {
    const around = z.object({ [key]: member });
    return [
      key,
      {
        enumerable: true,
        get(this: View) {
          const value = this[READ](key);
          const read = member.safeParse(value);
          return read.success ? read.data : validate(name, around, { [key]: value })[key];
        },
      },
    ];
  });
  // With getters of their own, objects would be slow to create.
  const prototype: object = Object.create(null, {
    ...Object.fromEntries(members),
    toJSON: {
      value(this: Readonly<Record<string, unknown>>) {
        return Object.fromEntries([...Object.entries(this), ...members.map(([key]) => [key, this[key]])]);
      },
    },
  });
  return (read) => {
    const view: { [READ]?: View[typeof READ] } = Object.create(prototype);
    view[READ] = read;
    return view as z.output<S>;
  };
}
