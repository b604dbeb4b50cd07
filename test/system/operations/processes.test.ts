// The server as processes: several that share a port and a store, what becomes of one that is killed, and how all of them stop.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { awaitStore } from '../../../src/process/await-store.ts';
import { createRestartBackoff } from '../../../src/process/workers.ts';
import { openLedger } from '../../../src/store/ledger/open-ledger.ts';
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
  /** What it has written so far. */
  readonly out: () => string;
  readonly err: () => string;
}

function start(env: Record<string, string>): Started {
  const child = endWithFile(
    spawn(process.execPath, ['dist/server.js'], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH ?? '',
        NODE_ENV: 'production',
        LOG_LEVEL: 'debug',
        MAX_EVENT_LOOP_DELAY_MS: '0',
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

const pidsOf = (started: Started): number[] =>
  logged(started)
    .filter(({ message }) => message === 'worker started')
    .map(({ pid }) => Number(pid));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('two workers', () => {
  let server: Started;
  let url: string;
  let metricsUrl: string;

  beforeAll(async () => {
    server = start({
      WORKERS: '2',
      METRICS_PORT: '0',
      METRICS_TOKEN: 'metrics-token-of-this-test',
      SHUTDOWN_SECONDS: '8',
    });
    await until('the workers to listen', () => /FoldAtlas .*\/graphql/.test(server.out()));
    metricsUrl = String(logged(server).find(({ message }) => message === 'metrics are served apart')?.url);
    url = /(http:\S+)\/graphql/.exec(server.out().split(' · ').at(-1) ?? '')?.[1] ?? '';
  });
  afterAll(() => {
    if (server.child.exitCode === null) server.child.kill('SIGKILL');
  });

  const ask = async (query: string, variables: Record<string, unknown> = {}): Promise<Answer> => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      // A connection of its own each time, so that both workers get some.
      headers: { 'content-type': 'application/json', connection: 'close', ...AUTH },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as Answer;
  };
  const scrape = async (): Promise<string> => (await fetch(metricsUrl, { headers: METRICS })).text();
  const requests = (text: string): number =>
    [...text.matchAll(/^foldatlas_http_requests_total\{route="\/graphql"[^}]*\} (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );

  const SUBMIT = `mutation($input: SubmitFoldInput!) { submitFold(input: $input) {
    ... on FoldSubmitted { replayed batch { batchId } } ... on Problem { message } } }`;

  it('answer on one port, share the ledger, and send a submission with one key once', async () => {
    const input = {
      label: randomUUID(),
      items: [protein('GIVEQCCTSICSLYQLENYCN')],
      idempotencyKey: randomUUID(),
    };
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(SUBMIT, { input })));
    const batches = answers.map(({ data }) => at(data, 'submitFold.batch.batchId'));
    expect(new Set(batches).size).toBe(1);
    expect(batches[0]).toEqual(expect.any(String));
    expect(answers.filter(({ data }) => at(data, 'submitFold.replayed') === false)).toHaveLength(1);
    for (let i = 0; i < 4; i += 1)
      expect((await ask('{ myBatches(first: 1) { nodes { label } } }')).data).toEqual({
        myBatches: { nodes: [{ label: input.label }] },
      });
  });

  it('give one sum of what each of them counted, to who has the token', async () => {
    const before = requests(await scrape());
    await Promise.all(Array.from({ length: 12 }, () => ask('{ __typename }')));
    const text = await scrape();
    expect(requests(text) - before).toBe(12);
    expect(text).toMatch(/^foldatlas_workers 2$/m);
    expect((await fetch(metricsUrl)).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: METRICS })).status).toBe(404);
  });

  it('stream a batch to sockets at both of them', async () => {
    const input = { items: [protein('GIVEQCCTSICSLYQLENYCN'.repeat(5))] };
    const id = at((await ask(SUBMIT, { input })).data, 'submitFold.batch.batchId');
    const query =
      'subscription($id: ID!) { batchProgress(batchId: $id) { final batch { counts { total done } } } }';
    let begun = 0;
    const watching = Promise.all(
      Array.from({ length: 6 }, async (): Promise<unknown> => {
        const client = createClient({
          url: `${url.replace('http', 'ws')}/graphql`,
          webSocketImpl: WebSocket,
          retryAttempts: 0,
          connectionParams: { token: 'processes-token' },
        });
        let last: unknown;
        for await (const event of client.iterate({ query, variables: { id } })) {
          if (last === undefined) begun += 1;
          last = event;
        }
        await client.dispose();
        return last;
      }),
    );
    await until('all to be told the present state', () => begun === 6);
    const during = await scrape();
    expect(during).toMatch(/^foldatlas_watchers 6$/m);
    // One poller in each worker that has a watcher; they take turns at the upstream.
    expect(during).toMatch(/^foldatlas_pollers 2$/m);
    const end = { data: { batchProgress: { final: true, batch: { counts: { total: 1, done: 1 } } } } };
    expect(await watching).toEqual(Array.from({ length: 6 }, () => end));
    expect(await scrape()).toMatch(/^foldatlas_watchers 0$/m);
  });

  it('are replaced when they are killed, while the other goes on', async () => {
    const started = pidsOf(server);
    const first = started.at(-1);
    if (first === undefined) throw new Error('no worker was named');
    const counted = requests(await scrape());
    process.kill(first, 'SIGKILL');
    await until(
      'its death to be noticed',
      () => server.err().split('a worker died').length >= started.length,
    );
    expect((await ask('{ limits { maxBulkHashes } }')).errors).toBeUndefined();
    await until('both to be there again', async () => /^foldatlas_workers 2$/m.test(await scrape()));
    expect(pidsOf(server)).toHaveLength(started.length + 1);
    // A counter that goes back looks to Prometheus as if what the others count came in that moment.
    expect(requests(await scrape())).toBe(counted + 1);
  });

  it('stop in order: streams are completed, the exit code is 0, no process is left', async () => {
    const input = { items: [protein('GIVEQCCTSICSLYQLENYCN')] };
    const id = at((await ask(SUBMIT, { input })).data, 'submitFold.batch.batchId');
    const query = 'subscription($id: ID!) { batchProgress(batchId: $id) { sequence } }';
    const stream = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...AUTH },
      body: JSON.stringify({ query, variables: { id } }),
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) throw new Error('no stream');
    let text = '';
    while (!text.includes('"sequence"')) text += (await reader.read()).value ?? '';
    server.child.kill('SIGTERM');
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    expect(text).toMatch(/event: complete/);
    expect(await ended(server)).toBe(0);
    for (const pid of pidsOf(server)) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(logged(server).some(({ message }) => message === 'stopping')).toBe(true);
  });
});

