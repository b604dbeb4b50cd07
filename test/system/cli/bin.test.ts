// The bin: help, exit codes, data on standard output and everything else on standard error.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProxy, renamedKey } from '../../doctor/proxy.ts';
import { openWorld, type World } from '../../support.ts';
import { run, start } from './bin.ts';

let world: World;
let folder: string;
const TOKEN = 'a-token-for-the-command-line';

beforeAll(async () => {
  world = await openWorld();
  folder = mkdtempSync(join(tmpdir(), 'foldatlas-cli-'));
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

describe('help and mistakes', () => {
  it('tells commands, options, examples and exit codes on standard output', async () => {
    const [main, doctor, version] = await Promise.all([
      run(['--help']),
      run(['doctor', '--help']),
      run(['--version']),
    ]);
    expect(main).toMatchObject({ code: 0, err: '' });
    for (const name of ['serve', 'sandbox', 'doctor', 'accept-ledger'])
      expect(main.out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    expect(doctor.code).toBe(0);
    for (const part of ['--token-file', 'EXAMPLES', 'EXIT CODES']) expect(doctor.out).toContain(part);
    expect(version).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it('are told in a sentence, with the exit code for them', async () => {
    const together = { UPSTREAM_BATCH_PREFIX: '/x', UPSTREAM_ATLAS_PREFIX: '/x', STORE_URL: 'memory:' };
    const [command, option, value, word, token, config, clock, prefixes] = await Promise.all([
      run(['folds']),
      run(['doctor', '--verbose']),
      run(['doctor', '--token-file']),
      run(['doctor', 'all']),
      run(['doctor'], { env: { FOLDATLAS_TOKEN: 'hidden\ntoken' } }),
      run(['doctor'], { env: { PORT: 'x', UPSTREAM_URL: 'ftp://x' } }),
      run(['sandbox'], { env: { SANDBOX_CLOCK: 'manual' } }),
      run(['serve'], { env: { ...together, PORT: '0' } }),
    ]);
    expect(command).toMatchObject({
      code: 64,
      out: '',
      err: expect.stringContaining('There is no command folds'),
    });
    expect(option).toMatchObject({ code: 64, err: expect.stringContaining("Unknown option '--verbose'") });
    expect(value).toMatchObject({ code: 64, err: expect.stringContaining('--token-file') });
    expect(word).toMatchObject({ code: 64, err: expect.stringContaining("Unexpected argument 'all'") });
    expect(token).toMatchObject({ code: 64, err: expect.stringContaining('a token is one word') });
    expect(token.err).not.toContain('hidden');
    expect(config).toMatchObject({
      code: 78,
      err: expect.stringMatching(/PORT.*UPSTREAM_URL|UPSTREAM_URL.*PORT/s),
    });
    expect(clock).toMatchObject({ code: 78, err: expect.stringContaining('SANDBOX_CONTROL=1') });
    expect(prefixes).toMatchObject({ code: 78, err: expect.stringContaining('below the Batch prefix') });
  });
});

describe('doctor', () => {
  it('ends with 0 where all is as expected, 1 where something changed, 2 where nothing answers', async () => {
    const proxy = await openProxy(world.sandboxUrl);
    const examine = (url: string) =>
      run(['doctor', '--json'], { cwd: folder, env: { UPSTREAM_URL: url, FOLDATLAS_TOKEN: TOKEN } });
    const whole = await examine(proxy.url);
    proxy.change(renamedKey(/\/uniprot\//, 'organism', 'species'));
    const [changed, unreachable] = await Promise.all([examine(proxy.url), examine('http://127.0.0.1:9')]);
    await proxy.close();
    expect(whole.code).toBe(0);
    expect(JSON.parse(whole.out)).toMatchObject({ status: 'OK' });
    expect(changed.code).toBe(1);
    expect(changed.out).toContain('"path": "$.organism"');
    expect(whole.out + changed.out).not.toContain(TOKEN);
    expect(unreachable.code).toBe(2);
    expect(JSON.parse(unreachable.out)).toMatchObject({ status: 'UNREACHABLE' });
  });
});

describe('serve and sandbox', () => {
  it('start what they are called, and stop cleanly when told to', async () => {
    const quiet = { PORT: '0', LOG_LEVEL: 'error', STORE_URL: 'memory:', UPSTREAM_URL: world.sandboxUrl };
    const small = { SANDBOX_PORT: '0', SANDBOX_DATA: 'memory', SANDBOX_SIZE: 'small' };
    const started = [
      start(['serve'], { cwd: folder, env: quiet }),
      start([], { cwd: folder, env: quiet }),
      start(['sandbox'], { cwd: folder, env: small }),
    ];
    const firsts = started.map(({ child, ended }) =>
      Promise.race([
        new Promise<string>((resolve) =>
          child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString())),
        ),
        ended.then(({ err }) => err),
      ]),
    );
    for (const [i, { child, ended }] of started.entries()) {
      const first = await firsts[i];
      expect(first).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
      child.kill('SIGTERM');
      expect(await ended).toMatchObject({ code: 0 });
    }
  });
});
