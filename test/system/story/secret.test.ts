// The secret of a gateway over its life: another one is refused, a new one keeps what was submitted, a lost one begins anew; in SQLite, and
// in a Redis that several gateways share. What was paid once is never paid again.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../../store/redis-place.ts';
import { run } from '../cli/bin.ts';
import { batchIds, queuedBatches, type ServerProcess, startServer, submitOnce } from '../server-process.ts';

const FIRST = 'the first secret of this gateway';
const SECOND = 'the second secret of this gateway';

let sandbox: Sandbox;
let folder: string;
let servers: ServerProcess[] = [];
beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', control: true });
});
afterAll(() => sandbox.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secret-'));
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.end('SIGKILL')));
  servers = [];
  rmSync(folder, { recursive: true });
});

async function start(settings: Record<string, string>): Promise<ServerProcess> {
  const server = await startServer({ UPSTREAM_URL: sandbox.url, ...settings });
  servers.push(server);
  return server;
}

describe('a ledger in SQLite', () => {
  const settings = (secret?: string) => ({
    STORE_URL: `sqlite:${join(folder, 'gateway.db')}`,
    ...(secret === undefined ? {} : { GATEWAY_SECRET: secret }),
  });

  it('is not opened by another secret, which would pay for the same key twice', async () => {
    const before = (await queuedBatches(sandbox.url)).length;
    const first = await start(settings(FIRST));
    const { batchId } = await submitOnce(first, 'paid once');
    await first.end('SIGTERM');

    for (const wrong of [settings(SECOND), settings(), { ...settings(SECOND), WORKERS: '2' }])
      await expect(start(wrong)).rejects.toThrow(
        /ended with 78.*GATEWAY_SECRET: this ledger was written with another secret.*rotate-secret/s,
      );
    const again = await start(settings(FIRST));
    expect(await submitOnce(again, 'paid once')).toMatchObject({ batchId, replayed: true });
    expect(await queuedBatches(sandbox.url)).toHaveLength(before + 1);
  });

  it('is whole in its file and the secret beside it when its gateway has stopped', async () => {
    const before = (await queuedBatches(sandbox.url)).length;
    const first = await start(settings());
    const { batchId } = await submitOnce(first, 'copied');
    await first.end('SIGTERM');

    const copy = join(folder, 'copy.db');
    for (const suffix of ['', '.secret'])
      copyFileSync(join(folder, `gateway.db${suffix}`), `${copy}${suffix}`);
    const again = await start({ STORE_URL: `sqlite:${copy}` });
    expect(await submitOnce(again, 'copied')).toMatchObject({ batchId, replayed: true });
    expect(await queuedBatches(sandbox.url)).toHaveLength(before + 1);
  });

  it('keeps what was submitted when the secret beside it is changed, and says when it cannot be', async () => {
    const first = await start(settings());
    const { batchId } = await submitOnce(first, 'kept');
    await first.end('SIGTERM');
    const file = join(folder, 'new.secret');
    writeFileSync(file, `${SECOND}\n`);
    const rotate = () => run(['rotate-secret', '--to', file], { env: settings() });
    expect(await rotate()).toMatchObject({ code: 0, err: expect.stringContaining('nothing was lost') });
    expect(readFileSync(join(folder, 'gateway.db.secret'), 'utf8')).toBe(SECOND);
    expect(await rotate()).toMatchObject({ code: 0, err: expect.stringContaining('in use already') });
    const second = await start(settings());
    expect(await batchIds(second)).toEqual([batchId]);
    expect(await submitOnce(second, 'kept')).toMatchObject({ batchId, replayed: true });
    await second.end('SIGTERM');

    const [wrong, unclear, missing] = await Promise.all([
      run(['rotate-secret', '--to', '/dev/null'], { env: settings(FIRST) }),
      run(['rotate-secret'], { env: settings(FIRST) }),
      run(['rotate-secret', '--to', join(folder, 'none')], { env: settings(FIRST) }),
    ]);
    expect([wrong.code, unclear.code, missing.code]).toEqual([65, 64, 64]);
    writeFileSync(file, 'a third secret of this gateway');
    const closed = await run(['rotate-secret', '--to', file], { env: settings(FIRST) });
    expect(closed).toMatchObject({ code: 78, err: expect.stringContaining('does not open this ledger') });

    // Of a lost secret the operator decides: nothing of before is found again.
    expect((await run(['rotate-secret', '--lost'], { env: settings(FIRST) })).code).toBe(0);
    const anew = await start(settings(FIRST));
    expect(await batchIds(anew)).toEqual([]);
  });
});

describe.skipIf(NO_REDIS)('a ledger in Redis that gateways share', () => {
  let redis: RedisPlace;
  beforeAll(async () => {
    redis = await openRedisPlace();
  });
  afterAll(() => redis.remove());

  it('keeps what was submitted through a change of the secret while gateways run', async () => {
    const settings = (secret: string) => ({ STORE_URL: `${redis.url}/1`, GATEWAY_SECRET: secret });
    const running = await Promise.all([start(settings(FIRST)), start(settings(FIRST))]);
    const { batchId } = await submitOnce(running[0], 'shared');
    const file = join(folder, 'new.secret');
    writeFileSync(file, SECOND);
    expect(await run(['rotate-secret', '--to', file], { env: settings(FIRST) })).toMatchObject({
      code: 0,
      err: expect.stringContaining('Give all of them the new secret'),
    });
    await expect(start(settings(FIRST))).rejects.toThrow(/ended with 78/);
    // Replaced one by one: the old and the new one know the same.
    const replaced = await start({ ...settings(''), GATEWAY_SECRET: '', GATEWAY_SECRET_FILE: file });
    for (const server of [running[1], replaced]) {
      expect(await submitOnce(server, 'shared')).toMatchObject({ batchId, replayed: true });
      expect(await batchIds(server)).toEqual([batchId]);
    }
    expect(redis.bytes()).not.toContain(FIRST);
    expect(redis.bytes()).not.toContain(SECOND);
  });
});
