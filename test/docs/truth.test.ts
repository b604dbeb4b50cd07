// The guides tell the truth about every setting, every metric, every link, every line of client
// code, every token with a fate.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { readConfig, SETTINGS } from '../../src/config.ts';
import { at, openWorld, type World } from '../support.ts';
import { FOLD, SUBMIT } from '../system/clients/place.ts';
import { guides, ROOT, readGuide } from './guides.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Names in backticks; `a_b`, `_c` in one line is short for a_b and a_c. */
function metricsIn(text: string): Set<string> {
  const names = new Set<string>();
  for (const line of text.split('\n')) {
    let last = '';
    for (const [, name = ''] of line.matchAll(/`(foldatlas_\w+|_[a-z]\w*)(?:\{[^`]*)?`/g)) {
      if (name.startsWith('foldatlas_')) last = name;
      if (last === '') continue;
      names.add(name.startsWith('_') ? last.replace(/_(in_flight|[a-z]+)$/, name) : name);
    }
  }
  return names;
}

describe('the guides', () => {
  it('name every setting in a table for operators, and none that there is not', () => {
    const { text } = readGuide('docs/operators.md');
    const rows = text.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name),
    );
    expect(named.toSorted()).toEqual([...SETTINGS].sort());

    const units: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2 };
    const told = rows.flatMap((row) => {
      const [, names = [], values = []] = row.split('|').map((cell) => cell.trim().split(', '));
      return names.map((name, i) => [name.replaceAll('`', ''), values[i] ?? '?'] as const);
    });
    const checked = told.flatMap(([name, value]) => {
      const [, word, number, unit = ''] = /^(?:`?([\w:/.-]+?)`?|(\d+) ([KM]iB))$/.exec(value) ?? [];
      // Some settings have no default, that of another setting, or one in words.
      if (/^(none|any|STORE_URL)$/.test(value.replaceAll('`', '')) || !(word ?? number)) return [];
      return [[name, word ?? String(Number(number) * (units[unit] ?? 1))]];
    });
    expect(checked.length).toBeGreaterThan(20);
    const defaults = new Map(
      Object.entries(readConfig({})).map(([name, value]) => [
        name,
        typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value),
      ]),
    );
    expect(checked.map(([name = '']) => [name, defaults.get(name)])).toEqual(checked);
  });

  it('name every metric, and none that there is not', async () => {
    const response = await world.gateway.fetch(new Request('http://gateway.test/metrics'));
    const served = [...(await response.text()).matchAll(/^# TYPE ((?:foldatlas|nodejs)_\w+)/gm)].map(
      ([, name = '']) => name,
    );
    expect(served.length).toBeGreaterThan(15);
    const told = metricsIn(guides.map(({ text }) => text).join('\n'));
    expect(served.filter((name) => name.startsWith('foldatlas_') && !told.has(name))).toEqual([]);
    const watched = ['alerts.yaml', 'dashboard.json'].flatMap((name) => {
      const text = readFileSync(join(ROOT, 'deploy/monitoring', name), 'utf8');
      return [...text.matchAll(/(?:foldatlas|nodejs)_[a-z_0-9]+/g)].map(([metric]) =>
        metric.replace(/_bucket$/, ''),
      );
    });
    expect(watched.length).toBeGreaterThan(20);
    expect([...told, ...watched].filter((name) => !served.includes(name))).toEqual([]);
  });

  it('come with alert rules that have an expression, a severity and a summary each', () => {
    const { groups } = parseYaml(readFileSync(join(ROOT, 'deploy/monitoring/alerts.yaml'), 'utf8'));
    const rules: unknown[] = groups[0].rules;
    expect(rules.length).toBeGreaterThan(5);
    for (const rule of rules)
      expect(rule).toMatchObject({
        alert: expect.stringMatching(/^FoldAtlas\w+$/),
        expr: expect.any(String),
        labels: { severity: expect.stringMatching(/^(critical|warning)$/) },
        annotations: { summary: expect.any(String) },
      });
  });

  it('make the secret of a gateway once, never at each start', () => {
    const shipped = ['compose.yaml', '.env.example', 'Dockerfile', 'src/config.ts'].map((path) =>
      readFileSync(join(ROOT, path), 'utf8'),
    );
    const lines = [...guides.map(({ text }) => text), ...shipped].flatMap((text) => text.split('\n'));
    // Made where it is used: every start would have another one.
    for (const line of lines) expect(line).not.toContain('GATEWAY_SECRET=$(');
    const makers = lines.filter((line) => /openssl rand.*> *(\S+\.secret|\.env)/.test(line));
    expect(makers.length).toBeGreaterThan(3);
    // Only where there is none yet, or under the name of a new one.
    for (const line of makers) expect(line).toMatch(/test -f|new\.secret/);
  });

  it('lead somewhere with every link', () => {
    const slug = (heading: string) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-');
    for (const { path, text } of guides) {
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue;
        const [file = '', anchor] = target.split('#');
        const found = file === '' ? path : join(dirname(path), file);
        expect(existsSync(join(ROOT, found)), `${path} links to ${target}`).toBe(true);
        if (anchor === undefined) continue;
        const headings = [...readFileSync(join(ROOT, found), 'utf8').matchAll(/^#+ (.+)$/gm)];
        expect(
          headings.map(([, heading = '']) => slug(heading)),
          `${path} links to ${target}`,
        ).toContain(anchor);
      }
    }
  });

  it('are all found from their index or the README', () => {
    const index = readGuide('docs/README.md').text;
    const readme = readGuide('README.md').text;
    expect(index).toContain('](../README.md)');
    for (const { path } of guides.filter(({ path }) => path.startsWith('docs/')))
      expect(index.includes(`](${path.slice('docs/'.length)})`) || readme.includes(`](${path})`), path).toBe(
        true,
      );
  });

  it('show lines of client code that the tests of the clients run', () => {
    const lines = (text: string) =>
      text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    /** The names that the guide gives to what the tests have elsewhere. */
    const asShown = (code: string) =>
      code
        .replaceAll('place.url', 'url')
        .replaceAll('TOKEN', 'headers')
        .replaceAll('url: url,', 'url,')
        .replaceAll('headers: headers', 'headers');
    const folder = join(ROOT, 'test/system/clients');
    const tested = new Set(
      readdirSync(folder).flatMap((name) => lines(asShown(readFileSync(join(folder, name), 'utf8')))),
    );
    const { blocks } = readGuide('docs/clients.md');
    const shown = blocks.filter(({ language }) => language === 'ts').flatMap(({ text }) => lines(text));
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.filter((line) => !tested.has(line))).toEqual([]);
  });

  it('tell of the tokens whose fate is fixed what becomes of them', async () => {
    const rows = [
      ...readGuide('docs/sandbox.md').text.matchAll(/^\| `(sandbox-[\w-]+)` \|.*\| `(\w+)` \|$/gm),
    ];
    expect(rows).toHaveLength(5);
    for (const [, token = '', reason] of rows) {
      const query = SUBMIT.replace('... on Problem', '... on Refused { reason } ... on Problem');
      const { data } = await world.query(query, FOLD, { authorization: `Bearer ${token}` });
      expect([token, at(data, 'submitFold.reason')]).toEqual([token, reason]);
    }
  });
});
