// The server as a process: its port for metrics, how it stops, and why it does not start.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { awaitStore } from '../../../src/process/await-store.ts';
import { openLedger } from '../../../src/store/ledger/open-ledger.ts';
import { LostLedgerError } from '../../../src/store/unusable-store.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { endWithFile } from '../../child-processes.ts';
import { protein } from '../../folding/bench.ts';
import { recordOutput } from '../../record.ts';
import { ROOT } from '../../root.ts';
import { SECRETS } from '../../store/ledger-contract.ts';
import { NO_REDIS, openRedisPlace } from '../../store/redis-place.ts';
import { until } from '../../subscriptions/support.ts';
import { type Answer, at } from '../../support.ts';

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-processes-'));
const AUTH = { authorization: 'Bearer processes-token' };
const METRICS = { authorization: 'Bearer metrics-token-of-this-test' };

interface Started {
  readonly child: ChildProcess;
  /** The output so far. */
  readonly out: () => string;
  readonly err: () => string;
}

function start(
  env: Record<string, string>,
  command = process.execPath,
  args: readonly string[] = ['dist/server.js'],
): Started {
  const child = endWithFile(
    spawn(command, args, {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH ?? '',
        NODE_ENV: 'production',
        LOG_LEVEL: 'debug',
        MAX_CONCURRENT_REQUESTS: '0',
        PORT: '0',
        SANDBOX_SIZE: 'small',
        SANDBOX_DATA: join(folder, 'sandbox'),
        STORE_URL: `sqlite:${join(folder, 'gateway.db')}`,
        ...env,
      },
    }),
  );
  const written = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    written.out += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    written.err += String(chunk);
    recordOutput(String(chunk));
  });
  return { child, out: () => written.out, err: () => written.err };
}

/** Waits for the end of a process. @returns its exit code */
async function ended({ child }: Started): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

