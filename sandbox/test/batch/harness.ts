// A sandbox with a clock in the test's hand, and the Batch API called the way a client calls it:
// over HTTP.
import { ManualClock } from '../../src/clock.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox.ts';

export const MODEL = 'foldmodel2-2026-05-cutoff-2025';
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Ubiquitin's first residues: a chain that folds in no time. */
const SEQUENCE = 'MQIFVKTLTGKTITLEVEPS';

export type Json = Record<string, unknown>;

export function fold(sequence = SEQUENCE, more: Json = {}): Json {
  return { model: MODEL, all_atom_input: { sequences: [{ type: 'protein', id: 'A', sequence }] }, ...more };
}

export function input(all_atom_input: Json, more: Json = {}): Json {
  return { model: MODEL, all_atom_input, ...more };
}

export const batch = (payload: unknown, more: Json = {}): Json => ({
  endpoint: 'fold_max_accuracy',
  payload,
  ...more,
});

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
  /** `data` of the body, or the empty object. */
  data: Json;
}

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member that has to be text. */
export function readText(object: Json, key: string): string {
  const value = object[key];
  if (typeof value !== 'string') throw new Error(`${key} is ${JSON.stringify(value)}, no text`);
  return value;
}

/** `items` of a List answer. */
export function readItems({ data }: Answer): Json[] {
  if (!Array.isArray(data.items)) throw new Error('no items');
  return data.items.filter(isJson);
}

export function client(url: string, token = 'test-token') {
  return async (operation: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await fetch(`${url}/api/v1/batch/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const json: unknown = await response.json();
    if (!isJson(json)) throw new Error('the answer is no object');
    return {
      status: response.status,
      headers: response.headers,
      body: json,
      data: isJson(json.data) ? json.data : {},
    };
  };
}

/** Starts a small sandbox whose time stands still until it is advanced. */
export async function startHeld(options: SandboxOptions = {}) {
  const clock = options.clock instanceof ManualClock ? options.clock : new ManualClock();
  const sandbox = await startSandbox({ size: 'small', control: true, ...options, clock });
  return { sandbox, clock, url: sandbox.url, call: client(sandbox.url) };
}
