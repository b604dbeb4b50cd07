// Scripts are sent to Redis once: from then on by their digest, until the server has forgotten
// them. A name that leads to another server is followed.
import { connect, createServer } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { openSharedCache } from '../../src/store/cache/shared-cache.ts';
import { openRedis } from '../../src/store/redis-connection.ts';
import { freePort, NO_REDIS, openRedisPlace } from './redis-place.ts';

describe.skipIf(NO_REDIS)('a script', async () => {
  const place = NO_REDIS ? null : await openRedisPlace();
  const redis = openRedis(place?.url ?? 'redis://127.0.0.1:1', () => undefined);
  afterAll(async () => {
    await redis.close();
    await place?.remove();
  });

  it('is sent as text only when the server does not know it', async () => {
    const texts = async (): Promise<number> => {
      const stats = String(await redis.send('INFO', 'commandstats'));
      return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    const join = () => redis.run("return KEYS[1] .. ' ' .. ARGV[1]", ['a'], ['b']);
    for (let i = 0; i < 5; i += 1) expect(await join()).toBe('a b');
    expect(await texts()).toBe(1);
    await redis.send('SCRIPT', 'FLUSH');
    expect(await join()).toBe('a b');
    expect(await texts()).toBe(2);
  });

  it('fails with what the server says', async () => {
    await expect(redis.run("return redis.error_reply('ERR no')", [], [])).rejects.toThrow('ERR no');
  });
});

it.skipIf(NO_REDIS)(
  'a primary that became a replica is left for the one that its name leads to now',
  async () => {
    const first = await openRedisPlace();
    const second = await openRedisPlace();
    let primary = first;
    // New connections to the name go to the primary; those that there are stay where they are.
    const name = createServer((socket) => {
      const through = connect(Number(new URL(primary.url).port), '127.0.0.1');
      for (const [from, to] of [[socket, through] as const, [through, socket] as const])
        from.on('error', () => to.destroy()).pipe(to);
    });
    const port = await freePort();
    await new Promise<void>((resolve) => name.listen(port, '127.0.0.1', resolve));
    const lost: unknown[] = [];
    const redis = openRedis(`redis://127.0.0.1:${port}`, (error) => lost.push(error));
    const write = () => redis.run("return redis.call('SET', KEYS[1], ARGV[1])", ['key'], ['value']);
    expect(await write()).toBe('OK');
    const failed: unknown[] = [];
    const cache = openSharedCache(`redis://127.0.0.1:${port}`, (error) => failed.push(error));
    const values = cache?.namespace('values');
    // The first read may wait too long for its connection.
    await expect
      .poll(async () => {
        failed.length = 0;
        await values?.getMany(['a']);
        return failed;
      })
      .toEqual([]);
    primary = second;
    await redis.send('REPLICAOF', '127.0.0.1', new URL(second.url).port);
    await expect(write()).rejects.toThrow('READONLY');
    expect(await write()).toBe('OK');
    expect(lost).toEqual([]);
    await redis.close();
    // A value that cannot be written is one report; a moment later others are written.
    const reports = () => failed.map(String).filter((text) => text.includes('READONLY'));
    await expect
      .poll(() => {
        if (reports().length === 0) values?.set('a', { v: 'a' }, 60_000);
        return reports().length;
      })
      .toBe(1);
    await expect
      .poll(() => {
        values?.set('b', { v: 'b' }, 60_000);
        return values?.getMany(['a', 'b']);
      })
      .toEqual(new Map([['b', { v: 'b' }]]));
    expect(reports()).toHaveLength(1);
    await cache?.close();
    name.close();
    await Promise.all([first.remove(), second.remove()]);
  },
);
