// The package as another program imports it: packed, put into an empty folder, checked by the compiler of TypeScript and run.
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { readGuide } from '../../docs/guides.ts';
import { ROOT } from '../../root.ts';
import { INSTALLED_PACKAGES, linkInstalledPackages } from './installed-packages.ts';

const run = promisify(execFile);

const PROGRAM = `
import { createServer } from 'node:http';
import { createGateway, type EmbeddedGateway } from 'foldatlas';

const gateway: EmbeddedGateway = await createGateway({
  settings: { UPSTREAM_URL: process.env.UPSTREAM_URL, STORE_URL: 'memory:', LOG_LEVEL: 'silent' },
  limits: { responseCacheBytes: 0 },
});
const query = JSON.stringify({ query: '{ uniprotEntry(id: "P01308") { name } }' });
const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: query };
const first = await gateway.fetch(new Request('http://gateway.example/graphql', init));
const server = createServer(gateway.listener);
gateway.attachWebSocket(server);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('no port');
const second = await fetch(\`http://127.0.0.1:\${address.port}/graphql\`, init);
console.log(JSON.stringify([await first.json(), await second.json()]));
server.close();
server.closeAllConnections();
await gateway.close();
`;

let folder: string;
let sandbox: Sandbox;
let packed: { readonly unpackedSize: number; readonly files: readonly { readonly path: string }[] };

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small' });
  folder = mkdtempSync(join(tmpdir(), 'foldatlas-package-'));
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: ROOT,
  });
  [packed] = JSON.parse(stdout);
  const place = join(folder, 'node_modules');
  mkdirSync(join(place, 'foldatlas'), { recursive: true });
  const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  await run('tar', ['xzf', join(folder, archive), '-C', join(place, 'foldatlas'), '--strip-components=1']);
  linkInstalledPackages(place);
  // Of the compiler, for the program.
  mkdirSync(join(place, '@types'));
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(place, '@types/node'));
  symlinkSync(join(ROOT, 'node_modules/undici-types'), join(place, 'undici-types'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the package', () => {
  it('is small, and holds neither source maps nor sources', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'schema.graphql']));
    expect(paths.filter((path) => /\.map$|^(src|test|node_modules)\//.test(path))).toEqual([]);
  });

  it('needs less than 60 MB without the sandbox, and no package that runs a script while it is installed', async () => {
    const { stdout } = await run('du', [
      '-skLc',
      ...INSTALLED_PACKAGES.map((name) => join(ROOT, 'node_modules', name)),
    ]);
    const kilobytes = Number(/(\d+)\ttotal/.exec(stdout)?.[1]);
    expect(kilobytes * 1024 + packed.unpackedSize).toBeLessThan(60e6);
    const scripts = INSTALLED_PACKAGES.filter((name) => {
      const { scripts = {} } = JSON.parse(
        readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8'),
      );
      return 'install' in scripts || 'preinstall' in scripts || 'postinstall' in scripts;
    });
    expect(scripts).toEqual([]);
  });

  it('has types that hold in a program of others, and runs there without its sandbox', async () => {
    const strict = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    await run(process.execPath, [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      ...strict,
      '--ignoreConfig',
      '--outDir',
      join(folder, 'out'),
      join(folder, 'program.ts'),
    ]);
    writeFileSync(join(folder, 'out/package.json'), '{ "type": "module" }');
    const { stdout } = await run(process.execPath, ['--preserve-symlinks', join(folder, 'out/program.js')], {
      env: { PATH: process.env.PATH, UPSTREAM_URL: sandbox.url },
    });
    const answer = { data: { uniprotEntry: { name: 'Insulin' } } };
    expect(JSON.parse(stdout)).toEqual([answer, answer]);
  });

  it('is embedded as docs/operators.md shows', async () => {
    const shown = readGuide('docs/operators.md').blocks.filter(({ language }) => language === 'js');
    expect(shown).toHaveLength(1);
    const program = `${shown[0]?.text}
await new Promise((resolve) => server.once('listening', resolve));
const address = 'http://127.0.0.1:' + server.address().port;
const ask = address + '/graphql?query={uniprotEntry(id:"P01308"){name}}';
const answer = await fetch(ask, { headers: { accept: 'application/json' } });
console.log(await answer.text());
process.kill(process.pid, 'SIGTERM');
`;
    const here = program
      .replace('https://api.example.org', sandbox.url)
      .replace('listen(4000)', "listen(0, '127.0.0.1')");
    writeFileSync(join(folder, 'shown.mjs'), here);
    const { stdout } = await run(process.execPath, ['--preserve-symlinks', join(folder, 'shown.mjs')], {
      cwd: folder,
      env: { PATH: process.env.PATH },
    });
    expect(stdout).toContain('{"data":{"uniprotEntry":{"name":"Insulin"}}}');
  });

  it('says what is wrong with its settings', async () => {
    const program = `import { createGateway } from 'foldatlas';
await createGateway({ settings: { PORT: 'x', MAX_QUERY_COST: '0' } }).catch((error) => console.log(error.name, error.problems.length));`;
    writeFileSync(join(folder, 'wrong.mjs'), program);
    const { stdout } = await run(process.execPath, ['--preserve-symlinks', join(folder, 'wrong.mjs')]);
    expect(stdout).toBe('ConfigError 2\n');
  });
});
