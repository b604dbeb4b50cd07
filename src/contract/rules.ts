// Rules about values: ranges, patterns and relations between fields. A rule ignores missing fields:
// compare.ts reports those.
import type { Drift } from './compare.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What was asked, as far as an answer has to agree with it. */
export interface Asked {
  readonly hash?: string;
  readonly sequence?: string;
  readonly accession?: string;
  /** Of a feature. */
  readonly index?: number;
  /** `feature_indices`. */
  readonly indices?: readonly number[];
  /** `topk_features`. */
  readonly top?: number;
  /** `topk_results`, or the number of items or proteins that were sent. */
  readonly total?: number;
  readonly minSimilarity?: number;
  readonly batchId?: string;
}

/**
 * What the gateway does with a value that breaks a rule: it reports drift, shows the value, leaves
 * it out, corrects it, or reads it from elsewhere.
 */
export type Effect = 'drift' | 'shown' | 'null' | 'none' | 'elsewhere';

/** One rule. */
export interface ValueRule {
  /** Place that it is about, as in {@link Drift}. */
  readonly path: string;
  readonly expected: string;
  /** `shown` when absent; `drift` in any case where the reader's schema refuses the value. */
  readonly effect?: Effect;
  /** What was seen where the rule is broken, without a value of the answer; else undefined. */
  readonly broken: (answer: unknown, asked: Asked) => string | undefined;
}

/** All values at a place: keys with dots, `[]` for members of a list, `*` for those of a map. */
export function valuesAt(value: unknown, path: string): unknown[] {
  const steps = path === '' ? [] : path.replaceAll('[]', '.[]').split('.').filter(Boolean);
  return steps.reduce<unknown[]>(
    (values, step) =>
      values.flatMap((one) => {
        if (step === '[]') return Array.isArray(one) ? one : [];
        if (!isFields(one)) return [];
        if (step === '*') return Object.values(one);
        return Object.hasOwn(one, step) ? [one[step]] : [];
      }),
    [value],
  );
}

const numbersAt = (answer: unknown, path: string): number[] =>
  valuesAt(answer, path).filter((value) => typeof value === 'number');

/** An absolute address, or a path on the same host. */
export const LINK = /^(https?:)?\/\/?\S+$/;

export const lengthOf = (value: unknown): number | undefined =>
  Array.isArray(value) || typeof value === 'string' ? value.length : undefined;
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;
export const isSorted = (values: readonly number[]): boolean =>
  values.every((value, i) => i === 0 || value <= (values[i - 1] ?? value));
/** Whether two numbers are the same; undefined where one is unknown. */
export const agree = (a: number | undefined, b: number | undefined): boolean | undefined =>
  a === undefined || b === undefined ? undefined : a === b;

/** Every number at a place lies between two bounds, both included. */
export const between = (path: string, min: number, max: number): ValueRule => ({
  path,
  expected: max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`,
  broken: (answer) => {
    const values = numbersAt(answer, path);
    if (values.some((value) => value > max)) return `a number above ${max}`;
    return values.some((value) => value < min) ? `a number below ${min}` : undefined;
  },
});

/** Every number at a place is a fraction. */
export const unit = (path: string): ValueRule => between(path, 0, 1);

/** Every text at a place has a form. */
export const matching = (path: string, pattern: RegExp, expected: string): ValueRule => ({
  path,
  expected,
  broken: (answer) =>
    valuesAt(answer, path).some((value) => typeof value === 'string' && !pattern.test(value))
      ? 'another text'
      : undefined,
});

/** The value at a place equals the requested one. */
export const asAsked = (path: string, expected: string, wanted: (asked: Asked) => unknown): ValueRule => ({
  path,
  expected,
  broken: (answer, asked) => {
    const value = wanted(asked);
    const [seen] = valuesAt(answer, path);
    return value === undefined || seen === undefined || seen === null || seen === value
      ? undefined
      : 'another value';
  },
});

/**
 * A relation within each object at a place.
 *
 * @param parent - place of the objects; empty: the answer itself
 * @param key - the key that breaks it
 * @param holds - undefined where it cannot be decided
 */
export const within = (
  parent: string,
  key: string,
  expected: string,
  holds: (fields: Fields, asked: Asked) => boolean | undefined,
): ValueRule => ({
  path: parent === '' ? key : `${parent}.${key}`,
  expected,
  broken: (answer, asked) =>
    valuesAt(answer, parent).some((value) => isFields(value) && holds(value, asked) === false)
      ? 'a value that does not agree'
      : undefined,
});

/** Numbers of a list never rise. */
export const descending = (path: string): ValueRule => ({
  path,
  expected: 'the highest first',
  broken: (answer) => {
    return isSorted(numbersAt(answer, path)) ? undefined : 'another order';
  },
});

/** A rule with what the gateway does where it is broken. */
export const having = (effect: Effect, rule: ValueRule): ValueRule => ({ ...rule, effect });

/** What an answer breaks. */
export const brokenRules = (rules: readonly ValueRule[], answer: unknown, asked: Asked): Drift[] =>
  rules.flatMap(({ path, expected, broken, effect = 'shown' }) => {
    const seen = broken(answer, asked);
    return seen === undefined ? [] : [{ kind: 'value', path, expected, seen, loses: path, effect }];
  });
