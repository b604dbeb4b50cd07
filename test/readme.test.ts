// The README says what is so: its first query gives its first answer, over the universe that a
// newcomer gets, and every example is listed.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../sandbox/src/environment.ts';
import { readConfig, SETTINGS } from '../src/config.ts';
import { readExamples } from '../src/http/pages/examples.ts';
import { openWorld } from './support.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

const block = (language: string, containing: string): string => {
  const found = [...README.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].find(
    ([, kind, text]) => kind === language && text?.includes(containing),
  );
  if (found?.[2] === undefined) throw new Error(`the README has no ${language} block with ${containing}`);
  return found[2];
};

describe('the README', () => {
  it('opens with one sentence and one command, and says how to test under "Working on it"', () => {
    const [, sentence, , commands] = README.split(/\n\n|\n(?=```)/);
    expect(sentence?.match(/\.(\s|$)/g)).toHaveLength(1);
    expect(README.indexOf('npm ci && npm start')).toBeLessThan(600);
    expect(README.split('## Working on it')[1]).toContain('npm ci && npm test');
    expect(commands).toBeDefined();
    expect(README.split('\n').length).toBeLessThan(110);
  });

  it('shows the real answer of its first query', async () => {
    const reading = readEnvironment({});
    if ('problems' in reading) throw new Error(reading.problems.join());
    const { seed, dialect } = reading.options;
    const world = await openWorld({}, { size: 'full', seed, dialect });
    const [, body = ''] = /-d '([\s\S]*)'\s*$/.exec(block('sh', 'curl')) ?? [];
    const { query } = JSON.parse(body) as { query: string };
    const answer = await world.query(query);
    await world.close();
    expect(README).toContain(`That is ${world.calls.length} upstream calls`);
    expect(answer).toEqual(JSON.parse(block('json', 'uniprotEntry')));
  });

  it('lists every example', () => {
    const list = readFileSync(new URL('../examples/README.md', import.meta.url), 'utf8');
    expect(README).toContain('](examples/README.md)');
    for (const { name } of readExamples()) expect(list).toContain(`](${name}.graphql)`);
  });

  it('lists in .env.example every setting that there is, and no other', () => {
    const example = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');
    const listed = [...example.matchAll(/^# ([A-Z][A-Z_]+)=/gm)].map((match) => match[1]);
    const known = SETTINGS.filter((name) => name !== 'NODE_ENV');
    expect([...new Set(listed)].sort()).toEqual([...known].sort());
  });

  it('shows in .env.example the default of every setting that has one', () => {
    const example = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');
    const shown = new Map(
      [...example.matchAll(/^# ([A-Z][A-Z_]+)=(.*)$/gm)].map(([, name = '', value]) => [name, value]),
    );
    const defaults = Object.entries(readConfig({})).flatMap(([name, value]) =>
      shown.has(name) && value !== undefined && value !== false && String(value) !== ''
        ? [[name, value === true ? '1' : String(value)]]
        : [],
    );
    expect(defaults.length).toBeGreaterThan(20);
    expect(defaults.map(([name = '']) => [name, shown.get(name)])).toEqual(defaults);
  });
});
