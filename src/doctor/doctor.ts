// Examines a service: where its APIs are, then every operation that costs nothing.
import type { Downloads } from '../upstream/http/download.ts';
import type { Upstream } from '../upstream/http/upstream-client.ts';
import { shownUrl } from '../upstream/settings.ts';
import { checkAtlas } from './atlas.ts';
import { checkBatch } from './batch.ts';
import { findPrefix } from './prefixes.ts';
import type { Check, CheckStatus } from './probe.ts';

export interface Report {
  readonly checkedAt: Date;
  /** Address of the service without credentials. */
  readonly upstream: string;
  readonly sandbox: boolean;
  readonly status: CheckStatus;
  readonly checks: readonly Check[];
}

/** The first of these that a check has. */
const ORDER = ['CHANGED', 'UNREACHABLE', 'OK', 'SKIPPED'] as const;

/** Examines a service. It never throws for what the service does. @param batchId - of the caller's own */
export async function examine(
  up: Upstream,
  options: {
    readonly downloads: Downloads;
    readonly sandbox: boolean;
    readonly batchId?: string | undefined;
  },
): Promise<Report> {
  const { downloads, sandbox, batchId } = options;
  const atlas = await findPrefix(up, 'atlas');
  const batch = await findPrefix(up, 'batch');
  const at = (key: string, prefix: string) => ({ ...up, settings: { ...up.settings, [key]: prefix } });
  const checks = [
    atlas.check,
    batch.check,
    ...(atlas.prefix === null ? [] : await checkAtlas(at('atlasPrefix', atlas.prefix))),
    ...(batch.prefix === null ? [] : await checkBatch(at('batchPrefix', batch.prefix), downloads, batchId)),
  ];
  const status = ORDER.find((one) => checks.some((check) => check.status === one)) ?? 'SKIPPED';
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
  const lines = checks.flatMap(({ name, status: state, http = '', milliseconds, note = '', ...check }) => [
    `  ${name.padEnd(width)}  ${state.padEnd(11)}  ${String(http).padEnd(3)}  ${milliseconds === undefined ? '' : `${milliseconds} ms`}  ${note}`.trimEnd(),
    ...check.differences.map(
      ({ path, expected, seen, setting }) =>
        `      ${path}: expected ${expected}, seen ${seen}${setting === undefined ? '' : `; set ${setting}`}`,
    ),
    ...check.added.map((path) => `      ${path}: new, nothing is wrong`),
  ]);
  const head = `FoldAtlas doctor · ${upstream}${sandbox ? ' (SANDBOX)' : ''} · ${checkedAt.toISOString()}`;
  return [head, '', ...lines, '', VERDICTS[status], ''].join('\n');
}
