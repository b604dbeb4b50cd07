// Requests in a minute: counted by key, shared by replicas over Redis, and by each process alone
// while Redis is away.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openRateLimiters, type RateLimiter } from '../../src/http/access/rate-limit.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../store/redis-place.ts';

const unexpected = (error: unknown) => expect.unreachable(String(error));

const allowed = async (limiter: RateLimiter, key: string, count: number): Promise<number> => {
  const results = await Promise.all(Array.from({ length: count }, () => limiter.consume(key)));
  return results.filter((result) => result.isAllowed).length;
};

describe('a rate limit in memory', () => {
  it('allows its number in a minute, by key and name, and all of it again in the next', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const limiters = openRateLimiters('memory:', unexpected);
    const callers = limiters.create('caller', 3);
    expect(await callers.consume('a')).toEqual({
      isAllowed: true,
      limit: 3,
      remaining: 2,
      resetSeconds: 60,
    });
    expect(await allowed(callers, 'a', 5)).toBe(2);
    vi.advanceTimersByTime(20_000);
    expect(await callers.consume('a')).toEqual({
      isAllowed: false,
      limit: 3,
      remaining: 0,
      resetSeconds: 40,
    });
    expect(await allowed(callers, 'b', 5)).toBe(3);
    expect(await allowed(limiters.create('address', 4), 'a', 5)).toBe(4);
    vi.advanceTimersByTime(40_000);
    expect(await allowed(callers, 'a', 5)).toBe(3);
    await limiters.close();
  });
});

describe.skipIf(NO_REDIS)('a rate limit over Redis', () => {
  let place: RedisPlace;
  beforeAll(async () => {
    place = await openRedisPlace();
  });
  afterAll(() => place.remove());

  it('is one for all processes that share it', async () => {
    const both = [openRateLimiters(place.url, unexpected), openRateLimiters(place.url, unexpected)];
    const counts = both.map((limiters) => allowed(limiters.create('caller', 12), 'shared', 20));
    const [one = 0, other = 0] = await Promise.all(counts);
    expect(one + other).toBe(12);
    const refused = await both[0]?.create('caller', 12).consume('shared');
    expect(refused).toMatchObject({ isAllowed: false, limit: 12, remaining: 0 });
    expect(refused?.resetSeconds).toBeGreaterThan(0);
    expect(refused?.resetSeconds).toBeLessThanOrEqual(60);
    expect(await both[1]?.create('caller', 12).consume('own')).toMatchObject({ remaining: 11 });
    for (const limiters of both) await limiters.close();
  });

  it('is counted by each process alone while the server does not answer, which is told once', async () => {
    const away = await openRedisPlace();
    const errors: unknown[] = [];
    const limiters = openRateLimiters(away.url, (error) => errors.push(error));
    const callers = limiters.create('caller', 3);
    expect((await callers.consume('k')).remaining).toBe(2);
    away.stall();
    expect(await allowed(callers, 'k', 6)).toBe(3);
    await expect.poll(() => errors.length).toBe(1);
    away.resume();
    // The server counts again, and the process does no longer.
    await expect.poll(async () => (await callers.consume(`next ${randomUUID()}`)).remaining).toBe(2);
    await limiters.close();
    await away.remove();
  });
});
