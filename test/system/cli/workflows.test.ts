// The commands of examples/workflows, as Snakemake and Nextflow would run them: one process a
// design. Neither program is installed for it.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../root.ts';
import { openPlace, type Place } from '../clients/place.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'foldatlas-workflows-'));
const DESIGNS = ['d1', 'd2', 'd3'];
let place: Place;
beforeAll(async () => {
  place = await openPlace();
  const python = `PYTHONPATH='${ROOT}clients/python/src' exec python3 -B -m foldatlas "$@"`;
  writeFileSync(join(folder, 'foldatlas'), `#!/bin/sh\n${python}\n`, { mode: 0o755 });
});
afterAll(async () => {
  await place.close();
  rmSync(folder, { recursive: true });
});

/** The command of each rule or process. */
const readCommands = (file: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [
      ...readFileSync(`${ROOT}examples/workflows/${file}`, 'utf8').matchAll(
        /^(?:rule|process) (\w+)(?:(?!^\w)[\s\S])*?(?:shell|script): "(.*)"$/gm,
      ),
    ].map(([, name = '', command = '']) => [name, command]),
  );

const fill = (command: string | undefined, values: Readonly<Record<string, string>>): string => {
  const filled = Object.entries(values).reduce(
    (text, [name, value]) => text.replaceAll(name, value),
    command ?? expect.fail('no command'),
  );
  expect(filled).not.toMatch(/[{}$]/);
  return filled;
};

interface Workflow {
  readonly check: (files: string) => string;
  readonly fold: (file: string, design: string) => string;
  readonly rank: (folders: string) => string;
  /** Where the results of a design are. */
  readonly results: string;
}

const snakemake = readCommands('Snakefile');
const nextflow = readCommands('main.nf');
const WORKFLOWS: Readonly<Record<string, Workflow>> = {
  Snakefile: {
    check: (files) => fill(snakemake.check, { '{input}': files }),
    fold: (file, design) => fill(snakemake.fold, { '{input[0]}': file, '{wildcards.design}': design }),
    rank: (folders) => fill(snakemake.rank, { '{params.folders}': folders, '{output}': 'ranking.tsv' }),
    results: 'results/',
  },
  'main.nf': {
    check: (files) => fill(nextflow.check, { $designs: files }),
    fold: (file, design) => fill(nextflow.fold, { '${design.baseName}': design, $design: file }),
    rank: (folders) => fill(nextflow.rank, { $folders: folders }),
    results: '',
  },
};

const bash = (cwd: string, command: string) =>
  run('bash', ['-euo', 'pipefail', '-c', command], {
    cwd,
    env: {
      PATH: `${folder}:${process.env.PATH}`,
      PYTHONUTF8: '1',
      FOLDATLAS_URL: place.url,
      FOLDATLAS_TOKEN: 'a-workflow',
    },
  });

describe.each(Object.entries(WORKFLOWS))('%s', (name, { check, fold, rank, results }) => {
  it('checks, folds each design in a process of its own, ranks, and pays once for a design', async () => {
    const cwd = join(folder, basename(name, '.nf'));
    mkdirSync(join(cwd, 'designs'), { recursive: true });
    const files = DESIGNS.map((design) => `designs/${design}.yaml`);
    files.forEach((file, number) => {
      const binder = 'FVN'.padEnd(4 + number, 'A');
      const chains = ['GIVEQ', binder].map(
        (sequence, i) => `  - protein: { id: ${'AB'[i]}, sequence: ${sequence} }`,
      );
      writeFileSync(join(cwd, file), `version: 1\nsequences:\n${chains.join('\n')}\n`);
    });
    const asked = check(files.join(' '));
    expect((await bash(cwd, asked)).stdout).toMatch(/^3 tasks/);
    const folded = DESIGNS.map((design, number) => fold(files[number] ?? '', design));
    // The second time as on another machine, without what the first has saved.
    for (let time = 0; time < 2; time += 1) {
      for (const design of DESIGNS) rmSync(join(cwd, results + design), { recursive: true, force: true });
      await Promise.all(folded.map((command) => bash(cwd, command)));
    }
    await bash(cwd, rank(DESIGNS.map((design) => results + design).join(' ')));
    const rows = readFileSync(join(cwd, 'ranking.tsv'), 'utf8').trim().split('\n');
    expect(
      rows
        .slice(1)
        .map((row) => row.split('\t')[1])
        .sort(),
    ).toEqual(DESIGNS);
    expect(place.world.counts()).toMatchObject({ submit: 3 });

    writeFileSync(
      join(cwd, files[1] ?? ''),
      'version: 1\nsequences:\n  - protein: { id: A, sequence: G1V }\n',
    );
    await expect(bash(cwd, asked)).rejects.toMatchObject({
      code: 65,
      stderr: expect.stringContaining('d2.yaml'),
    });
  });
});
