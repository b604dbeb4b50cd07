// examples/workflows: Debian's Snakemake runs the Snakefile whole. Nextflow is not installed here:
// Groovy parses its file, and the test runs its commands as it would, one process a design.
import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endWithFile } from '../../child-processes.ts';
import { ROOT } from '../../root.ts';
import { until } from '../../subscriptions/support.ts';
import { openPlace, type Place } from '../clients/place.ts';

const run = promisify(execFile);
const missing = spawnSync('snakemake', ['--version']).status !== 0 && process.env.CI === undefined;
// Debian's Groovy looks for Java in a place that not every machine has.
const java = spawnSync('sh', ['-c', 'readlink -f "$(command -v java)"'], { encoding: 'utf8' }).stdout.trim();
const GROOVY = {
  env: { PATH: process.env.PATH, JAVA_HOME: dirname(dirname(java)) },
  encoding: 'utf8',
} as const;
const noGroovy = spawnSync('groovy', ['--version'], GROOVY).status !== 0 && process.env.CI === undefined;
const folder = mkdtempSync(join(tmpdir(), 'foldatlas-workflows-'));
let place: Place;
beforeAll(async () => {
  place = await openPlace();
  const python = `PYTHONPATH='${ROOT}clients/python/src' exec python3 -B -m foldatlas "$@"`;
  // Each call is noted. The first folds end with the codes that a file in the working folder lists.
  const fails =
    'if [ "$1" = fold ] && [ -s codes ]; then code=$(head -1 codes); sed -i 1d codes; exit $code; fi';
  const programs = {
    foldatlas: `echo "$1" >> calls\n${fails}\n${python}`,
    sleep: 'echo "sleep $1" >> calls',
  };
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
});
afterAll(async () => {
  await place.close();
  rmSync(folder, { recursive: true });
});

/** Runs a program as a user does. @returns its exit code and all that it says */
async function start(cwd: string, program: string, words: readonly string[]) {
  const ended = run(program, words, { cwd, env: environment(cwd) });
  const { stdout, stderr } = await ended.catch((error: { stdout: string; stderr: string }) => error);
  return { code: ended.child.exitCode, said: stdout + stderr };
}
/** Makes a folder for one try of a test. Its name is the token of a caller without submissions. */
const makeFolder = (): string => mkdtempSync(join(folder, 'run-'));
const environment = (cwd: string) => ({
  PATH: `${folder}:${process.env.PATH}`,
  HOME: process.env.HOME,
  PYTHONUTF8: '1',
  FOLDATLAS_URL: place.url,
  FOLDATLAS_TOKEN: basename(cwd),
});

/** Writes a design of two chains. @param more - further entities, each a line of YAML */
function writeDesign(cwd: string, name: string, binder: string, ...more: string[]): void {
  const chains = ['GIVEQ', binder].map((text, i) => `protein: { id: ${'AB'[i]}, sequence: ${text} }`);
  mkdirSync(join(cwd, 'designs'), { recursive: true });
  const entities = [...chains, ...more].map((entity) => `  - ${entity}\n`).join('');
  writeFileSync(join(cwd, `designs/${name}.yaml`), `version: 1\nsequences:\n${entities}`);
}

/** Name and status of each row of the ranking, by name. */
function readRanking(cwd: string): string[] {
  const rows = readFileSync(join(cwd, 'ranking.tsv'), 'utf8').trim().split('\n').slice(1);
  return rows.map((row) => `${row.split('\t')[1]} ${row.split('\t')[3]}`).sort();
}

