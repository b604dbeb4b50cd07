// The secret of a gateway over its life: another one is refused, a new one keeps what was
// submitted, a lost one begins anew; in SQLite, and in a Redis that several gateways share. What
// was paid once is never paid again.
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

    const read = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'hex')]);
    const files = read();
    await expect(start(settings(SECOND))).rejects.toThrow(
      /ended with 78.*GATEWAY_SECRET: This ledger was written with another secret.*GATEWAY_SECRET_PREVIOUS/s,
    );
    await expect(start(settings())).rejects.toThrow(
      /ended with 78.*GATEWAY_SECRET: The file .*gateway\.db\.secret is missing or empty.*Nothing was changed/s,
    );
    expect(read()).toEqual(files);
    const again = await start(settings(FIRST));
    expect(await submitOnce(again, 'paid once')).toMatchObject({ batchId, replayed: true });
    expect(await queuedBatches(sandbox.url)).toHaveLength(before + 1);
  });

  it('is whole in its file and those beside it when its gateway has stopped', async () => {
    const before = (await queuedBatches(sandbox.url)).length;
    const first = await start(settings());
    const { batchId } = await submitOnce(first, 'copied');
    await first.end('SIGTERM');

    const copy = join(folder, 'copy.db');
    for (const suffix of ['', '.secret', '-newest'])
      copyFileSync(join(folder, `gateway.db${suffix}`), `${copy}${suffix}`);
    const again = await start({ STORE_URL: `sqlite:${copy}` });
    expect(await submitOnce(again, 'copied')).toMatchObject({ batchId, replayed: true });
    expect(await queuedBatches(sandbox.url)).toHaveLength(before + 1);
  });

  it('keeps what was submitted when the secret is changed twice, the ones before given, and starts with none of them missing', async () => {
    const before = (await queuedBatches(sandbox.url)).length;
    const first = await start(settings());
    const { batchId } = await submitOnce(first, 'kept');
    await first.end('SIGTERM');
    const previous = readFileSync(join(folder, 'gateway.db.secret'), 'utf8');
    for (const secrets of [
      { ...settings(FIRST), GATEWAY_SECRET_PREVIOUS: previous },
      { ...settings(SECOND), GATEWAY_SECRET_PREVIOUS: `${FIRST}, ${previous}` },
    ]) {
      const next = await start(secrets);
      expect(await batchIds(next)).toEqual([batchId]);
      expect(await submitOnce(next, 'kept')).toMatchObject({ batchId, replayed: true });
      await next.end('SIGTERM');
    }
    // Without one of them a caller who was away would pay again, and so it would with one of
    // before.
    for (const secrets of [
      settings(SECOND),
      { ...settings(SECOND), GATEWAY_SECRET_PREVIOUS: FIRST },
      settings(FIRST),
      { ...settings(FIRST), GATEWAY_SECRET_PREVIOUS: `${SECOND},${previous}` },
    ])
      await expect(start(secrets)).rejects.toThrow(/ended with 78.*GATEWAY_SECRET_PREVIOUS/s);
    expect(await queuedBatches(sandbox.url)).toHaveLength(before + 1);

    // The operator decides about a lost secret: nothing of before is found again.
    const lost = settings('a third secret of this gateway');
    expect(await run(['accept-ledger'], { env: lost })).toMatchObject({
      code: 78,
      err: expect.stringMatching(/another secret.*--secret-lost/),
    });
    expect(await run(['accept-ledger', '--secret-lost'], { env: lost })).toMatchObject({ code: 0 });
    const anew = await start(lost);
    expect(await batchIds(anew)).toEqual([]);
    expect(await submitOnce(anew, 'anew')).toMatchObject({ kind: 'FoldSubmitted' });
    expect(await run(['accept-ledger'], { env: lost })).toMatchObject({
      code: 0,
      err: expect.stringContaining('Nothing is wrong'),
    });
  });

  it('is accepted only with its secret, and only where it stands', async () => {
    const before = (await queuedBatches(sandbox.url)).length;
    const file = join(folder, 'restored.db');
    const own = { STORE_URL: `sqlite:${file}`, GATEWAY_SECRET: FIRST };
    const first = await start(own);
    const { batchId } = await submitOnce(first, 'restored');
    await first.end('SIGTERM');
    rmSync(`${file}-newest`);
    const accept = (env: Record<string, string>) => run(['accept-ledger'], { env });
    const refused = { code: 78, err: expect.stringContaining('.secret is missing') };
    expect(await accept({ STORE_URL: own.STORE_URL })).toMatchObject(refused);
    expect(existsSync(`${file}.secret`)).toBe(false);
    const nowhere = join(folder, 'nowhere', 'gateway.db');
    expect(await accept({ ...own, STORE_URL: `sqlite:${nowhere}` })).toMatchObject({
      code: 78,
      err: expect.stringContaining(`There is no ledger at sqlite:${nowhere}`),
    });
    expect(existsSync(dirname(nowhere))).toBe(false);
    expect(await accept(own)).toMatchObject({ code: 0, err: expect.stringContaining(file) });
    const again = await start(own);
    expect(await submitOnce(again, 'restored')).toMatchObject({ batchId, replayed: true });
    expect(await queuedBatches(sandbox.url)).toHaveLength(before + 1);
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
    const next = { ...settings(SECOND), GATEWAY_SECRET_PREVIOUS: FIRST };
    const replaced = await Promise.all([start(next), start(next)]);
    const endings = await Promise.all(replaced.map((server) => submitOnce(server, 'shared')));
    for (const ending of endings) expect(ending).toMatchObject({ batchId, replayed: true });
    for (const server of replaced) expect(await batchIds(server)).toEqual([batchId]);
    // Gateways that have not been replaced yet find nothing, and so send nothing.
    expect(await submitOnce(running[1], 'shared')).toMatchObject({
      ...{ kind: 'Refused', reason: 'UNREACHABLE' },
      hint: expect.stringContaining('with the secret of the others'),
    });
    const ready = await fetch(`${running[1].url}/ready`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('another secret')]);
    expect(redis.bytes()).not.toContain(FIRST);
    expect(redis.bytes()).not.toContain(SECOND);
  });
});
