// The Python example, run by a real python3: paste identifiers, get a table in the same order with gaps; fold and rank.
import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlace, type Place } from './place.ts';

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('../../examples/notebook', import.meta.url));
const missing = spawnSync('python3', ['--version']).status !== 0 && process.env.CI === undefined;

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place.close());

/** Runs Python in the example's folder. */
const python = (args: readonly string[], token = 'notebook') =>
  run('python3', ['-B', ...args], {
    cwd: FOLDER,
    env: { ...process.env, FOLDATLAS_URL: place.url, FOLDATLAS_TOKEN: token, PYTHONUTF8: '1' },
    timeout: 25_000,
  });
const json = async (code: string, token?: string): Promise<unknown> => {
  const { stdout } = await python(['-c', `import json, foldatlas\n${code}`], token);
  return JSON.parse(stdout);
};

describe.skipIf(missing)('the notebook example', () => {
  it('shows what was pasted as a table, folds, waits and ranks', async () => {
    place.world.forget();
    const { stdout } = await python(['table.py']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^requested +name +organism +length +plddt +cluster_size +problem$/);
    expect(lines.slice(1, 7).map((line) => line.split(' ')[0])).toEqual([
      'P01308',
      'HBA_HUMAN',
      '00000000000000000000000000000000',
      '6077c452d1dc6151040b2b179e2294c7',
      'P01308',
      'insulin?',
    ]);
    expect(lines[1]).toMatch(/^P01308 +Insulin +Homo sapiens +110 +[\d.]+ +\d+ +–$/);
    expect(lines[3]).toMatch(/^0{32}( +–){5} +\S.*\S$/);
    expect(lines[5]).toBe(lines[1]);
    expect(stdout).toMatch(/^4 of 4 done, 0 running$/m);
    const ranked = lines.slice(-4).map((line) => Number(/DONE +([\d.]+)/.exec(line)?.[1]));
    expect(ranked).toHaveLength(4);
    expect(ranked.toSorted((a, b) => b - a)).toEqual(ranked);
    // Six identifiers cost one bulk call, four folds one submit, and one poll serves the watcher.
    expect(place.world.counts()).toMatchObject({ bulk: 1, submit: 1 });
  });

  it('runs again without spending again', async () => {
    await python(['table.py'], 'twice');
    place.world.forget();
    const { stdout } = await python(['table.py'], 'twice');
    expect(stdout).toMatch(/^4 of 4 done, 0 running$/m);
    expect(place.world.counts()).not.toHaveProperty('submit');
  });

  it('tells what is wrong with its code or its place', async () => {
    const caught = `
try:
    ASK
except foldatlas.FoldAtlasError as error:
    print(json.dumps([error.code, error.retryable]))
except ValueError as error:
    print(json.dumps(str(error)))`;
    const ask = (code: string, token?: string) => json(caught.replace('ASK', code), token);
    const item = `{"chains": [{"protein": {"sequence": "GIVEQ1"}}]}`;
    expect(await ask(`foldatlas.submit([${item}], key="bad")`)).toMatch(
      /items\.0\.chains\.0\.protein\.sequence: /,
    );
    expect(await ask('foldatlas.query("{ nothing }")')).toEqual(['BAD_USER_INPUT', false]);
    expect(await ask('foldatlas.scores("00000000-0000-4000-8000-000000000000")')).toMatch(
      /^There is no batch/,
    );
    expect(
      await ask('list(foldatlas.watch("00000000-0000-4000-8000-000000000000"))', 'sandbox-revoked'),
    ).toEqual(['UNAUTHENTICATED', false]);
  });
});
