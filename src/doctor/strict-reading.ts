// Reads an answer strictly by a schema of wire.ts: keys that the gateway can do without are
// required, and unknown keys are named. Differences hold paths, kinds and numbers, and no other
// value of the answer.
import * as z from 'zod';
import { boundedList, boundedMap, memberRule } from '../upstream/json/bounded-schemas.ts';

export interface Difference {
  /**
   * In the JSON, such as `$.items[].status`, or another part of the answer, such as `HTTP status`.
   */
  readonly path: string;
  readonly expected: string;
  readonly seen: string;
  /** The setting that bridges it. */
  readonly setting?: string | undefined;
}

/** The schema without `.catch` and `.optional`, and with strict objects. Null stays. */
function toStrict(schema: unknown): z.ZodType {
  const rule = schema instanceof z.ZodType ? memberRule(schema) : undefined;
  if (rule?.kind === 'list') return boundedList(toStrict(rule.member), rule.max);
  if (rule?.kind === 'map') return boundedMap(toStrict(rule.member), rule.max);
  if (schema instanceof z.ZodCatch || schema instanceof z.ZodOptional) return toStrict(schema.def.innerType);
  if (schema instanceof z.ZodNullable) return toStrict(schema.def.innerType).nullable();
  if (schema instanceof z.ZodPipe)
    return toStrict(schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in);
  if (schema instanceof z.ZodUnion) return z.union(schema.def.options.map(toStrict));
  if (schema instanceof z.ZodObject)
    return z.strictObject(
      Object.fromEntries(Object.entries(schema.def.shape).map(([key, inner]) => [key, toStrict(inner)])),
    );
  return schema instanceof z.ZodType ? schema : z.unknown();
}

/** Keys of maps: hashes and accessions of Pfam. */
const MAP_KEY = /^([0-9a-f]{32}|PF\d+(\.\d+)?)$/;

/** A key of the service, which may be any text. */
function printableKey(key: string): string {
  if (MAP_KEY.test(key)) return '*';
  return /^[\w@$-]{1,60}$/.test(key) ? key : '(a key that is no name)';
}

const toPath = (steps: readonly PropertyKey[]): string =>
  `$${steps.map((step) => (typeof step === 'number' ? '[]' : `.${printableKey(String(step))}`)).join('')}`;

/** The value at a path of an answer; undefined where there is none. */
export const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((here, step) => Object(here)[step], value);

function kindAt(value: unknown, path: readonly PropertyKey[]): string {
  const found = valueAt(value, path);
  if (found === undefined) return 'nothing';
  if (found === null) return 'null';
  return Array.isArray(found) ? 'array' : typeof found;
}

function toDifference({ code, path, message, ...issue }: z.core.$ZodIssue, value: unknown): Difference {
  const [, expected, seen] = /^expected (.+), seen (.+)$/s.exec(message) ?? [];
  const kind = code === 'invalid_type' && 'expected' in issue ? String(issue.expected) : message;
  return {
    path: toPath(path),
    expected: expected ?? (code === 'invalid_union' ? 'one of the known forms' : kind),
    seen: seen ?? kindAt(value, path),
  };
}

/** Differences of one answer that are printed; a broken list has thousands. */
const MAX_DIFFERENCES = 20;

/**
 * @param schema - of wire.ts
 * @param optional - keys that may be missing, such as `accession` or `hits[].name`
 * @returns one difference for each path, and the paths of keys that the schema does not have
 */
export function readStrictly(
  schema: z.ZodType,
  value: unknown,
  optional: readonly string[],
): { readonly differences: readonly Difference[]; readonly added: readonly string[] } {
  const issues = [toStrict(schema), schema].flatMap((one) => one.safeParse(value).error?.issues ?? []);
  const differences = new Map<string, Difference>();
  const added = new Set<string>();
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) added.add(toPath([...issue.path, key]));
      continue;
    }
    const difference = toDifference(issue, value);
    const isAllowed = difference.seen === 'nothing' && optional.includes(difference.path.slice('$.'.length));
    if (!isAllowed && !differences.has(difference.path)) differences.set(difference.path, difference);
  }
  return {
    differences: [...differences.values()].slice(0, MAX_DIFFERENCES),
    added: [...added].slice(0, MAX_DIFFERENCES),
  };
}
