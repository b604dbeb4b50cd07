// Reads an answer strictly by a schema of wire.ts: keys that the gateway can do without are required,
// and unknown keys are named. The result holds kinds and names, no values but of numbers and ids.
import { z } from 'zod';

export interface Difference {
  /** In the JSON, such as `$.items[].status`, or what else was looked at, such as `HTTP status`. */
  readonly path: string;
  readonly expected: string;
  readonly seen: string;
  /** The setting that bridges it, with its value where that is known. */
  readonly setting?: string | undefined;
}

/** A wire schema without what makes it liberal. `.catch` and `.optional` go, null stays. */
function strict(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodCatch || schema instanceof z.ZodOptional) return strict(schema.def.innerType);
  if (schema instanceof z.ZodNullable) return strict(schema.def.innerType).nullable();
  if (schema instanceof z.ZodPipe)
    return strict(schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in);
  if (schema instanceof z.ZodUnion) return z.union(schema.def.options.map(strict));
  if (schema instanceof z.ZodArray) return z.array(strict(schema.def.element));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), strict(schema.def.valueType));
  if (schema instanceof z.ZodObject)
    return z.strictObject(
      Object.fromEntries(Object.entries(schema.def.shape).map(([key, inner]) => [key, strict(inner)])),
    );
  return schema instanceof z.ZodType ? schema : z.unknown();
}

/** Keys of maps are hashes and accessions of Pfam. */
const MAP_KEY = /^([0-9a-f]{32}|PF\d+(\.\d+)?)$/;

/** A key as it may be shown: it comes from the service. */
function keyText(key: string): string {
  if (MAP_KEY.test(key)) return '*';
  return /^[\w@$-]{1,60}$/.test(key) ? key : '(a key that is no name)';
}

function pathText(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? '[]' : `.${keyText(String(step))}`));
  return `$${steps.join('')}`;
}

function kindAt(value: unknown, path: readonly PropertyKey[]): string {
  const found = path.reduce<unknown>((at, step) => Object(at)[step], value);
  if (found === undefined) return 'nothing';
  if (found === null) return 'null';
  return Array.isArray(found) ? 'array' : typeof found;
}

function toDifference({ code, path, message, ...issue }: z.core.$ZodIssue, value: unknown): Difference {
  const [, expected, seen] = /^expected (.+), seen (.+)$/s.exec(message) ?? [];
  const ofKind = code === 'invalid_type' && 'expected' in issue ? String(issue.expected) : message;
  const known = code === 'invalid_union' ? 'one of the known forms' : ofKind;
  return { path: pathText(path), expected: expected ?? known, seen: seen ?? kindAt(value, path) };
}

/** Differences of one answer that are told; a broken list has thousands. */
const MAX_DIFFERENCES = 20;

/**
 * @param schema - of wire.ts
 * @param optional - paths such as `$.accession` that may be missing
 * @returns one difference for each path, and the paths of keys that the schema does not have
 */
export function compare(
  schema: z.ZodType,
  value: unknown,
  optional: readonly string[],
): { readonly differences: readonly Difference[]; readonly added: readonly string[] } {
  const issues = [strict(schema), schema].flatMap((one) => one.safeParse(value).error?.issues ?? []);
  const differences = new Map<string, Difference>();
  const added = new Set<string>();
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys) added.add(pathText([...issue.path, key]));
    else {
      const difference = toDifference(issue, value);
      const { path, seen } = difference;
      const isAllowed = seen === 'nothing' && optional.includes(path);
      if (!isAllowed && !differences.has(path)) differences.set(path, difference);
    }
  }
  return {
    differences: [...differences.values()].slice(0, MAX_DIFFERENCES),
    added: [...added].slice(0, MAX_DIFFERENCES),
  };
}
