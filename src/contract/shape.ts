// The shape that a wire schema expects, as a plain tree: kinds of values and names of keys, with
// alternatives merged. Pairs keys that are missing in an answer with unknown ones.
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

/** What values look like, by a known name. */
const LOOKS: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/(^|_)hash$/, /^[0-9a-f]{32}$/i],
  [/^(query_)?sequence$/, /^[A-Za-z*\s]{4,}$/],
  [/^pdb$/, /^(REMARK|ATOM|HEADER|MODEL|CRYST1)\b/],
  [/_at$/, /^\d{4}-\d\d-\d\dT/],
  [/_url$/, /^(https?:)?\//],
];

/** Names whose numbers lie between 0 and 1. */
const UNIT = /^(ptm|mean_plddt|similarity_score|interface_ptm|cluster_mean_domain_coverage)$/;

const splitWords = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');

const pairsOf = (text: string): string[] =>
  Array.from({ length: text.length - 1 }, (_, i) => text.slice(i, i + 2));

function overlap(a: readonly string[], b: readonly string[]): number {
  if (a.length + b.length === 0) return 0;
  const rest = [...b];
  const common = a.filter((one) => {
    const at = rest.indexOf(one);
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
  return (2 * common.length) / (a.length + b.length);
}

/** How alike two names are: 0 nothing in common, 1 the same but for case and separators. */
export function likeness(a: string, b: string): number {
  const [words, others] = [splitWords(a), splitWords(b)];
  const [text, other] = [words.join(''), others.join('')];
  if (text === other) return 1;
  return Math.max(overlap(words, others), overlap(pairsOf(text), pairsOf(other)));
}

export const closest = (
  text: string,
  names: readonly string[],
): { readonly name: string; readonly alike: number } | undefined =>
  names.map((name) => ({ name, alike: likeness(name, text) })).sort((a, b) => b.alike - a.alike)[0];

/** Whether a value looks like what the name says: 1 yes, 0 nothing known, undefined no. */
function looks(name: string, value: unknown): number | undefined {
  if (typeof value === 'number') return UNIT.test(name) ? (value >= 0 && value <= 1 ? 0.2 : undefined) : 0;
  if (typeof value !== 'string') return 0;
  const rule = LOOKS.find(([pattern]) => pattern.test(name));
  if (rule !== undefined) return rule[1].test(value) ? 0.5 : undefined;
  // A hash or a structure under a name that says nothing of it is most probably another one.
  return LOOKS.some(([, pattern]) => pattern.test(value)) ? -0.2 : 0;
}

export interface Rename {
  readonly missing: string;
  readonly seen: string;
  /** 0 to about 1.5; by the name alone 0 to 1. */
  readonly score: number;
}

/**
 * Pairs missing with unknown keys of one object, each at most once, the surest first.
 *
 * @param unknown - each unknown key with some of its values
 * @param couldBe - whether a value has the shape of the missing key
 * @param least - how alike the names must be for that key
 */
export function pairRenames(
  missing: readonly string[],
  unknown: ReadonlyMap<string, readonly unknown[]>,
  couldBe: (key: string, value: unknown) => boolean,
  least: (key: string) => number,
): Rename[] {
  const pairs = missing.flatMap((key) =>
    [...unknown].flatMap(([seen, values]): Rename[] => {
      const present = values.filter((value) => kindOf(value) !== 'null');
      const hints = present.map((value) => looks(key, value));
      if (present.length === 0 || hints.includes(undefined) || !present.every((value) => couldBe(key, value)))
        return [];
      const alike = likeness(key, seen);
      return alike < least(key) ? [] : [{ missing: key, seen, score: alike + (hints[0] ?? 0) }];
    }),
  );
  const chosen: Rename[] = [];
  for (const pair of pairs.sort((a, b) => b.score - a.score)) {
    if (chosen.every(({ missing: m, seen }) => m !== pair.missing && seen !== pair.seen)) chosen.push(pair);
  }
  return chosen;
}
