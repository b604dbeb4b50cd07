// Values of the service: counts, states, shares, percentages, confidences as zod schemas, and
// times.
import * as z from 'zod';
import { boundedList, numberList } from './json/bounded-schemas.ts';
import { isFields } from './json/is-fields.ts';
import { orMissing, withTest } from './json/plain-values.ts';

/** States of tasks, batches and bulk jobs. */
const KNOWN_STATES: ReadonlySet<string> = new Set([
  'queued',
  'in_progress',
  'done',
  'failed',
  'cancelled',
  'pending',
  'completed',
  'complete',
  'expired',
]);

/** A known word in the contract's spelling, whatever its case; any other as it came. */
export function normalizeState(word: string): string {
  const plain = word.toLowerCase();
  if (plain === 'canceled') return 'cancelled';
  return KNOWN_STATES.has(plain) ? plain : word;
}

/** A key that may be missing, null or unreadable: all mean unknown. */
export const maybe = <S extends z.ZodType>(schema: S) => schema.nullish().catch(undefined);

/** The same for a text that is unknown when it is empty. */
export const maybeFilled = (schema: z.ZodType<string>) =>
  maybe(schema.transform((value) => (value === '' ? undefined : value)));

const MAX_INT = 2 ** 31 - 1;
export const count = z.number().int().nonnegative().max(MAX_INT);
export const isCount = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_INT;
export const maybeCount = withTest(maybe(count), orMissing(isCount));
/** The catalogue has 16,384 features. */
const MAX_FEATURE_INDEX = 16_383;
export const featureIndex = count.max(MAX_FEATURE_INDEX);
/** The same for thousands of values: a tenth of the time of the schema. */
export const isFeatureIndex = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_FEATURE_INDEX;
export const text = z.string();
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const MAX_SHOWN_CHARACTERS = 60;
const seenInstead = (expected: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    `expected ${expected}, seen ` +
    JSON.stringify(input).slice(0, MAX_SHOWN_CHARACTERS).replace(new RegExp(INVISIBLE, 'gu'), '\uFFFD'),
});
/** Characters of an id that a caller may give: far more than any of the service has. */
export const MAX_ID_CHARACTERS = 2000;
/** Ids become parts of addresses, tables, file names and lines of a terminal. */
const ID = /^\w[\w.~:@=+-]{0,199}$/;
/** An id that the service gave: of a batch, a task or a job. */
export const id = text.refine(
  (value) => ID.test(value),
  seenInstead('an id of letters, digits and ._~:@=+-'),
);
/** The same where it may be missing. */
export const maybeId = maybe(text).refine(
  (value) => value == null || ID.test(value),
  seenInstead('an id of letters, digits and ._~:@=+-'),
);
const trimOrNull = (value: string): string | null => value.trim() || null;
/** A name or another text for readers; an empty one is none. */
export const name = text.transform(trimOrNull);
/** Whether a text is none or a name as it is. */
export const isTrimmedName = orMissing(
  (value) => typeof value === 'string' && value !== '' && value === value.trim(),
);
export const maybeName = withTest(maybe(name), isTrimmedName);
const MAX_ACCESSION_CHARACTERS = 200;
/** Whether a text may name an entry of another database. */
export const isAccession = (value: string): boolean =>
  value.length <= MAX_ACCESSION_CHARACTERS && !INVISIBLE.test(value);
