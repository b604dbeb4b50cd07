// One check of the doctor: makes a call once, and compares its answer with what is expected.
import type * as z from 'zod';
import { isApiError, UpstreamError } from '../upstream/errors.ts';
import type { Call, Upstream } from '../upstream/http/call.ts';
import { callAnyStatus } from '../upstream/http/upstream-client.ts';
import { parseJsonBody } from '../upstream/http/validate-response.ts';
import { type Difference, readStrictly } from './strict-reading.ts';

export type FreeCall = Omit<Call, 'isRepeatable'>;

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** The JSON; undefined for anything else. */
  readonly body: unknown;
  /** The same without its envelope. */
  readonly content: unknown;
}

/** The expectations of an answer. */
export interface Expected {
  /** 200 when absent. */
  readonly statuses?: readonly number[];
  /** Schema of the content of a success. */
  readonly schema?: z.ZodType;
  /** Keys that a service may leave out. */
  readonly optional?: readonly string[];
  /** The meaning of a 404 for an id that the caller gave. */
  readonly absent?: string;
  /** The same call with nothing but this id: where this is refused as well, the id is. */
  readonly bare?: FreeCall;
  /** The setting that bridges a refusal of the input. */
  readonly setting?: string;
  /** Looks further into an answer with an expected status. */
  readonly examine?: (answer: Answer) => readonly Difference[] | Promise<readonly Difference[]>;
}

/**
 * `NOT_SEEN`: the caller asked for it, but token or batch is refused or missing. `SKIPPED`: the
 * caller gave none.
 */
export type CheckStatus = 'OK' | 'CHANGED' | 'UNREACHABLE' | 'NOT_SEEN' | 'SKIPPED';

export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  readonly http?: number;
  /** Why it was skipped, not seen or is unreachable. */
  readonly note?: string;
  readonly differences?: readonly Difference[];
  /** Paths of keys that are new: nothing is wrong. */
  readonly added?: readonly string[];
}

/** Makes a call once, and reads its answer. @throws UpstreamError when no whole answer came */
export async function ask(up: Upstream, call: FreeCall): Promise<Answer> {
  const response = await callAnyStatus(up, { ...call, isRepeatable: false });
  const contentType = /^[\w.+/-]{1,60}/.exec(String(response.headers['content-type'] ?? ''))?.[0] ?? '';
  const bytes = response.body;
  const body = contentType.includes('json')
    ? await parseJsonBody(call.operation, bytes).catch(() => undefined)
    : undefined;
  const { data } = Object(body);
  const content = typeof data === 'object' && data !== null ? data : body;
  return { status: response.status, contentType, bytes, body, content };
}

/** The check of a call that failed. @throws what is no failure of the service */
export function unreachable(name: string, error: unknown): Check {
  if (!(error instanceof UpstreamError)) throw error;
  return { name, status: 'UNREACHABLE', note: error.failure.code };
}

const isRefused = (status: number): boolean => status === 400 || status === 422;

async function compare(
  { statuses = [200], schema, optional = [], setting, examine }: Expected,
  answer: Answer,
): Promise<Pick<Check, 'differences' | 'added'>> {
  const { status, contentType, content } = answer;
  if (!statuses.includes(status)) {
    const other = { path: 'HTTP status', expected: statuses.join(' or '), seen: String(status) };
    return { differences: [isRefused(status) ? { ...other, setting } : other] };
  }
  const own = (await examine?.(answer)) ?? [];
  if (schema === undefined || status >= 300) return { differences: own };
  if (content === undefined)
    return { differences: [{ path: 'content-type', expected: 'JSON', seen: contentType || 'none' }] };
  const { differences, added } = readStrictly(schema, content, optional);
  return { differences: [...differences, ...own], added };
}

/**
 * Checks an operation.
 *
 * @returns the check, and the content of an answer whose status is expected
 */
export async function checkCall(
  up: Upstream,
  name: string,
  call: FreeCall,
  expected: Expected,
): Promise<{ readonly check: Check; readonly content?: unknown }> {
  if (call.api === 'batch' && up.token === undefined)
    return {
      check: { name, status: expected.absent === undefined ? 'SKIPPED' : 'NOT_SEEN', note: 'needs a token' },
    };
  try {
    const answer = await ask(up, call);
    const { status: http, content, body } = answer;
    if (http === 429 || http >= 500)
      return { check: { name, status: 'UNREACHABLE', http, note: 'no usable answer' } };
    if (call.api === 'batch' && (http === 401 || http === 403))
      return { check: { name, status: 'NOT_SEEN', http, note: 'the token is refused' } };
    if (http === 404 && expected.absent !== undefined && isApiError(body))
      return { check: { name, status: 'NOT_SEEN', http, note: expected.absent } };
    if (isRefused(http) && expected.bare !== undefined && isRefused((await ask(up, expected.bare)).status))
      return { check: { name, status: 'NOT_SEEN', http, note: 'the id is refused' } };
    const compared = await compare(expected, answer);
    const status = compared.differences?.length === 0 ? 'OK' : 'CHANGED';
    const isExpected = (expected.statuses ?? [200]).includes(http);
    return { check: { name, status, http, ...compared }, ...(isExpected ? { content } : {}) };
  } catch (error) {
    return { check: unreachable(name, error) };
  }
}
