// Scripts are sent to Redis once: from then on by their digest, until the server has forgotten them.
import { afterAll, describe, expect, it } from 'vitest';
import { openRedis } from '../../src/store/redis-connection.ts';
import { NO_REDIS, openRedisPlace } from './redis-place.ts';

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