const accessionError = seenInstead('an id without control characters');
/** The name of an entry of another database, as that database writes it. */
export const accession = text.refine(isAccession, accessionError);
/** The same where it may be missing; one of white space alone is none. */
export const maybeAccession = withTest(
  maybe(text.transform((value) => (value.trim() === '' ? null : value)))
    .refine((value) => value == null || isAccession(value), accessionError)
    .transform((value) => (value == null ? value : trimOrNull(value))),
  (value) => isTrimmedName(value) && isAccession(String(value ?? '')),
);
const HASH = /^[0-9a-f]{32}$/;
export const isHash = (value: string): boolean => HASH.test(value);
export const normalizeHash = (value: string): string => value.trim().toLowerCase();
const hashError = seenInstead('a hash of 32 hexadecimal digits');
/** The hash of a protein, by which answers are joined: lower-case, however it came. */
export const hash = text.transform(normalizeHash).refine(isHash, hashError);
/** The same where it may be missing; an empty one is unknown. */
export const maybeHash = maybe(text.transform((value) => normalizeHash(value) || undefined)).refine(
  (value) => value == null || isHash(value),
  hashError,
);
/** Amino acids: stop codons and white space are no residues and no part of the hash. */
export const sequence = text.transform((value) => value.replace(/[\s*]/g, '').toUpperCase());
export const number = z.number();
const YEAR_SECONDS = 366 * 24 * 3600;
/** A lifetime from now. */
export const lifetimeSeconds = number.nonnegative().max(YEAR_SECONDS);
/** A state, in the contract's spelling where the word is known. */
export const state = text.transform(normalizeState);

export const outside = (low: number, high: number) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    `expected a number from ${low} to ${high}, seen ${String(input)}`,
});

/** Scores may be above 1 by rounding. */
export const isShare = (value: number): boolean => value >= 0 && value <= 1 + 1e-6;
const isPercentage = (value: number): boolean => value >= 0 && value <= 100;

const isNumber = (value: unknown): value is number => typeof value === 'number';
/** A number outside its range is drift: whatever it means, it is not what the contract says. */
export const share = withTest(
  maybe(number).refine((value) => value == null || isShare(value), outside(0, 1)),
  orMissing((value) => isNumber(value) && isShare(value)),
);
export const percentage = withTest(
  maybe(number).refine((value) => value == null || isPercentage(value), outside(0, 100)),
  orMissing((value) => isNumber(value) && isPercentage(value)),
);
/** A mean pLDDT on 0 to 1, also where it came on 0 to 100. */
export const meanPlddt = withTest(
  percentage.transform((value) => (value != null && value > 1 ? value / 100 : value)),
  orMissing((value) => isNumber(value) && value >= 0 && value <= 1),
);
const isConfidence = (value: number | null): boolean => value === null || isPercentage(value);
const isNumberOrNull = (value: unknown): value is number | null => value === null || Number.isFinite(value);
/** The longest known protein has some 36,000. */
const MAX_RESIDUES = 100_000;
/** pLDDT by residue on 0 to 1: a list with any value above 1 is one on 0 to 100. */
export const residuesPlddt = maybe(numberList(isNumberOrNull, MAX_RESIDUES))
  .refine((list) => list == null || list.every(isConfidence), {
    error: ({ input }) =>
      'expected numbers from 0 to 100, seen ' +
      String((input as (number | null)[]).find((b) => !isConfidence(b))),
  })
  .transform((list) =>
    list?.some((value) => value !== null && value > 1) === true
      ? list.map((value) => (value === null ? null : value / 100))
      : list,
  );

/** A time of day with its zone behind it. */
const WITH_ZONE = /:\d\d(?:\.\d+)? ?(?:[a-z]{1,5}|[+-]\d\d(?::?\d\d)?)$/i;

/** No way to write a time is longer. */
const MAX_CHARACTERS = 64;

/** A time of the service, UTC without a zone. @returns null when it is missing or unreadable */
export function parseTime(text: string | null | undefined): Date | null {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '' || trimmed.length > MAX_CHARACTERS) return null;
  // PostgreSQL writes whole hours alone, which a Date does not take.
  const zoned = WITH_ZONE.test(trimmed) ? trimmed.replace(/[+-]\d\d$/, '$&:00') : `${trimmed}Z`;
  const date = new Date(zoned);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** All features of the catalogue, of one protein. */
const MAX_FEATURE_VALUES = MAX_FEATURE_INDEX + 1;

/**
 * Features, each once; one whose value is NaN, which is read as null, has none and is left out.
 */
export const featuresWith = <S extends z.ZodType<{ feature_index: number }>>(feature: S) =>
  z.preprocess(
    (list) =>
      Array.isArray(list) ? list.filter((one: unknown) => !isFields(one) || one.value !== null) : list,
    boundedList(feature, MAX_FEATURE_VALUES, 0, (one) => one.feature_index),
  );
