// Compares an answer with its expected shape and lists the differences: missing, renamed, other
// kind, new, unknown word. It reports names and kinds only, never values, except words of states.
import type { z } from 'zod';
import { normalizeState } from '../upstream/wire-values.ts';
import { type Asked, brokenRules, type Effect, type ValueRule } from './rules.ts';
import { fits, type Kind, kindOf, pairRenames, pathsOf, type Shape, shapeOf, wordsOf } from './shape.ts';

type DriftKind =
  | 'missing'
  | 'renamed'
  | 'retyped'
  | 'added'
  | 'word'
  | 'value'
  | 'status'
  | 'content'
  | 'prefix'
  | 'member';

export interface Drift {
  readonly kind: DriftKind;
  /** Keys with dots, `[]` for members of a list, `*` for those of a map; empty: all of it. */
  readonly path: string;
  readonly expected: string;
  readonly seen: string;
  /** The nearest optional place, which is lost with it. Undefined: the whole answer is. */
  readonly loses?: string | undefined;
  /** What the gateway does, where that does not follow from the kind. */
  readonly effect?: Effect;
  /** Of a renamed key: the name that it has now. */
  readonly name?: string;
  /** The name in answers.ts of what was compared, if a part of the answer. */
  readonly as?: string;
}

export interface Promised {
  readonly schema: z.ZodType;
  readonly rare?: readonly string[];
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /**
   * What the gateway does when an optional place is lost, unless that is null: `drift` where an
   * empty list would be a wrong answer, `none` and `elsewhere` where it can get the value, or one
   * like it, without that place.
   */
  readonly lost?: Readonly<Record<string, Effect>>;
  readonly rules?: readonly ValueRule[];
}

export interface CompareOptions {
  /** Whether the answer must hold everything; otherwise an absent optional key says nothing. */
  readonly complete: boolean;
  /** Members of a list or map that are looked at. */
  readonly most?: number;
  /** What was asked, for the values that have to agree with it. */
  readonly asked?: Asked;
}

interface Place {
  readonly shape: Shape;
  readonly loses: string | undefined;
  objects: number;
  readonly missing: Map<string, number>;
  readonly unknown: Map<string, unknown[]>;
}

/** Values of an unknown key that are looked at to guess what it is. */
const EXAMPLES = 3;

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** A word that may be shown: short, letters, no secret. */
const printable = (word: string): string =>
  /^[A-Za-z][A-Za-z_ -]{0,23}$/.test(word) ? word : 'another text';

/** Keys come from outside: what is no plain name is not repeated. */
export const keyName = (key: string): string => (/^[\w.@$-]{1,60}$/.test(key) ? key : '(unprintable key)');

interface Comparison {
  readonly places: ReadonlyMap<string, Place>;
  readonly found: readonly Drift[];
}

/** Walks an answer along its shape and writes down what does not fit. */
function walkAll(
  whole: Shape,
  answer: unknown,
  most: number,
  words: Readonly<Record<string, readonly string[]>> = {},
): Comparison {
  const places = new Map<string, Place>();
  const found = new Map<string, Drift>();
  const tell = (drift: Drift) => {
    const key = `${drift.kind} ${drift.path} ${drift.seen}`;
    if (!found.has(key)) found.set(key, drift);
  };

  const object = (shape: Shape, value: object, path: string, loses: string | undefined): void => {
    const entries = new Map<string, unknown>(Object.entries(value));
    const place = places.get(path) ?? { shape, loses, objects: 0, missing: new Map(), unknown: new Map() };
    places.set(path, place);
    place.objects += 1;
    for (const [key, { shape: inner, required }] of shape.keys) {
      const at = join(path, key);
      if (entries.has(key)) walk(inner, entries.get(key), at, required ? loses : at);
      else place.missing.set(key, (place.missing.get(key) ?? 0) + 1);
      entries.delete(key);
    }
    const { values } = shape;
    if (values !== undefined) {
      for (const inner of [...entries.values()].slice(0, most)) walk(values, inner, join(path, '*'), loses);
    } else if (shape.keys.size > 0) {
      for (const [key, inner] of entries) {
        const examples = place.unknown.get(key) ?? [];
        if (examples.length < EXAMPLES) examples.push(inner);
        place.unknown.set(key, examples);
      }
    }
  };

  const walk = (shape: Shape, value: unknown, path: string, loses: string | undefined): void => {
    const kind = kindOf(value);
    if (!fits(shape, kind)) {
      tell({ kind: 'retyped', path, expected: wordsOf(shape), seen: kind, loses });
    } else if (typeof value === 'string') {
      const known = words[path];
      if (known === undefined || known.includes(normalizeState(value))) return;
      tell({ kind: 'word', path, expected: known.join(', '), seen: printable(value), loses: path });
    } else if (Array.isArray(value)) {
      const { items } = shape;
      if (items !== undefined) for (const item of value.slice(0, most)) walk(items, item, `${path}[]`, loses);
    } else if (typeof value === 'object' && value !== null) object(shape, value, path, loses);
  };

  walk(whole, answer, '', undefined);
  return { places, found: [...found.values()] };
}