/** The JSON lines that a process has logged. */
const logged = (started: Started): Record<string, unknown>[] =>
  started
    .err()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a process', () => {
  it('gives metrics that it serves apart to who has the token, and completes streams when it stops', async () => {
    const server = start({
      METRICS_PORT: '0',
      METRICS_TOKEN: 'metrics-token-of-this-test',
      SHUTDOWN_SECONDS: '8',
    });
    await until('it to listen', () => /FoldAtlas .*\/graphql/.test(server.out()));
    await until('it to say where its metrics are', () => server.err().includes('served apart'));
    const [, url = ''] = /(http:\S+)\/graphql/.exec(server.out().split(' · ').at(-1) ?? '') ?? [];
    const apart = logged(server).find(({ message }) => message === 'metrics are served apart');
    const metricsUrl = String(apart?.url);
    expect(await (await fetch(metricsUrl, { headers: METRICS })).text()).toMatch(
      /^foldatlas_build_info\{.*\} 1$/m,
    );
    expect((await fetch(metricsUrl)).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: METRICS })).status).toBe(404);

    const post = (query: string, variables: object, accept = 'application/json') =>
      fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, ...AUTH },
        body: JSON.stringify({ query, variables }),
      });
    const submit =
      'mutation($input: SubmitFoldInput!) { submitFold(input: $input) { ... on FoldSubmitted { batch { batchId } } } }';
    const input = { items: [protein('GIVEQCCTSICSLYQLENYCN')] };
    const { data } = (await (await post(submit, { input })).json()) as Answer;
    const id = at(data, 'submitFold.batch.batchId');
    const watch = 'subscription($id: ID!) { batchProgress(batchId: $id) { sequence } }';
    const stream = await post(watch, { id }, 'text/event-stream');
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) throw new Error('no stream');
    let text = '';
    while (!text.includes('"sequence"')) text += (await reader.read()).value ?? '';
    server.child.kill('SIGTERM');
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    expect(text).toMatch(/event: complete/);
    expect(await ended(server)).toBe(0);
    expect(logged(server).some(({ message }) => message === 'stopping')).toBe(true);
  });

  it('needs no shell syntax below npm, and stops in order when npm is told to end', async () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const name of ['start', 'sandbox', 'doctor'])
      expect(scripts[name], name).toMatch(/^node scripts\/start\.js [\w./]+( doctor)?$/);
    const server = start({ STORE_URL: 'memory:', UPSTREAM_URL: 'http://127.0.0.1:9' }, 'npm', ['start']);
    await until('it to listen', () => /FoldAtlas .*\/graphql/.test(server.out()));
    const [, url = ''] = /(http:\S+)\/graphql/.exec(server.out()) ?? [];
    server.child.kill('SIGTERM');
    await until('it to stop', () => logged(server).some(({ message }) => message === 'stopping'));
    await until('it to be gone', () =>
      fetch(`${url}/health`).then(
        () => false,
        () => true,
      ),
    );
  });

  it('ends at once when it is told a second time to stop, whatever is still under way', async () => {
    // An upstream that never answers.
    const asked: string[] = [];
    const silent = createServer(({ url: path = '' }) => asked.push(path));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const server = start({
      STORE_URL: 'memory:',
      UPSTREAM_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      SHUTDOWN_SECONDS: '300',
      REQUEST_TIMEOUT_MS: '600000',
    });
    await until('it to listen', () => /FoldAtlas .*\/graphql/.test(server.out()));
    const url = /(http:\S+)\/graphql/.exec(server.out())?.[0] ?? '';
    const answer = fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...AUTH },
      body: JSON.stringify({ query: '{ task(taskId: "x") { status } }' }),
    }).catch((error: unknown) => error);
    await until('the upstream to be asked', () => asked.some((path) => path.endsWith('/status')));
    server.child.kill('SIGTERM');
    await until('it to stop', () => logged(server).some(({ message }) => message === 'stopping'));
    // Two signals within half a second are one, sent twice.
    await sleep(600);
    expect(server.child.exitCode).toBeNull();
    server.child.kill('SIGTERM');
    expect(await ended(server)).toBe(128 + 15);
    expect(await answer).toBeInstanceOf(Error);
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });

  it.skipIf(NO_REDIS)('waits for its Redis when it starts before it, and says so', async () => {
    const place = await openRedisPlace();
    await place.kill();
    const env = { STORE_URL: place.url, GATEWAY_SECRET: 'a secret for all replicas' };
    const server = start({ ...env, UPSTREAM_URL: 'http://127.0.0.1:9' });
    await until('it to wait', () => server.err().includes('waiting for the store'));
    // SIGHUP makes a gateway read its keys again; it must not end one that starts.
    server.child.kill('SIGHUP');
    await place.start();
    await until('it to listen', () => server.out().includes('/graphql'));
    server.child.kill('SIGTERM');
    expect(await ended(server)).toBe(0);
    await place.remove();
  });

  it.skipIf(NO_REDIS)('ends with the reason when it has waited long enough for its Redis', async () => {
    const place = await openRedisPlace();
    await place.remove();
    const ledger = openLedger(place.url, SECRETS);
    const waiting = awaitStore({ LEDGER_URL: place.url }, createLogger('silent', true), ledger.check, 600);
    await expect(waiting).rejects.toThrow(`The store ${place.url} failed: connect ECONNREFUSED`);
    await ledger.close();
  });

  it('does not wait for a store that has lost its past', async () => {
    let checks = 0;
    const check = async () => {
      checks += 1;
      throw new LostLedgerError('lost');
    };
    const waiting = awaitStore({ LEDGER_URL: 'redis://ledger' }, createLogger('silent', true), check, 600);
    await expect(waiting).rejects.toThrow('lost');
    expect(checks).toBe(1);
  });

  it.skipIf(NO_REDIS)('does not wait for a Redis that refuses it', async () => {
    const place = await openRedisPlace('--requirepass', 'open sesame');
    const env = { GATEWAY_SECRET: 'a secret for all replicas', UPSTREAM_URL: 'http://127.0.0.1:9' };
    const wrong = start({ ...env, STORE_URL: place.url.replace('//', '//:password@') });
    const none = start({ ...env, STORE_URL: place.url });
    expect(await Promise.all([wrong, none].map(ended))).toEqual([1, 1]);
    // The only wait before it is for a starved Redis that does not answer.
    expect(wrong.err()).toMatch(/^(\{(?!.*WRONGPASS).*\n)?The store \S+ failed: WRONGPASS .*\n$/);
    expect(none.err()).toMatch(/^(\{(?!.*NOAUTH).*\n)?The store \S+ failed: NOAUTH .*\n$/);
    await place.remove();
  });

  it.runIf(process.platform === 'linux')('says so when it cannot make its folder', async () => {
    const server = start({ STORE_URL: 'sqlite:/proc/none/gateway.db', UPSTREAM_URL: 'http://127.0.0.1:9' });
    expect(await ended(server)).toBe(1);
    expect(server.err()).toMatch(/mkdir '\/proc\/none'\n$/);
  });

  it.each([
    ['PORT', { UPSTREAM_URL: 'http://127.0.0.1:9' }],
    ['PORT', { SANDBOX_DATA: 'memory', SANDBOX_SIZE: 'small' }],
    ['SANDBOX_PORT', { SANDBOX_DATA: 'memory', SANDBOX_SIZE: 'small' }],
  ])('names %s when it cannot have the port, and ends with 1: %j', async (setting, env) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const server = start({ PORT: '0', STORE_URL: 'memory:', ...env, [setting]: String(port) });
    expect(await ended(server)).toBe(1);
    expect(server.err()).toContain(
      `Port ${port} is taken: stop what listens there, or set ${setting} to another one.`,
    );
    await new Promise((resolve) => taken.close(resolve));
  });
});
