// The Python client as PyPI would hold it: sdist and wheel are built by setuptools, installed into
// empty folders, and the command of each asks a gateway.
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../root.ts';
import { installNode, PLAIN_ENV, withNode } from './nodes.ts';
import { type Program, startProgram } from './program.ts';

const run = promisify(execFile);

/** The first Python that can build: that of Debian where another one stands before it. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import setuptools, wheel, pip']).status === 0,
);

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-python-'));
const env = { ...PLAIN_ENV, PYTHONUTF8: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_NO_INDEX: '1' };
const python = (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  run(PYTHON ?? 'python3', words, { cwd: folder, env: { ...env, ...more } });

describe.skipIf(PYTHON === undefined && process.env.CI === undefined)('the Python package', () => {
  let gateway: Program;
  beforeAll(async () => {
    const source = join(folder, 'source');
    cpSync(join(ROOT, 'clients/python'), source, { recursive: true });
    const build = `import os; os.chdir("source"); from setuptools import build_meta; build_meta.build_sdist("${folder}/sdist")`;
    await python(['-c', build]);
    await python(['-m', 'pip', 'wheel', '--no-build-isolation', '--no-deps', '-w', 'wheel', source]);
    gateway = await startProgram(['node', join(ROOT, 'dist/cli/main.js')], {
      cwd: folder,
      env: withNode(await installNode(24), { PORT: '0', SANDBOX_DATA: 'memory', SANDBOX_SIZE: 'small' }),
    });
  });
  afterAll(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(['sdist', 'wheel'])('installs from its %s, and its command asks a gateway', async (kind) => {
    const [archive = ''] = readdirSync(join(folder, kind));
    const site = join(folder, `site-${kind}`);
    const options = ['--no-build-isolation', '--no-deps', '--target', site];
    await python(['-m', 'pip', 'install', ...options, join(kind, archive)]);
    const command = (words: readonly string[]) =>
      python([join(site, 'bin/foldatlas'), ...words], {
        PYTHONPATH: site,
        FOLDATLAS_URL: `${gateway.url}/graphql`,
        FOLDATLAS_TOKEN: 'key-of-a-stranger',
      });
    const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
    expect((await command(['--version'])).stdout).toBe(`${version}\n`);
    writeFileSync(join(folder, 'ids.txt'), 'P01308\n');
    const { stdout } = await command(['lookup', '--ndjson', 'ids.txt']);
    expect(JSON.parse(stdout)).toMatchObject({ requested: 'P01308', status: 'FOUND' });
    expect(readdirSync(join(site, 'foldatlas'))).toEqual(
      expect.arrayContaining(['py.typed', 'notebook.html']),
    );
  });
});
