// Rules about values: ranges, patterns and relations between fields. A rule ignores missing fields:
// compare.ts reports those.
import { isFields, valuesAt } from '../upstream/renames.ts';
import type { Drift } from './compare.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** What was asked, as far as an answer has to agree with it. */
export interface Asked {
  readonly hash?: string;
  readonly sequence?: string;
  readonly accession?: string;
  readonly index?: number;
  readonly indices?: readonly number[];
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

export interface ValueRule {
  /** Place that it is about, as in {@link Drift}. */
  readonly path: string;
  readonly expected: string;
  /** `drift` in any case where the reader's schema refuses the value. */
  readonly effect: Effect;
  /** What was seen where the rule is broken, without a value of the answer; else undefined. */
  readonly broken: (answer: unknown, asked: Asked) => string | undefined;
}

export const numbersAt = (answer: unknown, path: string): number[] =>
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
export const between = (path: string, min: number, max: number, effect: Effect = 'shown'): ValueRule => ({
  path,
  expected: max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`,
  effect,
  broken: (answer) => {
    const values = numbersAt(answer, path);
    if (values.some((value) => value > max)) return `a number above ${max}`;
    return values.some((value) => value < min) ? `a number below ${min}` : undefined;
  },
});

export const notNegative = (path: string): ValueRule => between(path, 0, Number.POSITIVE_INFINITY);

export const unit = (path: string, effect?: Effect): ValueRule => between(path, 0, 1, effect);

export const matching = (
  path: string,
  pattern: RegExp,
  expected: string,
  effect: Effect = 'shown',
): ValueRule => ({
  path,
  expected,
  effect,
  broken: (answer) =>
    valuesAt(answer, path).some((value) => typeof value === 'string' && !pattern.test(value))
      ? 'another text'
      : undefined,
});

export const asAsked = (
  path: string,
  expected: string,
  what: keyof Asked,
  effect: Effect = 'shown',
): ValueRule => ({
  path,
  expected,
  effect,
  broken: (answer, { [what]: wanted }) => {
    const [seen = wanted] = valuesAt(answer, path);
    return wanted === undefined || seen === null || seen === wanted ? undefined : 'another value';
  },
});

/**
 * A relation within each object at a place.
 *
 * @param path - the key that breaks it, below the place of the objects
 * @param holds - undefined where it cannot be decided
 */
export const within = (
  path: string,
  expected: string,
  holds: (fields: Fields, asked: Asked) => boolean | undefined,
  effect: Effect = 'shown',
): ValueRule => ({
  path,
  expected,
  effect,
  broken: (answer, asked) =>
    valuesAt(answer, path.slice(0, Math.max(path.lastIndexOf('.'), 0))).some(
      (value) => isFields(value) && holds(value, asked) === false,
    )
      ? 'a value that does not agree'
      : undefined,
});

/** The gateway sorts what comes in another order. */
export const descending = (path: string): ValueRule => ({
  path,
  expected: 'the highest first',
  effect: 'none',
  broken: (answer) => (isSorted(numbersAt(answer, path)) ? undefined : 'another order'),
});

export const brokenRules = (rules: readonly ValueRule[], answer: unknown, asked: Asked): Drift[] =>
  rules.flatMap(({ path, expected, broken, effect }) => {
    const seen = broken(answer, asked);
    return seen === undefined ? [] : [{ kind: 'value', path, expected, seen, loses: path, effect }];
  });
