// Examines a service: calls every operation that costs nothing, reads the answers strictly, and
// reports what differs. Nothing is submitted, and only ids that cannot exist are cancelled.
import { errorText } from '../upstream/errors.ts';
import type { Upstream } from '../upstream/http/call.ts';
import { type Api, withoutCredentials } from '../upstream/settings.ts';
import { type Answer, ask, type Check, type CheckStatus, checkCall, unreachable } from './check.ts';
import { checkAtlas, checkBatch, PREFIX_CALLS, type RunCheck } from './operations.ts';

export interface Report {
  readonly checkedAt: Date;
  /** Address of the service without credentials. */
  readonly upstream: string;
  readonly sandbox: boolean;
  readonly status: CheckStatus;
  readonly checks: readonly Check[];
}

/**
 * Checks where an API is. Its prefix is believed only where an impossible path beside it is
 * answered differently, because a server may answer every path alike.
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
const ORDER = ['CHANGED', 'UNREACHABLE', 'NOT_SEEN', 'OK', 'SKIPPED'] as const;

/**
 * Examines a service. It never throws for what the service does.
 *
 * @param batchId - a batch of the caller's own, whose pages and a task are read
 */
export async function examine(
  up: Upstream,
  { sandbox, batchId }: { readonly sandbox: boolean; readonly batchId?: string | undefined },
): Promise<Report> {
  const checks: Check[] = [];
  const run: RunCheck = async (name, call, expected) => {
    const { check, content } = await checkCall(up, name, call, expected);
    checks.push(check);
    return content;
  };
  const atlas = await checkPrefix(up, 'atlas');
  checks.push(atlas);
  if (atlas.status === 'OK') await checkAtlas(run, up.settings);
  const batch = await checkPrefix(up, 'batch');
  checks.push(batch);
  if (batch.status === 'OK') await checkBatch(run, up.settings, batchId);
  const status = ORDER.find((one) => checks.some((done) => done.status === one)) ?? 'SKIPPED';
  return {
    checkedAt: new Date(),
    upstream: withoutCredentials(up.settings.base.href),
    sandbox,
    status,
    checks,
  };
}

const VERDICTS = {
  OK: 'The service is as the gateway expects it.',
  CHANGED: 'The service has changed.',
  UNREACHABLE: 'The service does not answer, or not everything.',
  NOT_SEEN: 'Nothing that was seen has changed; the checks marked NOT_SEEN say what was not seen, and why.',
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
