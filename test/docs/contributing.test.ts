// CONTRIBUTING.md is right: each file that it names exists, and each npm script.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT } from '../root.ts';

const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));

/** Folders of the source; what a build or a release makes is not there yet. */
const FOLDERS =
  /(?<![\w/.-])(?:\.ci|\.github|bench|clients|deploy|docs|examples|sandbox|scripts|skills|src|test)\/[\w./-]*\w/g;

it('every path that CONTRIBUTING.md names exists', () => {
  const links = Array.from(text.matchAll(/\]\((?!https?:|#)([^)#]+)/g), ([, path = '']) => path);
  const named = text.replaceAll(/\S*<\w+>\S*/g, '').matchAll(FOLDERS);
  const paths = [...new Set([...Array.from(named, ([path]) => path), ...links])];
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it('every file that CONTRIBUTING.md names without its folder exists', () => {
  const files = Array.from(
    text.matchAll(/`([\w.-]+\.(?:ts|js|json|md|toml|cff|graphql))`/g),
    ([, name = '']) => name,
  );
  const known = new Set(
    ['src', 'scripts', 'docs', 'test'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        path.replace(/.*[\\/]/, ''),
      ),
    ),
  );
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((name) => !known.has(name) && !existsSync(join(ROOT, name)))).toEqual([]);
});

it('every npm script that CONTRIBUTING.md names exists', () => {
  const names = Array.from(
    text.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(test)\b)/g),
    ([, run, test]) => run ?? test ?? '',
  );
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});