describe.skipIf(missing)('the Snakefile', { timeout: 600_000 }, () => {
  const RUN = ['--cores', '20'];
  const hold = (isHeld: boolean) =>
    fetch(`${place.world.sandboxUrl}/control/queue`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ hold: isHeld }),
    });

  afterEach(() => hold(false));
  const submits = () => place.world.counts().submit ?? 0;
  const makeWorkflow = (): string => {
    const cwd = makeFolder();
    copyFileSync(`${ROOT}examples/workflows/Snakefile`, join(cwd, 'Snakefile'));
    place.world.forget();
    return cwd;
  };

  it('ends before the first design is paid where one is wrong', async () => {
    const cwd = makeWorkflow();
    writeDesign(cwd, 'd1', 'FVN');
    writeDesign(cwd, 'a second', 'FVN1AA');
    const refused = await start(cwd, 'snakemake', RUN);
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('designs/a second.yaml: ') });
    expect(submits()).toBe(0);
  });

  it('tries again what may get well by waiting, and nothing else', async () => {
    const cwd = makeWorkflow();
    const snakemake = async (...codes: number[]) => {
      writeFileSync(join(cwd, 'calls'), '');
      writeFileSync(join(cwd, 'codes'), codes.map((code) => `${code}\n`).join(''));
      const { code } = await start(cwd, 'snakemake', ['--cores', '1', '--keep-going']);
      const calls = readFileSync(join(cwd, 'calls'), 'utf8').trim().split('\n');
      return { code, calls: calls.filter((call) => /^(fold|sleep|rank)/.test(call)) };
    };
    for (const [i, name] of ['d1', 'd2', 'd3'].entries()) writeDesign(cwd, name, 'FVNW'.padEnd(5 + i, 'W'));
    expect(await snakemake(3, 64, 65)).toEqual({ code: 1, calls: ['fold', 'fold', 'fold'] });
    for (const name of ['d2', 'd3']) rmSync(join(cwd, `designs/${name}.yaml`));
    const tries = ['fold', 'sleep 10', 'fold', 'sleep 60', 'fold'];
    expect(await snakemake(2, 2, 2, 2)).toEqual({
      code: 1,
      calls: [...tries, 'sleep 300', 'fold', 'sleep 0'],
    });
    expect(await snakemake(2, 2)).toEqual({ code: 0, calls: [...tries, 'rank'] });
    expect(submits()).toBe(1);
  });

  it('goes on after a kill and pays for each design once', async () => {
    const cwd = makeWorkflow();
    const snakemake = (...words: string[]) => start(cwd, 'snakemake', words);
    writeDesign(cwd, 'd1', 'FVN');
    writeDesign(cwd, 'd-2', 'FVNAA');
    writeDesign(cwd, 'a third', 'FVNA');
    await hold(true);
    const killed = endWithFile(
      spawn('snakemake', RUN, { cwd, env: environment(cwd), stdio: 'ignore', detached: true }),
      true,
    );
    await until('all designs to be submitted', async () => submits() === 3);
    killed.kill('SIGKILL');
    await hold(false);
    // Its processes go on without it and write files that it has not seen to their end.
    const results = join(cwd, 'results');
    const isSaved = (name: string) => existsSync(join(results, name, 'scores.tsv'));
    await until('the results', async () => readdirSync(results).filter(isSaved).length === 3);
    expect((await snakemake(...RUN)).said).toContain('--rerun-incomplete');
    expect(await snakemake('--unlock')).toMatchObject({ code: 0 });
    expect(await snakemake(...RUN, '--rerun-incomplete')).toMatchObject({ code: 0 });
    expect(readRanking(cwd)).toEqual(['a third DONE', 'd-2 DONE', 'd1 DONE']);
    expect(submits()).toBe(3);
  });

  it('folds a changed design alone, keeps what it was, and ranks beside one that fails', async () => {
    const cwd = makeWorkflow();
    writeDesign(cwd, 'd1', 'FVNC');
    writeDesign(cwd, 'd2', 'FVNCC');
    expect(await start(cwd, 'snakemake', RUN)).toMatchObject({ code: 0 });
    // No component has this code.
    writeDesign(cwd, 'd2', 'FVNCC', 'ligand: { id: L, ccd: QQQ }');
    expect(await start(cwd, 'snakemake', RUN)).toMatchObject({ code: 0 });
    expect(readRanking(cwd)).toEqual(['d1 DONE', 'd2 FAILED']);
    expect(readdirSync(join(cwd, 'results'))).toEqual([
      expect.stringMatching(/^d1-/),
      expect.stringMatching(/^d2-/),
      expect.stringMatching(/^d2-/),
    ]);
    expect(submits()).toBe(3);
  });
});

