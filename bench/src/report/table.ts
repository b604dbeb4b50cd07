// Tables and targets as text for a terminal and for Markdown. Pure.
import { type Column, isMet, type Row, type Table, type Target } from './result.ts';

/** A number as people read it: no digits that mean nothing. */
export function shown(value: number | null | undefined, digits: number): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const cells = ({ who, values }: Row, columns: readonly Column[]): string[] => [
  who,
  ...columns.map(({ key, digits }) => shown(values[key], digits)),
];

/** Aligned columns for a terminal. */
export function terminalTable({ title, columns, rows }: Table): string {
  const lines = [['', ...columns.map((column) => column.title)], ...rows.map((row) => cells(row, columns))];
  const widths = lines[0]?.map((_, n) => Math.max(...lines.map((line) => line[n]?.length ?? 0))) ?? [];
  const text = lines.map((line) =>
    line.map((cell, n) => (n === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  '),
  );
  return [`\n${title}`, ...text].join('\n');
}

/** The same for Markdown. */
export function markdownTable({ title, note, columns, rows }: Table): string {
  const line = (parts: readonly string[]) => `| ${parts.join(' | ')} |`;
  return [
    `### ${title}\n`,
    `${note}\n`,
    line(['', ...columns.map((column) => column.title)]),
    line(['---', ...columns.map(() => '--:')]),
    ...rows.map((row) => line(cells(row, columns))),
  ].join('\n');
}

const toDigits = (value: number): number =>
  Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;

const bound = (target: Target): string =>
  'least' in target.bound
    ? `at least ${target.bound.least} ${target.unit}`
    : `at most ${target.bound.most} ${target.unit}`;

/** The measured value with its interval, where it has one. */
function measuredText({ measured, interval, unit }: Target): string {
  const digits = toDigits(measured);
  const range = interval?.map((end) => shown(end, digits)).join(' to ');
  return `${shown(measured, digits)} ${unit}${range === undefined ? '' : ` (${range})`}`;
}

/** A target in a line: met or missed, what was asked, what was measured. */
export const terminalTarget = (target: Target): string =>
  `${isMet(target) ? 'met   ' : 'MISSED'} ${target.text}: ${measuredText(target)}, asked ${bound(target)}`;

/** All targets for Markdown. */
export const markdownTargets = (targets: readonly Target[]): string =>
  [
    '| Target | Asked | Measured | |',
    '| --- | --- | --: | --- |',
    ...targets.map(
      (target) =>
        `| ${target.text} | ${bound(target)} | ${measuredText(target)} | ${isMet(target) ? 'met' : '**missed**'} |`,
    ),
  ].join('\n');
