// docs/promises.md names a test for each promise: every one of them is there, under that title.
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ROOT = new URL('..', import.meta.url);
const page = readFileSync(new URL('docs/promises.md', ROOT), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^\|(---| Promise )/.test(line))
  .map((line) => {
    const [, promise = '', test = ''] =
      line.split(' | ').length === 2 ? (/^\| (.*) \| (.*) \|$/.exec(line) ?? []) : [];
    const [, file = '', title = ''] = /^`(test\/[\w/.-]+\.test\.ts)` › (.+)$/.exec(test) ?? [];
    return { promise, file, title, line };
  });

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

it('says of every promise which test shows it, and each of them is there', () => {
  expect(rows.length).toBeGreaterThan(50);
  const missing = rows.filter(({ promise, file, title }) => {
    if (promise === '' || file === '' || !existsSync(new URL(file, ROOT))) return true;
    const written = literal(title);
    const head = String.raw`(?:\b(?:it|test|describe)(?:\.\w+)*(?:\([^)]*\))?|\])\)?\(\s*`;
    return !new RegExp(`${head}(?:'${written}'|"${written}"|\`${written}\`)`).test(
      readFileSync(new URL(file, ROOT), 'utf8'),
    );
  });
  expect(missing.map(({ line }) => line)).toEqual([]);
});

it('names no promise twice', () => {
  const promises = rows.map(({ promise }) => promise);
  expect(new Set(promises).size).toBe(promises.length);
});