describe('main.nf', () => {
  const text = readFileSync(`${ROOT}examples/workflows/main.nf`, 'utf8');
  const commands = Object.fromEntries(
    [...text.matchAll(/^process (\w+)(?:(?!^\w)[\s\S])*?script: "(.*)"$/gm)].map(
      ([, name = '', command = '']) => [name, command],
    ),
  );
  const nextflow = (cwd: string, process: string, values: Readonly<Record<string, string>>) => {
    const command = Object.entries(values).reduce(
      (text, [name, value]) => text.replaceAll(name, value),
      commands[process] ?? expect.fail(`no process ${process}`),
    );
    expect(command).not.toMatch(/[{}$]/);
    return start(cwd, 'bash', ['-euo', 'pipefail', '-c', command]);
  };

  it.skipIf(noGroovy)('has the syntax of Groovy, in which Nextflow is written', { timeout: 120_000 }, () => {
    const parse = `import org.codehaus.groovy.control.*
      new CompilationUnit().with { addSource('main.nf', System.in.text); compile(Phases.CONVERSION) }`;
    const check = (input: string) => spawnSync('groovy', ['-e', parse], { ...GROOVY, input });
    expect(check(text)).toMatchObject({ status: 0, stderr: '' });
    expect(check(text.replace('maxRetries 3', 'maxRetries (3')).status).toBe(1);
  });

  it('tries again what may get well by waiting, and nothing else', () => {
    const branches = /errorStrategy \{ (.*) \}/.exec(text)?.[1]?.split(' : ') ?? [];
    const other = branches.pop();
    const strategies = branches.map((branch) =>
      /^task\.exitStatus == (\d+) \? '(\w+)'$/.exec(branch)?.slice(1),
    );
    expect([strategies, other]).toEqual([
      [
        ['2', 'retry'],
        ['1', 'ignore'],
      ],
      "'terminate'",
    ]);
  });

  it('checks, folds each design in a process of its own, ranks, and pays once for a design', async () => {
    const cwd = makeFolder();
    const designs = ['d1', 'd2', 'd3'];
    designs.forEach((design, number) => {
      writeDesign(cwd, design, 'FVN'.padEnd(4 + number, 'G'));
    });
    place.world.forget();
    const check = () =>
      nextflow(cwd, 'check', { $designs: designs.map((d) => `designs/${d}.yaml`).join(' ') });
    expect(await check()).toMatchObject({ code: 0, said: expect.stringMatching(/^3 tasks/m) });
    // The second time as on another machine, without what the first has saved.
    for (let time = 0; time < 2; time += 1) {
      for (const design of designs) rmSync(join(cwd, design), { recursive: true, force: true });
      const folds = designs.map((design) =>
        nextflow(cwd, 'fold', { '${design.baseName}': design, $design: `designs/${design}.yaml` }),
      );
      for (const fold of folds) expect(await fold).toMatchObject({ code: 0 });
    }
    expect(await nextflow(cwd, 'rank', { $folders: designs.join(' ') })).toMatchObject({ code: 0 });
    expect(readRanking(cwd)).toEqual(['d1 DONE', 'd2 DONE', 'd3 DONE']);
    expect(place.world.counts()).toMatchObject({ submit: 3 });

    writeDesign(cwd, 'd2', 'FVN1');
    expect(await check()).toMatchObject({ code: 65, said: expect.stringContaining('d2.yaml') });
  });
});
