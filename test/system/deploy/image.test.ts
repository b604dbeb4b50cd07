// The image without a container: what the last stage of the Dockerfile copies is laid out in a folder, and its command and
// health check are run there with its environment, so that a file that was forgotten is missed here. The sandbox is left
// out, as `npm ci --omit=optional` does.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { ROOT } from '../../root.ts';
import { INSTALLED_PACKAGES, linkInstalledPackages } from './installed-packages.ts';

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-image-'));
const app = join(folder, 'app');
const stage =
  readFileSync(`${ROOT}Dockerfile`, 'utf8')
    .split(/^FROM .*$/m)
    .at(-1) ?? '';

/** A CMD in its JSON form, the one that is not the health check's. */
const listOf = (pattern: RegExp): string[] => {
  const words: unknown = JSON.parse(pattern.exec(stage)?.[1] ?? 'null');
  if (!Array.isArray(words)) throw new Error(`nothing like ${pattern} in the Dockerfile`);
  return words.map(String);
};
const [command = '', ...args] = listOf(/^CMD (\[.*\])$/m);
const [checkCommand = '', ...checkArgs] = listOf(/^ +CMD (\[.*\])$/m);
const environment = Object.fromEntries(
  [...stage.matchAll(/(?:^ENV|^ {3}) ([A-Z_]+)=(\S+)/gm)].map(([, name, value]) => [
    name ?? '',
    (value ?? '').replace('/data', join(folder, 'data')),
  ]),
);

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

let sandbox: Sandbox;

/** One source of a COPY: a file, a folder, or the files of a folder by their ending. Into a folder when the target ends in a slash. */
function copy(source: string, target: string): void {
  const [, parent, ending] = /^(.+)\/\*(\.\w+)$/.exec(source) ?? [];
  const files =
    parent === undefined || ending === undefined
      ? [source]
      : readdirSync(join(ROOT, parent))
          .filter((file) => file.endsWith(ending))
          .map((file) => `${parent}/${file}`);
  for (const file of files)
    cpSync(join(ROOT, file), target.endsWith('/') ? join(target, basename(file)) : target, {
      recursive: true,
    });
}

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small' });
  mkdirSync(app);
  mkdirSync(join(folder, 'data'));
  for (const [, flag, words = ''] of stage.matchAll(/^COPY (--from=\S+ )?(.+)$/gm)) {
    const names = words.split(' ');
    const target = join(app, names.pop() ?? '');
    for (const name of names) {
      const source = flag === undefined ? name : name.replace('/app/', '');
      if (source === 'node_modules') linkInstalledPackages(target);
      else if (flag !== undefined) cpSync(join(ROOT, source), target, { recursive: true });
      else copy(source, target);
    }
  }
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the image', () => {
  it('starts by its command, passes its own health check, answers, and ends cleanly when it is told to', async () => {
    const port = String(await freePort());
    const env = {
      ...environment,
      PATH: process.env.PATH ?? '',
      PORT: port,
      HOST: '127.0.0.1',
      UPSTREAM_URL: sandbox.url,
    };
    const child = spawn(command, args, { cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      await promisify(execFile)(checkCommand, checkArgs, { cwd: app, env });
      const home = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html' } });
      const page = await home.text();
      const style = /href="(assets\/[^"]+\.css)"/.exec(page)?.[1] ?? 'none';
      expect((await fetch(`http://127.0.0.1:${port}/${style}`)).status).toBe(200);
      const answer = await fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ uniprotEntry(id: "P01308") { name } }' }),
      });
      expect(await answer.json()).toEqual({ data: { uniprotEntry: { name: 'Insulin' } } });
    } finally {
      child.kill('SIGTERM');
    }
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('says that it needs UPSTREAM_URL, because it has no sandbox', async () => {
    expect(INSTALLED_PACKAGES).not.toContain('foldatlas-sandbox');
    const env = { ...environment, PATH: process.env.PATH ?? '', PORT: '0', HOST: '127.0.0.1' };
    await expect(promisify(execFile)(command, args, { cwd: app, env })).rejects.toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/UPSTREAM_URL: set the address of the service.*foldatlas-sandbox/),
    });
    await expect(
      promisify(execFile)(command, ['dist/cli/main.js', 'doctor'], { cwd: app, env }),
    ).rejects.toMatchObject({ code: 78, stderr: expect.stringContaining('UPSTREAM_URL') });
  });

  it('fails its health check when nothing answers', async () => {
    const env = { ...environment, PATH: process.env.PATH ?? '', PORT: String(await freePort()) };
    await expect(promisify(execFile)(checkCommand, checkArgs, { env })).rejects.toMatchObject({ code: 1 });
  });
});