/** Whether a value has a shape, in everything that the reader insists on. */
function hasShape(shape: Shape, value: unknown): boolean {
  const { places, found } = walkAll(shape, value, 5);
  const lacks = [...places.values()].some(({ shape: { keys }, missing }) =>
    [...missing.keys()].some((key) => keys.get(key)?.required === true),
  );
  return !lacks && found.length === 0;
}

const kindsOf = (values: readonly unknown[]): string => [...new Set<Kind>(values.map(kindOf))].join(' or ');

/** Minimum similarity at which names of an optional key count as the same. */
const ALIKE = 0.4;

function atPlace(
  path: string,
  place: Place,
  { complete }: CompareOptions,
  rare: ReadonlySet<string>,
): Drift[] {
  const { shape, objects, missing, unknown } = place;
  const required = (key: string) => shape.keys.get(key)?.required === true;
  const gone = [...missing].flatMap(([key, times]) => (required(key) || times === objects ? [key] : []));
  const couldBe = (key: string, value: unknown) => {
    const inner = shape.keys.get(key)?.shape;
    return inner !== undefined && hasShape(inner, value);
  };
  // What may well be absent is not looked for under just any name.
  const least = (key: string) => (required(key) || (complete && !rare.has(join(path, key))) ? 0 : ALIKE);
  const renames = gone.length === 0 ? [] : pairRenames(gone, unknown, couldBe, least);
  const drifts = gone.flatMap((key): Drift[] => {
    const at = join(path, key);
    const inner = shape.keys.get(key)?.shape;
    const expected = inner === undefined ? 'a value' : wordsOf(inner);
    const loses = required(key) ? place.loses : at;
    const rename = renames.find(({ missing: one }) => one === key);
    if (rename !== undefined) {
      const { seen: name } = rename;
      return [{ kind: 'renamed', path: at, expected, seen: `named ${keyName(name)}`, loses, name }];
    }
    if (!required(key) && (!complete || rare.has(at))) return [];
    const share = missing.get(key) === objects ? 'missing' : `missing in ${missing.get(key)} of ${objects}`;
    return [{ kind: 'missing', path: at, expected, seen: share, loses }];
  });
  const renamed = new Set(renames.map(({ seen }) => seen));
  if (!complete) return drifts;
  const added = [...unknown].filter(([key]) => !renamed.has(key));
  return [
    ...drifts,
    ...added.map(([key, values]): Drift => {
      const at = join(path, keyName(key));
      return { kind: 'added', path: at, expected: 'nothing', seen: kindsOf(values), loses: path };
    }),
  ];
}

/** The place of an issue. Keys of a map come from the service; all of them have one place. */
const placeOfIssue = (path: readonly PropertyKey[], known: ReadonlySet<string>): string =>
  path.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[]`;
    const at = join(before, String(step));
    return known.has(at) ? at : join(before, '*');
  }, '');

/** The same with the first members of its lists. */
function withFirst(value: unknown, most: number): unknown {
  if (Array.isArray(value)) return value.slice(0, most).map((item) => withFirst(item, most));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withFirst(member, most)]));
}

/** @returns differences in the order of the answer's places; empty when nothing differs */
export function compare(promised: Promised, value: unknown, options: CompareOptions): Drift[] {
  const { places, found } = walkAll(shapeOf(promised.schema), value, options.most ?? 200, promised.words);
  const rare = new Set(promised.rare ?? []);
  const drifts = [...found, ...[...places].flatMap(([path, place]) => atPlace(path, place, options, rare))];
  // A rule about a field that is lost already would tell the same again.
  const lost = new Set(drifts.map(({ path }) => path));
  const broken = brokenRules(promised.rules ?? [], value, options.asked ?? {});
  drifts.push(...broken.filter(({ path }) => !lost.has(path)));
  const checked = options.most === undefined ? value : withFirst(value, options.most);
  const issues = promised.schema.safeParse(checked).error?.issues ?? [];
  const known = new Set(pathsOf(shapeOf(promised.schema)));
  const refused = new Map(issues.map(({ path, message }) => [placeOfIssue(path, known), message]));
  if (drifts.some(({ kind }) => kind !== 'added')) {
    const effects = new Map(Object.entries(promised.lost ?? {}));
    return drifts.map((drift) => {
      const { kind, path } = drift;
      if (kind === 'added' || kind === 'word') return drift;
      const isRefused = refused.has(path) || refused.has(path.replace(/\[\]$/, ''));
      const effect = isRefused ? 'drift' : kind === 'value' ? undefined : effects.get(path);
      return effect === undefined ? drift : { ...drift, effect };
    });
  }
  // What kinds and names do not tell, such as a count below zero.
  const [first] = refused;
  if (first === undefined) return drifts;
  const [path, expected] = first;
  return [...drifts, { kind: 'retyped', path, expected, seen: 'another value', effect: 'drift' }];
}
