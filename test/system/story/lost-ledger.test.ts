// A ledger loses what it knew under gateways that run. What an operator sees: /ready, a metric and
// the log say so, reads go on, no idempotency key is given away until the operator accepts the
// loss, and nothing is paid twice.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { NO_REDIS, openRedisPlace } from '../../store/redis-place.ts';
import { until } from '../../subscriptions/support.ts';
import { run } from '../cli/bin.ts';
import { queuedBatches, type ServerProcess, startServer, submitOnce } from '../server-process.ts';

let sandbox: Sandbox;
let servers: ServerProcess[] = [];
const folder = mkdtempSync(join(tmpdir(), 'foldatlas-lost-'));
beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', control: true });
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.end('SIGKILL')));
  servers = [];
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

const METRICS_TOKEN = 'metrics-token-of-a-test';

async function start(settings: Record<string, string>): Promise<ServerProcess> {
  const server = await startServer({ UPSTREAM_URL: sandbox.url, METRICS_TOKEN, ...settings });
  servers.push(server);
  return server;
}

async function expectLost(server: ServerProcess): Promise<void> {
  const before = (await queuedBatches(sandbox.url)).length;
  const refused = await submitOnce(server, 'paid');
  expect(refused).toMatchObject({ kind: 'Refused', reason: 'UNREACHABLE' });
  // An agent would do just that.
  expect(refused.hint).not.toMatch(/without (an|the) (idempotency )?key/i);
  expect(await queuedBatches(sandbox.url)).toHaveLength(before);
  const ready = await fetch(`${server.url}/ready`);
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('accept-ledger')]);
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  expect(await (await fetch(`${server.url}/metrics`, { headers })).text()).toContain(
    'foldatlas_ledger_lost 1',
  );
  // One line without a stack trace, and no waiting for a store that has answered.
  expect(server.log().match(/"error":"[^"\\]*accept-ledger[^"\\]*"/g)).toHaveLength(1);
  expect(server.log()).not.toMatch(
    /waiting for the store.*accept-ledger|accept-ledger.*waiting for the store/,
  );
  const { data, errors } = await server.ask('{ uniprotEntry(id: "P01308") { protein { length } } }');
  expect([errors, data]).toEqual([undefined, { uniprotEntry: { protein: { length: 110 } } }]);
}

describe.skipIf(NO_REDIS)('a Redis that gateways share', () => {
  it('gives no key away when it is emptied, also not to a gateway that starts then, until that is accepted', async () => {
    const redis = await openRedisPlace();
    const env = { STORE_URL: redis.url, GATEWAY_SECRET: 'a secret that replicas share' };
    // Two on a Redis that is new.
    const [one, two] = await Promise.all([start(env), start(env)]);
    expect(await submitOnce(one, 'paid')).toMatchObject({ kind: 'FoldSubmitted', replayed: false });
    expect(await submitOnce(two, 'paid')).toMatchObject({ kind: 'FoldSubmitted', replayed: true });
    const client = await createClient({ url: redis.url }).connect();
    await client.flushAll();
    client.destroy();
    await expectLost(one);
    await expectLost(two);
    await expectLost(await start(env));
    expect(await run(['accept-ledger'], { env })).toMatchObject({ code: 0 });
    for (const [i, server] of servers.entries())
      expect(await submitOnce(server, 'new')).toMatchObject({ kind: 'FoldSubmitted', replayed: i > 0 });
    for (const { url } of servers)
      await until('it to be ready', async () => (await fetch(`${url}/ready`)).ok);
    await redis.remove();
  });

  it('is noticed when it comes back empty, before a gateway that starts then pays again, and is warned of before', async () => {
    const redis = await openRedisPlace('--appendonly', 'no');
    const env = { STORE_URL: redis.url, GATEWAY_SECRET: 'a secret that replicas share' };
    const one = await start(env);
    await until('the warning', () => /"level":"warn".*appendonly yes/.test(one.log()));
    expect(await submitOnce(one, 'paid')).toMatchObject({ kind: 'FoldSubmitted' });
    await redis.kill();
    await redis.start();
    // Without a request it looks by itself when it is connected again.
    await until('the loss to be logged', () => one.log().includes('accept-ledger'));
    await expectLost(await start(env));
    await expectLost(one);
    await redis.remove();
  });
});

describe('a SQLite file', () => {
  it('is missed when it is removed under its gateway, also after a restart, until that is accepted', async () => {
    const file = join(folder, 'gateway.db');
    const env = { STORE_URL: `sqlite:${file}` };
    const first = await start(env);
    expect(await submitOnce(first, 'paid before')).toMatchObject({ kind: 'FoldSubmitted' });
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    await expectLost(first);
    await first.end('SIGTERM');
    const second = await start(env);
    await expectLost(second);
    expect(await run(['accept-ledger'], { env })).toMatchObject({ code: 0 });
    expect(await submitOnce(second, 'paid')).toMatchObject({ kind: 'FoldSubmitted', replayed: false });
  });

  it('is missed when it is removed while no gateway runs', async () => {
    const file = join(folder, 'stopped.db');
    const env = { STORE_URL: `sqlite:${file}` };
    const first = await start(env);
    expect(await submitOnce(first, 'paid')).toMatchObject({ kind: 'FoldSubmitted' });
    await first.end('SIGTERM');
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    await expectLost(await start(env));
  });
});
