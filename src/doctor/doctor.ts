// Examines a service: calls every operation that costs nothing, reads the answers strictly, and reports
// what differs. Nothing is submitted, and only ids that cannot exist are cancelled.
import { errorText, UpstreamError } from '../upstream/errors.ts';
import { parseJsonBody, readBytes } from '../upstream/http/response-body.ts';
import { callAnyStatus, type Upstream } from '../upstream/http/upstream-client.ts';
import { type Api, shownUrl } from '../upstream/settings.ts';
import {
  type Answer,
  ATLAS_OPERATIONS,
  BATCH_OPERATIONS,
  type FreeCall,
  firstKnown,
  type Known,
  type Operation,
  PREFIX_CALLS,
} from './operations.ts';
import { type Difference, readStrictly } from './strict-reading.ts';

export type CheckStatus = 'OK' | 'CHANGED' | 'UNREACHABLE' | 'SKIPPED';

export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  readonly http?: number;
  /** Why it was skipped or is unreachable. */
  readonly note?: string;
  readonly differences?: readonly Difference[];
  /** Paths of keys that are new: nothing is wrong. */
  readonly added?: readonly string[];
}

export interface Report {
  readonly checkedAt: Date;
  /** Address of the service without credentials. */
  readonly upstream: string;
  readonly sandbox: boolean;
  readonly status: CheckStatus;
  readonly checks: readonly Check[];
}

/** @throws what is no failure of the service */
function unreachable(name: string, error: unknown): Check {
  if (!(error instanceof UpstreamError)) throw error;
  return { name, status: 'UNREACHABLE', note: error.failure.code };
}

/** Makes a call once, and reads its answer. @throws UpstreamError when no whole answer came */
async function ask(up: Upstream, call: FreeCall): Promise<Answer> {
  const response = await callAnyStatus(up, { ...call, repeatable: false });
  const contentType = /^[\w.+/-]{1,60}/.exec(String(response.headers['content-type'] ?? ''))?.[0] ?? '';
  const bytes = await readBytes(up, response);
  const body = contentType.includes('json')
    ? await parseJsonBody(call.operation, bytes).catch(() => undefined)
    : undefined;
  const { data } = Object(body);
  const content = typeof data === 'object' && data !== null ? data : body;
  return { status: response.status, contentType, bytes, body, content };
}

/** Compares an answer with what its operation expects. */
async function compare(
  { statuses = [200], schema, optional = [], setting, examine }: Operation,
  answer: Answer,
  known: Known,
): Promise<Pick<Check, 'differences' | 'added'>> {
  const { status, contentType, content } = answer;
  if (!statuses.includes(status)) {
    const other = { path: 'HTTP status', expected: statuses.join(' or '), seen: String(status) };
    return { differences: [status === 400 || status === 422 ? { ...other, setting } : other] };
  }
  const own = (await examine?.(answer, known)) ?? [];
  if (schema === undefined || status >= 300) return { differences: own };
  if (content === undefined)
    return { differences: [{ path: 'content-type', expected: 'JSON', seen: contentType || 'none' }] };
  const { differences, added } = readStrictly(schema, content, optional);
  return { differences: [...differences, ...own], added };
}

async function check(up: Upstream, operation: Operation, call: FreeCall, known: Known): Promise<Check> {
  const { name } = operation;
  if (call.api === 'batch' && up.token === undefined)
    return { name, status: 'SKIPPED', note: 'needs a token' };
  try {
    const answer = await ask(up, call);
    const { status: http } = answer;
    if (http === 429 || http >= 500) return { name, status: 'UNREACHABLE', http, note: 'no usable answer' };
    if (call.api === 'batch' && (http === 401 || http === 403))
      return { name, status: 'SKIPPED', http, note: 'the token is refused' };
    const compared = await compare(operation, answer, known);
    return { name, status: compared.differences?.length === 0 ? 'OK' : 'CHANGED', http, ...compared };
  } catch (error) {
    return unreachable(name, error);
  }
}

/**
 * Checks where an API is. Its prefix is believed only where an impossible path beside it is answered
 * differently, because a server may answer every path alike.
 */
async function checkPrefix(up: Upstream, api: Api): Promise<Check> {
  const { key, setting, call, isRight } = PREFIX_CALLS[api];
  const name = `prefix, ${api}`;
  const prefix = up.settings[key];
  const summary = ({ status, contentType, body }: Answer) => `${status} ${contentType} ${errorText(body)}`;
  try {
    const answer = await ask(up, call);
    const beside = { ...up, settings: { ...up.settings, [key]: `${prefix}-foldatlas-doctor` } };
    if (isRight(answer) && summary(answer) !== summary(await ask(beside, call)))
      return { name, status: 'OK', http: answer.status };
    const expected = `the API at ${prefix}, and something else beside it`;
    const lost = { path: setting, expected, seen: `no such answer (HTTP ${answer.status})`, setting };
    return { name, status: 'CHANGED', http: answer.status, differences: [lost] };
  } catch (error) {
    return unreachable(name, error);
  }
}

/** The report has the first of these that a check has. */
const ORDER = ['CHANGED', 'UNREACHABLE', 'OK', 'SKIPPED'] as const;

/**
 * Examines a service. It never throws for what the service does.
 *
 * @param batchId - a batch of the caller's own, whose pages and a task are read
 */
export async function examine(
  up: Upstream,
  { sandbox, batchId }: { readonly sandbox: boolean; readonly batchId?: string | undefined },
): Promise<Report> {
  const known = firstKnown(batchId);
  const checks: Check[] = [];
  for (const [api, operations] of [
    ['atlas', ATLAS_OPERATIONS],
    ['batch', BATCH_OPERATIONS],
  ] as const) {
    const prefix = await checkPrefix(up, api);
    checks.push(prefix);
    if (prefix.status !== 'OK') continue;
    for (const operation of operations) {
      const call = operation.call(known, up.settings);
      if (call !== null) checks.push(await check(up, operation, call, known));
    }
  }
  const status = ORDER.find((one) => checks.some((done) => done.status === one)) ?? 'SKIPPED';
  return { checkedAt: new Date(), upstream: shownUrl(up.settings.baseUrl), sandbox, status, checks };
}

const VERDICTS = {
  OK: 'The service is as the gateway expects it.',
  CHANGED: 'The service has changed.',
  UNREACHABLE: 'The service does not answer, or not everything.',
  SKIPPED: 'Nothing was checked.',
} as const;

/** The report as text: a line for each check, and one for each difference below it. */
export function reportText({ checks, upstream, sandbox, status, checkedAt }: Report): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(
    ({ name, status: state, http = '', note = '', differences = [], added = [] }) => [
      `  ${name.padEnd(width)}  ${state.padEnd(11)}  ${String(http).padEnd(3)}  ${note}`.trimEnd(),
      ...differences.map(
        ({ path, expected, seen, setting }) =>
          `      ${path}: expected ${expected}, seen ${seen}${setting === undefined ? '' : `; set ${setting}`}`,
      ),
      ...added.map((path) => `      ${path}: new, nothing is wrong`),
    ],
  );
  const head = `FoldAtlas doctor · ${upstream}${sandbox ? ' (SANDBOX)' : ''} · ${checkedAt.toISOString()}`;
  return [head, '', ...lines, '', VERDICTS[status], ''].join('\n');
}
