// Prints the report as text, one line for each check with its differences below, or as JSON.

import { type Check, isProblem, type Report } from './report.ts';
import { type SuggestedMapping, suggestMapping } from './suggested-mapping.ts';

const MARKS = { OK: 'ok', CHANGED: 'CHANGED', UNREACHABLE: 'UNREACHABLE', SKIPPED: 'skipped' } as const;

const pad = (text: string, width: number): string => text.padEnd(width);

function lineOf({ name, status, http, milliseconds, note }: Check, width: number): string {
  const latency = milliseconds === undefined ? '' : `${milliseconds} ms`;
  const code = pad(http === undefined ? '' : String(http), 3);
  const columns = [pad(name, width), pad(MARKS[status], 11), code, latency.padStart(8), note ?? ''];
  return `  ${columns.join('  ')}`.trimEnd();
}

const findingLines = ({ findings }: Check): string[] =>
  findings.map(({ answer, path, expected, seen, meaning, kind }) =>
    kind === 'added'
      ? `      new      ${answer} ${path}: ${seen} (${meaning})`
      : `      ${pad(kind, 8)} ${answer} ${path === '' ? '(the whole answer)' : path}: ` +
        `expected ${expected}, seen ${seen}\n               → ${meaning}`,
  );

const VERDICT = {
  OK: 'The upstream keeps its contract.',
  CHANGED: 'The upstream has changed.',
  UNREACHABLE: 'The upstream does not answer, or not everything.',
  SKIPPED: 'Nothing was checked.',
} as const;

/** The report as text, with a newline at its end. */
export function tableOf(report: Report): string {
  const { checks, limits, settings, upstream, sandbox, status, checkedAt } = report;
  const width = Math.max(...checks.map(({ name }) => name.length), 10);
  const renamed = Object.keys(suggestMapping(report)).length > 0;
  const lines = [
    `FoldAtlas doctor · ${upstream}${sandbox ? ' (SANDBOX)' : ''} · ${checkedAt.toISOString()}`,
    '',
    `  ${pad('operation', width)}  ${pad('status', 11)}  http   latency`,
    ...checks.flatMap((check) => [lineOf(check, width), ...findingLines(check)]),
    '',
    ...(limits.length === 0
      ? []
      : [
          '  limits',
          ...limits.map((one) => `    ${one.name}: expected ${one.expected}, seen ${one.seen}`),
          '',
        ]),
    VERDICT[status],
    ...Object.entries(settings).map(([name, value]) => `Set ${name}=${value}`),
    ...(renamed
      ? [
          'Renamed fields can be bridged: foldatlas doctor --propose > mapping.yaml, ' +
            'then set WIRE_MAPPING_FILE=mapping.yaml',
        ]
      : []),
  ];
  const differing = checks.filter(({ findings }) => findings.some(isProblem)).length;
  const count = (wanted: Check['status']) => checks.filter((one) => one.status === wanted).length;
  const counts =
    `${checks.length} checks, ${differing} changed, ` +
    `${count('UNREACHABLE')} unreachable, ${count('SKIPPED')} skipped.`;
  return `${[...lines, counts].join('\n')}\n`;
}

/**
 * The report as one JSON document. Keys are stable: the changelog names every key that is removed.
 */
export const jsonOfReport = (report: Report, mapping: SuggestedMapping): string =>
  `${JSON.stringify({ ...report, mapping }, null, 2)}\n`;
