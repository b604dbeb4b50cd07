// The report: checks, differences, measured limits, as data, text and JSON. It holds names, kinds
// and numbers, never a value of an answer.
import type { WireMapping } from '../upstream/renames.ts';
import type { Drift } from './compare.ts';

export type CheckStatus = 'OK' | 'CHANGED' | 'UNREACHABLE' | 'SKIPPED';

/** A difference, with what was compared: an operation's answer or a file in it. */
export interface Finding extends Drift {
  /** Name in contract/answers.ts, or that of the operation for a difference outside the body. */
  readonly answer: string;
  readonly meaning: string;
}

export interface Check {
  /** Such as `protein` or `protein, unknown hash`. */
  readonly name: string;
  readonly operation: string;
  readonly status: CheckStatus;
  readonly http?: number;
  readonly milliseconds?: number;
  /** Why it was skipped or is unreachable. */
  readonly note?: string;
  /** All differences; those of kind `added` do not make a check CHANGED. */
  readonly findings: readonly Finding[];
}

export interface Measured {
  readonly name: string;
  readonly expected: string;
  readonly seen: string;
}

export interface Report {
  readonly checkedAt: Date;
  /** Address of the upstream without credentials. */
  readonly upstream: string;
  readonly sandbox: boolean;
  readonly status: CheckStatus;
  readonly checks: readonly Check[];
  readonly limits: readonly Measured[];
  /** Settings that would adapt the gateway to the upstream, such as a prefix. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Whether a difference takes something away; an addition does not. */
export const isProblem = ({ kind }: Pick<Drift, 'kind'>): boolean => kind !== 'added';

/** The first of these that a check has. OK stands for checks that were skipped, too. */
export function statusOf(checks: readonly Pick<Check, 'status'>[]): CheckStatus {
  const order = ['CHANGED', 'UNREACHABLE', 'OK', 'SKIPPED'] as const;
  return order.find((status) => checks.some((check) => check.status === status)) ?? 'SKIPPED';
}

export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

const MARKS = { OK: 'ok', CHANGED: 'CHANGED', UNREACHABLE: 'UNREACHABLE', SKIPPED: 'skipped' } as const;

function lineOf({ name, status, http, milliseconds, note = '' }: Check, width: number): string {
  const latency = milliseconds === undefined ? '' : `${milliseconds} ms`;
  const columns = [
    name.padEnd(width),
    MARKS[status].padEnd(11),
    String(http ?? '').padEnd(3),
    latency.padStart(8),
    note,
  ];
  return `  ${columns.join('  ')}`.trimEnd();
}

const findingLines = ({ findings }: Check): string[] =>
  findings.map(({ answer, path, expected, seen, meaning, kind }) =>
    kind === 'added'
      ? `      new      ${answer} ${path}: ${seen} (${meaning})`
      : `      ${kind.padEnd(8)} ${answer} ${path === '' ? '(the whole answer)' : path}: ` +
        `expected ${expected}, seen ${seen}\n               → ${meaning}`,
  );

const VERDICT = {
  OK: 'The upstream keeps its contract.',
  CHANGED: 'The upstream has changed.',
  UNREACHABLE: 'The upstream does not answer, or not everything.',
  SKIPPED: 'Nothing was checked.',
} as const;

const BRIDGE =
  'Renamed fields can be bridged: foldatlas doctor --propose > mapping.yaml, ' +
  'then set WIRE_MAPPING_FILE=mapping.yaml';

export function tableOf(report: Report): string {
  const { checks, limits, settings, upstream, sandbox, status, checkedAt } = report;
  const width = Math.max(...checks.map(({ name }) => name.length), 10);
  const isRenamed = checks.some(({ findings }) => findings.some(({ name }) => name !== undefined));
  const differing = checks.filter(({ findings }) => findings.some(isProblem)).length;
  const count = (wanted: CheckStatus) => checks.filter((one) => one.status === wanted).length;
  const measured = limits.map((one) => `    ${one.name}: expected ${one.expected}, seen ${one.seen}`);
  const lines = [
    `FoldAtlas doctor · ${upstream}${sandbox ? ' (SANDBOX)' : ''} · ${checkedAt.toISOString()}`,
    '',
    `  ${'operation'.padEnd(width)}  status       http   latency`,
    ...checks.flatMap((check) => [lineOf(check, width), ...findingLines(check)]),
    '',
    ...(measured.length === 0 ? [] : ['  limits', ...measured, '']),
    VERDICT[status],
    ...Object.entries(settings).map(([name, value]) => `Set ${name}=${value}`),
    ...(isRenamed ? [BRIDGE] : []),
    `${checks.length} checks, ${differing} changed, ` +
      `${count('UNREACHABLE')} unreachable, ${count('SKIPPED')} skipped.`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Its keys are stable: the changelog names every key that is removed. */
export const jsonOfReport = (report: Report, mapping: WireMapping): string =>
  `${JSON.stringify({ ...report, mapping }, null, 2)}\n`;
