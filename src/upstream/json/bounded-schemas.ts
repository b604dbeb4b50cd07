// Zod schemas of lists and maps with a maximum, which stop at the first mistakes: zod itself reads
// every member and writes down each mistake before it looks at a maximum.
import * as z from 'zod';
import { isFields } from './is-fields.ts';

/** Mistakes after which the other members are not read. */
const MAX_MISTAKES = 10;

/** The entries of a list or a map. */
export interface MemberRule {
  readonly kind: 'list' | 'map';
  readonly member: z.ZodType;
  readonly max: number;
}

const RULES = new WeakMap<z.ZodType, MemberRule>();

/** The rule of a schema that `boundedList` or `boundedMap` has made; undefined for any other. */
export const memberRule = (schema: z.ZodType): MemberRule | undefined => RULES.get(schema);

type Context = Pick<z.RefinementCtx, 'issues'>;

function refuseType(expected: 'array' | 'record', input: unknown, { issues }: Context): never {
  issues.push({ code: 'invalid_type', expected, input });
  return z.NEVER;
}

function refuseSize(origin: 'array' | 'object', maximum: number, input: unknown, { issues }: Context): never {
  issues.push({ code: 'too_big', origin, maximum, inclusive: true, input });
  return z.NEVER;
}

function refuseRepeat<T>(list: readonly T[], toKey: (member: T) => unknown, { issues }: Context): void {
  const at = findRepeat(list, toKey);
  if (at < 0) return;
  const key = String(toKey(list[at] as T));
  issues.push({
    code: 'custom',
    message: `expected each once, seen ${key.slice(0, 60)} twice`,
    path: [at],
    input: undefined,
  });
}

/** Reads a member. A mistake goes to the context, and nothing behind the last one is read. */
function readMember<S extends z.ZodType>(
  member: S,
  key: string | number,
  value: unknown,
  { issues }: Context,
): z.output<S> | typeof z.NEVER {
  if (issues.length >= MAX_MISTAKES) return z.NEVER;
  const { success, data, error } = member.safeParse(value);
  if (success) return data;
  for (const issue of error.issues) issues.push({ ...issue, input: undefined, path: [key, ...issue.path] });
  return z.NEVER;
}

/** The place of the first member that repeats the key of an earlier one; -1 where none does. */
export function findRepeat<T>(list: readonly T[], toKey: (member: T) => unknown): number {
  const seen = new Set<unknown>();
  return list.findIndex((member) => seen.size === seen.add(toKey(member)).size);
}

/**
 * A list of at most `max` members. A longer one is refused before a member is read.
 *
 * @param toKey - the key that no two members share
 */
export function boundedList<S extends z.ZodType>(
  member: S,
  max: number,
  min = 0,
  toKey?: (member: z.output<S>) => unknown,
) {
  const list = z
    .unknown()
    .meta({
      type: 'array',
      ...(min > 0 ? { minItems: min } : {}),
      maxItems: max,
      // Read for the tools of agents alone.
      get items() {
        const { $schema: _, ...schema } = z.toJSONSchema(member, { io: 'input' });
        return schema;
      },
    })
    .transform((value, context): z.output<S>[] => {
      if (!Array.isArray(value)) return refuseType('array', value, context);
      if (value.length > max) return refuseSize('array', max, value, context);
      if (value.length < min) {
        context.issues.push({
          code: 'too_small',
          origin: 'array',
          minimum: min,
          inclusive: true,
          input: value,
        });
        return z.NEVER;
      }
      const list = value.map((one: unknown, i) => readMember(member, i, one, context));
      if (toKey !== undefined && context.issues.length === 0) refuseRepeat(list, toKey, context);
      return list;
    });
  RULES.set(list, { kind: 'list', member, max });
  return list;
}

/** An object whose names are data: at most `max` of them. */
export function boundedMap<S extends z.ZodType>(member: S, max: number) {
  const map = z.unknown().transform((value, context): Record<string, z.output<S>> => {
    if (!isFields(value)) return refuseType('record', value, context);
    const names = Object.keys(value);
    if (names.length > max) return refuseSize('object', max, value, context);
    return Object.fromEntries(names.map((name) => [name, readMember(member, name, value[name], context)]));
  });
  RULES.set(map, { kind: 'map', member, max });
  return map;
}

/** A list of at most `max` numbers that pass a test: a tenth of the time of `boundedList`. */
export const numberList = <T extends number | null>(isMember: (value: unknown) => value is T, max: number) =>
  z.custom<T[]>((value) => Array.isArray(value) && value.length <= max && value.every(isMember), {
    error: `expected a list of at most ${max} numbers`,
  });
