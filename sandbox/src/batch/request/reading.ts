// How a request body is judged: by a schema, to a value or to a 400 that names the path and the
// mend.
import { z } from 'zod';
import { Refusal } from '../refusal.ts';

/** Enough to mend a body with; a body of a million mistakes must not cost a million messages. */
const MAX_ISSUES = 8;

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

const nameKind = (value: unknown): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'an array'
      : typeof value === 'object'
        ? 'an object'
        : shown(value);

/** Every number of the Batch API is an integer. */
const articles: Record<string, string> = {
  string: 'a string',
  number: 'an integer',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

/** The sentence for one mistake: what the field must be, and what it was. */
function explain(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const wanted = articles[issue.expected] ?? issue.expected;
      return issue.input === undefined
        ? `is required; give ${wanted}`
        : `must be ${wanted}, not ${nameKind(issue.input)}`;
    }
    case 'invalid_value': {
      const values = issue.values.map((value) => JSON.stringify(value)).join(', ');
      const rule = issue.values.length === 1 ? `must be ${values}` : `must be one of ${values}`;
      return issue.input === undefined ? `is required; it ${rule}` : `${rule}, not ${nameKind(issue.input)}`;
    }
    case 'too_small':
      return sizeRule(issue.origin, `at least ${issue.minimum}`, issue.input);
    case 'too_big':
      return sizeRule(issue.origin, `at most ${issue.maximum}`, issue.input);
    case 'unrecognized_keys':
      return `has no field ${issue.keys
        .slice(0, 5)
        .map((key) => shown(key))
        .join(', ')}; remove it`;
    case 'invalid_union':
      return `has no known kind: ${nameKind(issue.input)}`;
    default:
      return undefined;
  }
}

function sizeRule(origin: string, bound: string, input: unknown): string {
  if (origin === 'string') return `must have ${bound} characters`;
  if (origin === 'array')
    return `must have ${bound} entries, not ${Array.isArray(input) ? input.length : nameKind(input)}`;
  return `must be ${bound}, not ${nameKind(input)}`;
}

/** `["payload", 0, "model"]` as `payload[0].model`. */
function spell(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path)
    text += typeof step === 'number' ? `[${step}]` : `${text === '' ? '' : '.'}${String(step)}`;
  return text === '' ? 'the body' : text;
}

/** The branch of a union that came furthest says what is really wrong. */
function flatten(issue: z.core.$ZodIssue): { path: readonly PropertyKey[]; message: string } {
  if (issue.code !== 'invalid_union') return issue;
  const deepest = issue.errors
    .flat()
    .reduce<z.core.$ZodIssue | undefined>(
      (best, next) => (next.path.length > (best?.path.length ?? 0) ? next : best),
      undefined,
    );
  return deepest === undefined ? issue : { path: [...issue.path, ...deepest.path], message: deepest.message };
}

/**
 * An array whose entries are judged one after another and left at the first few bad ones; its
 * length is judged before any entry is looked at.
 */
export function list<S extends z.ZodType>(
  entry: S,
  { min = 0, max = 2 ** 31 }: { min?: number; max?: number } = {},
) {
  return z
    .array(z.unknown())
    .min(min)
    .max(max)
    .transform((values, context): z.output<S>[] => {
      const read: z.output<S>[] = [];
      let bad = 0;
      for (const [index, value] of values.entries()) {
        const result = entry.safeParse(value, { error: explain });
        if (result.success) read.push(result.data);
        else
          for (const issue of result.error.issues) {
            const { path, message } = flatten(issue);
            context.addIssue({ code: 'custom', path: [index, ...path], message });
            bad += 1;
          }
        if (bad >= MAX_ISSUES) break;
      }
      return read;
    });
}

/**
 * Reads a body by its schema.
 *
 * @throws Refusal 400 whose message lists each mistake as `path: what is wrong and how to mend it`
 */
export function read<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const result = schema.safeParse(body, { error: explain });
  if (result.success) return result.data;
  const issues = result.error.issues.map(flatten);
  const told = issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${spell(path)}: ${message}`);
  if (issues.length > told.length) told.push('and more');
  throw new Refusal(400, told.join('; '));
}

/** The JSON value of a request's text. @throws Refusal 400 when it is none */
export function parseBody(text: string): unknown {
  if (text.trim() === '') throw new Refusal(400, 'the body: is empty; send a JSON object');
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal(400, `the body: is not JSON (${reason.slice(0, 120)}); send one JSON object`);
  }
}
