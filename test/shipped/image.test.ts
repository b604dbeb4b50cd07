// The images of the gateway and the sandbox: the steps of the Dockerfile are carried out in
// folders, and each is started by its command, in its environment, as its user.
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../root.ts';
import { freePort } from '../store/redis-place.ts';
import { at } from '../support.ts';
import { addNode, buildStages, type Stage } from './dockerfile.ts';
import { installNode } from './nodes.ts';
import { ask, type Program, startProgram } from './program.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'foldatlas-image-'));

let node: string;
let gatewayImage: Stage;
let sandboxImage: Stage;
let sandbox: Program;
beforeAll(async () => {
  // The user of the image, who is not the one of these tests, reads there.
  chmodSync(folder, 0o755);
  node = await installNode(24);
  const stages = await buildStages(folder, node);
  const [ofSandbox, ofGateway] = stages.filter(({ command }) => command.length > 0);
  if (ofSandbox === undefined || ofGateway === undefined) throw new Error('the Dockerfile has two images');
  [sandboxImage, gatewayImage] = [ofSandbox, ofGateway];
  sandbox = await startProgram(
    sandboxImage.command,
    preparePlace(sandboxImage, { SANDBOX_SIZE: 'small', SANDBOX_PORT: '0' }),
  );
});
afterAll(async () => {
  await sandbox.stop();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Where a program of an image runs. Its paths are below the folder; it is reached on loopback only.
 */
function preparePlace(image: Stage, more: Readonly<Record<string, string>> = {}) {
  const env = Object.fromEntries(
    Object.entries(image.env).map(([name, value]) => [
      name,
      value === '0.0.0.0' ? '127.0.0.1' : value.replace(/(?<=^|:)\/(?=data)/, `${image.root}/`),
    ]),
  );
  return {
    cwd: join(image.root, image.workdir),
    env: { PATH: `${addNode(image, node)}:/usr/bin:/bin`, ...env, ...more },
    user: process.getuid?.() === 0 ? image.user : undefined,
  };
}

describe('the image of the gateway', () => {
  it('starts by its command on Node 24, passes its health check, pays a key once, and ends cleanly', async () => {
    const port = String(await freePort());
    const place = preparePlace(gatewayImage, {
      PORT: port,
      UPSTREAM_URL: sandbox.url,
      REQUIRE_UPSTREAM: '1',
    });
    const submit = `mutation { submitFold(input: { idempotencyKey: "image",
      items: [{ name: "a", chains: [{ protein: { sequence: "GIVEQCCTSICSLYQLENYCN" } }] }] })
      { __typename ... on FoldSubmitted { replayed } } }`;
    const [health = '', ...words] = gatewayImage.healthCheck;
    for (const replayed of [false, true]) {
      const gateway = await startProgram(gatewayImage.command, place);
      await run(health, words, place);
      expect(await ask(gateway.url, '{ uniprotEntry(id: "P01308") { name } }')).toEqual({
        data: { uniprotEntry: { name: 'Insulin' } },
      });
      const { data } = await ask(gateway.url, submit, { token: 'key-of-a-caller' });
      expect(at(data, 'submitFold')).toEqual({ __typename: 'FoldSubmitted', replayed });
      expect(await gateway.stop()).toBe(0);
      expect(gateway.output()).not.toMatch(/"level":"(warn|error)"/);
    }
    await expect(run(health, words, place)).rejects.toMatchObject({ code: 1 });
  });

  it('starts with the code that was compiled when it was built', async () => {
    const place = preparePlace(gatewayImage, { PORT: '0', UPSTREAM_URL: sandbox.url });
    const env = { ...place.env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const gateway = await startProgram(gatewayImage.command, { ...place, env });
    await gateway.stop();
    const accepted = gateway.output().match(/was accepted/g) ?? [];
    expect(accepted.length).toBeGreaterThan(10);
  });

  it('has the pages, and a command that needs nothing else', async () => {
    const gateway = await startProgram(
      gatewayImage.command,
      preparePlace(gatewayImage, { PORT: '0', UPSTREAM_URL: sandbox.url }),
    );
    const page = await (await fetch(gateway.url, { headers: { accept: 'text/html' } })).text();
    const style = /href="(assets\/[^"]+\.css)"/.exec(page)?.[1] ?? 'none';
    expect((await fetch(`${gateway.url}/${style}`)).status).toBe(200);
    await gateway.stop();
    const doctor = await run(
      'node',
      ['dist/cli/main.js', 'doctor'],
      preparePlace(gatewayImage, { UPSTREAM_URL: sandbox.url }),
    );
    expect(doctor.stdout).toMatch(/ok/i);
  });

  it('says that it needs UPSTREAM_URL, because it has no sandbox', async () => {
    const [command = '', ...args] = gatewayImage.command;
    await expect(run(command, args, preparePlace(gatewayImage, { PORT: '0' }))).rejects.toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/UPSTREAM_URL: set the address of the service.*foldatlas-sandbox/),
    });
  });
});

it('holds no compiler, test, native code, or package of development', () => {
  const development = Object.keys(
    (JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { devDependencies: object }).devDependencies,
  );
  for (const { root, workdir } of [gatewayImage, sandboxImage]) {
    const files = readdirSync(join(root, workdir), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => /\.node$|\.test\.ts$|^src\//.test(file))).toEqual([]);
    expect(development.filter((name) => files.includes(`node_modules/${name}`))).toEqual([]);
  }
});