describe('a process', () => {
  it('that is told to stop while its workers start ends as soon as they have', async () => {
    const server = start({ UPSTREAM_URL: 'http://127.0.0.1:9', WORKERS: '2', SHUTDOWN_SECONDS: '300' });
    await until('a worker to be started', () => server.err().includes('worker started'));
    server.child.kill('SIGTERM');
    expect(await ended(server)).toBe(0);
    expect(server.out()).toBe('');
  });

  it('that is told a second time to stop ends at once, whatever is still under way', async () => {
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
      body: JSON.stringify({ query: '{ task(taskId: "x") { state } }' }),
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

  it.skipIf(NO_REDIS)('that starts before its Redis waits for it, and says so', async () => {
    const place = await openRedisPlace();
    await place.kill();
    const env = { STORE_URL: place.url, GATEWAY_SECRET: 'a secret for all replicas' };
    const server = start({ ...env, UPSTREAM_URL: 'http://127.0.0.1:9', WORKERS: '2' });
    await until('it to wait', () => server.err().includes('waiting for the store'));
    // SIGHUP makes a gateway read its keys again; it must not end one that starts.
    server.child.kill('SIGHUP');
    await place.start();
    await until('it to listen', () => server.out().includes('/graphql'));
    server.child.kill('SIGTERM');
    expect(await ended(server)).toBe(0);
    await place.remove();
  });

  it.skipIf(NO_REDIS)('that has waited long enough for its Redis ends with the reason', async () => {
    const place = await openRedisPlace();
    await place.remove();
    const ledger = openLedger(place.url, SECRETS);
    const waiting = awaitStore({ LEDGER_URL: place.url }, createLogger('silent', true), ledger.check, 600);
    await expect(waiting).rejects.toThrow(`The store ${place.url} failed: connect ECONNREFUSED`);
    await ledger.close();
  });

  it.skipIf(NO_REDIS)('that its Redis refuses does not wait for it', async () => {
    const place = await openRedisPlace('--requirepass', 'open sesame');
    const env = { GATEWAY_SECRET: 'a secret for all replicas', UPSTREAM_URL: 'http://127.0.0.1:9' };
    const wrong = start({ ...env, STORE_URL: place.url.replace('//', '//:password@') });
    const none = start({ ...env, STORE_URL: place.url });
    expect(await Promise.all([wrong, none].map(ended))).toEqual([1, 1]);
    // What may be waited for before is only that a starved Redis does not answer.
    expect(wrong.err()).toMatch(/^(\{(?!.*WRONGPASS).*\n)?The store \S+ failed: WRONGPASS .*\n$/);
    expect(none.err()).toMatch(/^(\{(?!.*NOAUTH).*\n)?The store \S+ failed: NOAUTH .*\n$/);
    await place.remove();
  });

  it.runIf(process.platform === 'linux')('that cannot make its folder says so', async () => {
    const server = start({ STORE_URL: 'sqlite:/proc/none/gateway.db', UPSTREAM_URL: 'http://127.0.0.1:9' });
    expect(await ended(server)).toBe(1);
    expect(server.err()).toMatch(/mkdir '\/proc\/none'\n$/);
  });

  it('that cannot have its port says so and ends with 1', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const server = start({ PORT: String(port), STORE_URL: 'memory:', UPSTREAM_URL: 'http://127.0.0.1:9' });
    expect(await ended(server)).toBe(1);
    expect(server.err()).toContain(`Port ${port} is taken`);
    await new Promise((resolve) => taken.close(resolve));
  });

  it('that dies young is started again ever later, and in the end no more', () => {
    const after = createRestartBackoff();
    const pauses = Array.from({ length: 9 }, () => after(100));
    expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, undefined]);
    const other = createRestartBackoff();
    expect([other(100), other(60_000), other(100)]).toEqual([250, 250, 500]);
  });
});
