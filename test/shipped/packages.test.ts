// The two packages of npm as a stranger installs them: packed, installed into an empty folder, and
// run by each Node that they are for. On Node 20, which has no SQLite, they say what to install.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readGuide } from '../docs/guides.ts';
import { ROOT } from '../root.ts';
import { at } from '../support.ts';
import { installNode, NPM_ENV, PLAIN_ENV, withNode } from './nodes.ts';
import { ask, startProgram } from './program.ts';

const run = promisify(execFile);

interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-packages-'));
let packed: readonly Packed[];

const findBlock = (language: string, containing: string): string =>
  readGuide('README.md').blocks.find(
    (block) => block.language === language && block.text.includes(containing),
  )?.text ?? '';
const [, body = ''] = /-d '([\s\S]*)'\s*$/.exec(findBlock('sh', 'curl')) ?? [];
const { query: README_QUERY }: { readonly query: string } = JSON.parse(body);
const README_ANSWER: unknown = JSON.parse(findBlock('json', 'uniprotEntry'));

const SUBMIT = `mutation($key: String!) { submitFold(input: { label: "shipped", idempotencyKey: $key,
  items: [{ name: "a", chains: [{ protein: { sequence: "GIVEQCCTSICSLYQLENYCN" } }] }] })
  { __typename ... on FoldSubmitted { replayed batch { batchId } } ... on Problem { message } } }`;
const PROTEIN = '{ uniprotEntry(id: "P01308") { name } }';
const INSULIN = { data: { uniprotEntry: { name: 'Insulin' } } };

beforeAll(async () => {
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--workspaces', '--include-workspace-root', '--pack-destination', folder],
    { cwd: ROOT, env: NPM_ENV },
  );
  packed = JSON.parse(stdout);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const archives = packed.map(({ filename }) => `./${filename}`);
  await run('npm', ['install', ...archives], { cwd: folder, env: NPM_ENV });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const serve = async (node: string) => {
  const env = withNode(node, { PORT: '0', LOG_LEVEL: 'warn' });
  return startProgram(['npx', '--no-install', 'foldatlas'], { cwd: folder, env });
};

describe('the packages', () => {
  it('hold no source map, no source and no native code, and less than 20 MB together', () => {
    expect(packed.map(({ name }) => name).sort()).toEqual(['foldatlas', 'foldatlas-sandbox']);
    const paths = packed.flatMap(({ files }) => files.map(({ path }) => path));
    expect(paths).toEqual(
      expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'schema.graphql', 'LICENSE']),
    );
    // Pages that others link to are no source.
    const isPage = (path: string): boolean => path.endsWith('/README.md');
    const isLeftOut = (path: string): boolean => /\.map$|\.node$|^(src|test|node_modules)\//.test(path);
    expect(paths.filter((path) => isLeftOut(path) && !isPage(path))).toEqual([]);
    expect(packed.reduce((sum, { unpackedSize }) => sum + unpackedSize, 0)).toBeLessThan(20e6);
  });

  it('install less than 45 MB, openchemlib once, no SQLite, and nothing that runs a script', async () => {
    const { stdout } = await run('du', ['-sk', '--exclude=.bin', join(folder, 'node_modules')]);
    expect(Number.parseInt(stdout, 10) * 1024).toBeLessThan(45e6);
    const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean }>;
    };
    const installed = Object.entries(lock.packages);
    expect(installed.filter(([path]) => path.endsWith('/openchemlib'))).toHaveLength(1);
    expect(installed.filter(([path]) => path.endsWith('/sqlite'))).toEqual([]);
    expect(installed.filter(([, one]) => one.hasInstallScript)).toEqual([]);
  });
});

