// The shape that a wire schema expects, as a plain tree: kinds of values and names of keys, with
// alternatives merged.
import { z } from 'zod';

/** Kinds of JSON values; an integer is also a number. */
export type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'object' | 'array';

/** One place of an answer. No kinds: anything may stand there. */
export interface Shape {
  readonly kinds: ReadonlySet<Kind>;
  /** The known keys of an object; the reader fails without `required` ones. */
  readonly keys: ReadonlyMap<string, { readonly shape: Shape; readonly required: boolean }>;
  /** What stands under every other key of an object that is a map. */
  readonly values: Shape | undefined;
  readonly items: Shape | undefined;
}

interface Node {
  readonly type?: Kind | readonly Kind[];
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
}

const NOTHING: Shape = { kinds: new Set(), keys: new Map(), values: undefined, items: undefined };

const overlay = (a: Shape, b: Shape): Shape => ({
  kinds: new Set([...a.kinds, ...b.kinds]),
  keys: new Map([...b.keys, ...a.keys]),
  values: a.values ?? b.values,
  items: a.items ?? b.items,
});

function read(node: Node): Shape {
  if (node.anyOf !== undefined) return node.anyOf.map(read).reduce(overlay, NOTHING);
  const { type = [], properties = {}, required = [], additionalProperties: values, items } = node;
  const keys = Object.entries(properties).map(
    ([key, inner]) => [key, { shape: read(inner), required: required.includes(key) }] as const,
  );
  return {
    kinds: new Set([type].flat()),
    keys: new Map(keys),
    values: typeof values === 'object' ? read(values) : undefined,
    items: items === undefined ? undefined : read(items),
  };
}

const shapes = new WeakMap<z.ZodType, Shape>();

export function shapeOf(schema: z.ZodType): Shape {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const shape = read(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node);
  shapes.set(schema, shape);
  return shape;
}

export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'boolean' : 'object';
}

export const fits = ({ kinds }: Shape, kind: Kind): boolean =>
  kinds.size === 0 || kinds.has(kind) || (kind === 'integer' && kinds.has('number'));

/** What may stand there, in words: "number or null". */
export const wordsOf = ({ kinds }: Shape): string =>
  kinds.size === 0
    ? 'anything'
    : [...kinds].filter((kind) => kind !== 'null' || kinds.size === 1).join(' or ');

/** Every place of a shape: keys with dots, `[]` for members of a list, `*` for those of a map. */
export function pathsOf(shape: Shape, path = ''): string[] {
  const below = path === '' ? '' : `${path}.`;
  return [
    ...[...shape.keys].flatMap(([key, { shape: inner }]) => [
      `${below}${key}`,
      ...pathsOf(inner, `${below}${key}`),
    ]),
    ...(shape.values === undefined || shape.values.kinds.size === 0
      ? []
      : pathsOf(shape.values, `${below}*`)),
    ...(shape.items === undefined ? [] : pathsOf(shape.items, `${path}[]`)),
  ];
}
