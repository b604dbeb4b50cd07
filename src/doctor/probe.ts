// Makes one free call of the service and compares its answer with what the wire schemas say.
import type { z } from 'zod';
import { isApiError, UpstreamError } from '../upstream/errors.ts';
import { parseJsonBody, readBytes } from '../upstream/http/response-body.ts';
import { type Call, callAnyStatus, type Upstream } from '../upstream/http/upstream-client.ts';
import { compare, type Difference } from './differences.ts';

export type CheckStatus = 'OK' | 'CHANGED' | 'UNREACHABLE' | 'SKIPPED';

export interface Check {
  /** Such as `protein` or `protein, unknown hash`. */
  readonly name: string;
  readonly status: CheckStatus;
  readonly http?: number;
  readonly milliseconds?: number;
  /** Why it was skipped or is unreachable. */
  readonly note?: string;
  readonly differences: readonly Difference[];
  /** Paths of keys that are new: nothing is wrong. */
  readonly added: readonly string[];
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Undefined for what is no JSON. */
  readonly body: unknown;
}

export interface Probe {
  readonly name: string;
  readonly call: Omit<Call, 'repeatable'>;
  /** 200 when absent. */
  readonly statuses?: readonly number[];
  /** What the JSON body, or its `data`, is to be. */
  readonly schema?: z.ZodType;
  /** Paths that a service may leave out. */
  readonly optional?: readonly string[];
  /** The setting that bridges a refusal of the input (400, 422). */
  readonly setting?: string;
  /** Looks further into an answer with an expected status. */
  readonly examine?: (answer: Answer) => readonly Difference[] | Promise<readonly Difference[]>;
}

/** Makes a call once, whatever comes. @throws UpstreamError when no whole answer came */
export async function ask(up: Upstream, call: Probe['call']): Promise<Answer> {
  const answer = await callAnyStatus(up, { ...call, repeatable: false });
  const type = /^[\w.+/-]{1,60}/.exec(String(answer.headers['content-type'] ?? ''))?.[0] ?? '';
  const bytes = await readBytes(up, answer);
  const body = type.includes('json')
    ? await parseJsonBody(call.operation, bytes).catch(() => undefined)
    : undefined;
  return { status: answer.status, type, bytes, body };
}

/** What is in an envelope, of the Batch API or the catalogue; anything else as it is. */
export const readContent = (body: unknown): unknown => {
  const { data } = Object(body);
  return typeof data === 'object' && data !== null ? data : body;
};

export const skipped = (name: string, note: string, status: CheckStatus = 'SKIPPED'): Check => ({
  name,
  status,
  note,
  differences: [],
  added: [],
});

/** A 404 says that something does not exist only in the words of the API. */
export const isOwn404 = ({ body }: Answer): Difference[] =>
  isApiError(body) ? [] : [{ path: '$', expected: 'an error of the API', seen: 'a bare 404' }];

/** Runs a probe. It never throws for what the service does. */
export async function check(
  up: Upstream,
  { name, call, statuses = [200], schema, optional = [], setting, examine }: Probe,
): Promise<{ readonly check: Check; readonly body: unknown }> {
  const started = performance.now();
  let answer: Answer;
  try {
    answer = await ask(up, call);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { check: skipped(name, error.failure.code, 'UNREACHABLE'), body: undefined };
  }
  const { status: http, type, body } = answer;
  if (http === 429 || http >= 500)
    return { check: { ...skipped(name, 'no usable answer', 'UNREACHABLE'), http }, body: undefined };
  const content = readContent(body);
  const wanted = http < 300 ? schema : undefined;
  const differences: Difference[] = [];
  let added: readonly string[] = [];
  if (!statuses.includes(http)) {
    const isRefused = http === 400 || http === 422;
    const expected = statuses.join(' or ');
    const other = { path: 'HTTP status', expected, seen: String(http) };
    differences.push(isRefused ? { ...other, setting } : other);
  } else if (wanted !== undefined && body === undefined) {
    differences.push({ path: 'content-type', expected: 'JSON', seen: type === '' ? 'none' : type });
  } else {
    if (wanted !== undefined) {
      const compared = compare(wanted, content, optional);
      differences.push(...compared.differences);
      ({ added } = compared);
    }
    differences.push(...((await examine?.(answer)) ?? []));
  }
  const status = differences.length === 0 ? 'OK' : 'CHANGED';
  const milliseconds = Math.round(performance.now() - started);
  return { check: { name, status, http, milliseconds, differences, added }, body: content };
}