const tryNode = (major: number) => {
  let sandbox: Sandbox;
  let node: string;
  beforeAll(async () => {
    node = await installNode(major);
    sandbox = await startSandbox({ size: 'small' });
  });
  afterAll(() => sandbox.close());

  it('npx foldatlas answers the query of the README, and replays a key after a restart', async () => {
    const first = await serve(node);
    expect(await ask(first.url, README_QUERY)).toEqual(README_ANSWER);
    const submission = { variables: { key: `node-${major}` }, token: 'key-of-a-stranger' };
    const paid = await ask(first.url, SUBMIT, submission);
    expect(at(paid, 'data.submitFold')).toMatchObject({ __typename: 'FoldSubmitted', replayed: false });
    await first.stop();
    const second = await serve(node);
    const again = await ask(second.url, SUBMIT, submission);
    expect(at(again, 'data.submitFold')).toEqual({
      ...Object(at(paid, 'data.submitFold')),
      replayed: true,
    });
    await second.stop();
    for (const { output } of [first, second]) expect(output()).not.toMatch(/\b(warn|error) /);
  });

  it('an ES module and a CommonJS module have createGateway', async () => {
    const program = (load: string) => `${load}
createGateway({ settings: { UPSTREAM_URL: process.env.UPSTREAM_URL, STORE_URL: 'memory:', LOG_LEVEL: 'silent' } }).then(async (gateway) => {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify({ query: ${JSON.stringify(PROTEIN)} }) };
  console.log(await (await gateway.fetch(new Request('http://gateway.example/graphql', init))).text());
  await gateway.close();
});
`;
    writeFileSync(join(folder, 'module.mjs'), program("import { createGateway } from 'foldatlas';"));
    writeFileSync(join(folder, 'module.cjs'), program("const { createGateway } = require('foldatlas');"));
    for (const file of ['module.mjs', 'module.cjs']) {
      const env = withNode(node, { UPSTREAM_URL: sandbox.url });
      const { stdout } = await run('node', [file], { cwd: folder, env });
      expect(JSON.parse(stdout), file).toEqual(INSULIN);
    }
  });
};

describe.each([22, 24, 26])('on Node %i, which has an SQLite', tryNode);

it('says on Node 20 what to install in place of the SQLite that it does not have', async () => {
  const env = withNode(await installNode(20), { PORT: '0' });
  const failure = run('npx', ['--no-install', 'foldatlas'], { cwd: folder, env });
  await expect(failure).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Node 20\.\S+ has no SQLite.*npm install @photostructure\/sqlite@/),
  });
  await run('npm', ['install', '@photostructure/sqlite@1.2.1'], { cwd: folder, env: NPM_ENV });
});

describe.each([20])('on Node %i with an SQLite from npm', tryNode);

describe('the types', () => {
  const PROGRAM = `
import { createGateway, type EmbeddedGateway } from 'foldatlas';

export async function open(url: string): Promise<EmbeddedGateway> {
  const gateway = await createGateway({ settings: { UPSTREAM_URL: url }, limits: { responseCacheBytes: 0 } });
  // @ts-expect-error: a gateway has no such method
  gateway.nothing();
  return gateway;
}
`;
  beforeAll(() => {
    for (const name of ['@types/node', 'undici-types']) {
      mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
    }
    for (const file of ['program.mts', 'program.cts', 'program.ts'])
      writeFileSync(join(folder, file), PROGRAM);
  });

  it.each([
    ['nodenext', ['--module', 'nodenext'], ['program.mts', 'program.cts']],
    ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler'], ['program.ts']],
  ])('hold in a program of others that resolves modules by %s', async (_, options, files) => {
    const strict = ['--strict', '--noEmit', '--target', 'es2023', '--types', 'node', '--ignoreConfig'];
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const compiled = run(process.execPath, [compiler, ...strict, ...options, ...files], { cwd: folder });
    await expect(compiled.catch(({ stdout }) => ({ stdout }))).resolves.toMatchObject({ stdout: '' });
  });
});

describe('an embedded gateway', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ size: 'small' });
  });
  afterAll(() => sandbox.close());

  it('serves as docs/operators.md shows', async () => {
    const shown = readGuide('docs/operators.md').blocks.filter(({ language }) => language === 'js');
    expect(shown).toHaveLength(1);
    const program = `${shown[0]?.text}
await new Promise((resolve) => server.once('listening', resolve));
const address = 'http://127.0.0.1:' + server.address().port;
const answer = await fetch(address + '/graphql?query=${PROTEIN}', { headers: { accept: 'application/json' } });
console.log(await answer.text());
process.kill(process.pid, 'SIGTERM');
`;
    const here = program
      .replace('https://api.example.org', sandbox.url)
      .replace('listen(4000)', "listen(0, '127.0.0.1')");
    writeFileSync(join(folder, 'shown.mjs'), here);
    const env = withNode(await installNode(24), { UPSTREAM_URL: sandbox.url });
    const { stdout } = await run('node', ['shown.mjs'], { cwd: folder, env });
    expect(stdout).toContain(JSON.stringify(INSULIN));
  });

  it('says what is wrong with its settings', async () => {
    const program = `import { createGateway } from 'foldatlas';
await createGateway({ settings: { PORT: 'x', MAX_QUERY_COST: '0' } }).catch((error) => console.log(error.name, error.problems.length));`;
    writeFileSync(join(folder, 'wrong.mjs'), program);
    const { stdout } = await run(process.execPath, ['wrong.mjs'], { cwd: folder, env: PLAIN_ENV });
    expect(stdout).toBe('ConfigError 2\n');
  });
});
