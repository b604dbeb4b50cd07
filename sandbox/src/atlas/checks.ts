// Checks single values the way pydantic does in its lax mode, with its messages.
import type { ValidationProblem } from './refusals.ts';

/** Collects what is wrong with a request. */
export type Problems = ValidationProblem[];

/** Least and greatest value allowed. */
export interface Bounds {
  readonly ge?: number;
  readonly le?: number;
}

/** A hash of the wire. */
const HASH = '^[0-9a-f]{32}$';

function within(
  problems: Problems,
  loc: readonly string[],
  input: unknown,
  value: number,
  { ge, le }: Bounds,
): void {
  if (ge !== undefined && value < ge)
    problems.push({
      loc,
      msg: `Input should be greater than or equal to ${ge}`,
      type: 'greater_than_equal',
      input,
      ctx: { ge },
    });
  if (le !== undefined && value > le)
    problems.push({
      loc,
      msg: `Input should be less than or equal to ${le}`,
      type: 'less_than_equal',
      input,
      ctx: { le },
    });
}

/** A whole number: 5, "5", "5.0". Gives `fallback` after a problem. */
export function checkInteger(
  problems: Problems,
  loc: readonly string[],
  input: unknown,
  fallback: number,
  bounds: Bounds = {},
): number {
  const fail = (type: string, msg: string): number => {
    problems.push({ loc, msg, type, input });
    return fallback;
  };
  if (typeof input === 'string' && !/^\s*[+-]?\d+(\.0*)?\s*$/.test(input))
    return fail('int_parsing', 'Input should be a valid integer, unable to parse string as an integer');
  if (typeof input !== 'string' && typeof input !== 'number')
    return fail('int_type', 'Input should be a valid integer');
  const value = Number(input);
  if (!Number.isInteger(value))
    return fail('int_from_float', 'Input should be a valid integer, got a number with a fractional part');
  if (!Number.isSafeInteger(value))
    return fail('int_parsing_size', 'Unable to parse input string as an integer, exceeded maximum size');
  within(problems, loc, input, value, bounds);
  return value;
}

/** A finite number in a query. */
export function checkNumber(
  problems: Problems,
  loc: readonly string[],
  input: string,
  bounds: Bounds = {},
): number {
  const value = input.trim() === '' ? Number.NaN : Number(input);
  if (Number.isNaN(value))
    problems.push({
      loc,
      msg: 'Input should be a valid number, unable to parse string as a number',
      type: 'float_parsing',
      input,
    });
  else if (!Number.isFinite(value))
    problems.push({ loc, msg: 'Input should be a finite number', type: 'finite_number', input });
  else within(problems, loc, input, value, bounds);
  return value;
}

const WORDS = new Map<unknown, boolean>([
  ...['true', '1', 'on', 't', 'y', 'yes'].map((word) => [word, true] as const),
  ...['false', '0', 'off', 'f', 'n', 'no'].map((word) => [word, false] as const),
  [1, true],
  [0, false],
]);

/** A truth value: true, "true", 1, "yes" and their like. */
export function checkBoolean(
  problems: Problems,
  loc: readonly string[],
  input: unknown,
  fallback: boolean,
): boolean {
  if (typeof input === 'boolean') return input;
  const known = WORDS.get(typeof input === 'string' ? input.toLowerCase() : input);
  if (known !== undefined) return known;
  const parsed = typeof input === 'string' || typeof input === 'number';
  problems.push({
    loc,
    msg: `Input should be a valid boolean${parsed ? ', unable to interpret input' : ''}`,
    type: parsed ? 'bool_parsing' : 'bool_type',
    input,
  });
  return fallback;
}

/** A protein hash: 32 lower-case hexadecimal characters. */
export function checkHash(problems: Problems, loc: readonly string[], input: unknown): void {
  if (typeof input !== 'string')
    problems.push({ loc, msg: 'Input should be a valid string', type: 'string_type', input });
  else if (!new RegExp(HASH).test(input))
    problems.push({
      loc,
      msg: `String should match pattern '${HASH}'`,
      type: 'string_pattern_mismatch',
      input,
      ctx: { pattern: HASH },
    });
}
