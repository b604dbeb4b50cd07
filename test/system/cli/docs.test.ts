// The commands in the guides of the Python client and the doctor run as they stand.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endWithFile } from '../../child-processes.ts';
import { ROOT } from '../../root.ts';
import { type Served, serve } from '../../subscriptions/streams.ts';
import { openWorld, type World } from '../../support.ts';
import { BIN } from './bin.ts';

let folder: string;
let world: World;
let served: Served;

beforeAll(async () => {
  world = await openWorld({}, { speed: 1000 });
  served = await serve(world.gateway);
  folder = mkdtempSync(join(tmpdir(), 'foldatlas-docs-'));
  symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
  // `foldatlas` is the Python client's, `npx -y foldatlas` the package's.
  const python = `PYTHONPATH='${join(ROOT, 'clients/python/src')}' exec python3 -B -m foldatlas "$@"`;
  const npx = `[ "$1 $2" = '-y foldatlas' ] && shift 2 && exec '${process.execPath}' '${BIN}' "$@"`;
  for (const [name, command] of Object.entries({ foldatlas: python, npx }))
    writeFileSync(join(folder, name), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
});
afterAll(async () => {
  await served.close();
  await world.close();
  rmSync(folder, { recursive: true });
});

const blocks = (file: string, language: string): string[] =>
  [...readFileSync(join(ROOT, 'docs', file), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(
    ([, kind, text]) => (kind === language && text !== undefined ? [text] : []),
  );

interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a script over the gateway that is there, unless told otherwise. */
const shell = (script: string, env: Record<string, string> = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const child = endWithFile(
      spawn('sh', ['-ec', script], {
        cwd: folder,
        detached: true,
        env: {
          PATH: `${folder}:${process.env.PATH}`,
          FOLDATLAS_URL: served.url,
          PYTHONPATH: join(ROOT, 'clients/python/src'),
          FOLDATLAS_TOKEN: 'a-reader-of-the-docs',
          UPSTREAM_URL: world.sandboxUrl,
          STORE_URL: 'sqlite:gateway.db',
          SANDBOX_SIZE: 'small',
          NO_COLOR: '1',
          ...env,
        },
      }),
      true,
    );
    const ran = { status: null, stdout: '', stderr: '' } as Ran;
    child.stdout.on('data', (chunk: Buffer) => {
      ran.stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      ran.stderr += chunk.toString();
    });
    child.on('close', (status) => resolve({ ...ran, status }));
  });

describe('clients/python/README.md', () => {
  it('shows commands that run as they stand', async () => {
    const [, asking = '', folding = ''] = blocks('../clients/python/README.md', 'sh');
    const asked = await shell(asking);
    expect(asked.stderr).not.toMatch(/Traceback/);
    expect(asked.status).toBe(0);
    expect(asked.stdout).toContain('"maxTasks": 2000');
    expect(readFileSync(join(folder, 'proteins.tsv'), 'utf8')).toMatch(
      /^P01308\tFOUND\t12e9c9e4e2835c302e8ba615115edda3\t/m,
    );
    expect(asked.stdout).toMatch(/^\{"requested": "P01308", "status": "FOUND"/m);

    writeFileSync(join(folder, 'complex.yaml'), blocks('../clients/python/README.md', 'yaml')[0] ?? '');
    const folded = await shell(folding);
    expect(folded.stderr).toContain('Results and scores.tsv are in results.');
    expect(folded.status).toBe(0);
    expect(readdirSync(join(folder, 'results')).sort()).toEqual([
      'foldatlas.json',
      'insulin_A_dimer_0.cif',
      'insulin_A_dimer_0.json',
      'insulin_A_dimer_1.cif',
      'insulin_A_dimer_1.json',
      'scores.tsv',
    ]);
  });

  it('shows Python that runs as it stands', async () => {
    const [code = ''] = blocks('../clients/python/README.md', 'python');
    writeFileSync(join(folder, 'designs.fasta'), '>a\nGIVEQCCTSICSLYQLENYCN\n');
    // Neither pandas nor a matrix that was not asked for is there.
    const script = code.replace('.to_dataframe()', '.to_tsv()').replace(/^atlas\.pae.*$/m, '');
    writeFileSync(join(folder, 'shown.py'), script);
    const ran = await shell(
      'mkdir -p python/designs && cd python && cp ../designs.fasta designs/ && python3 -B ../shown.py',
    );
    expect(ran.stderr).not.toMatch(/Traceback/);
    expect(ran.status).toBe(0);
  });
});

describe('docs/doctor.md', () => {
  it('shows commands that run as they stand', async () => {
    const [plain = ''] = blocks('doctor.md', 'sh');
    // Without an upstream it brings up a sandbox of its own.
    const examined = await shell(plain, { UPSTREAM_URL: '' });
    expect(examined.stdout).toContain('The service is as the gateway expects it.');
    expect(examined.status).toBe(0);
  });
});
