// How many requests a caller may make in a minute: the same sum in every store, shared by replicas, and for each process alone without a store.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRateLimit } from '../../src/http/limits/rate-limit.ts';
import { openRates, takeTokens } from '../../src/store/rate-limit/token-bucket.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../store/redis-place.ts';

const silent = () => undefined;

describe('a bucket', () => {
  it('of any size is given whole, one by one', () => {
    for (let perMinute = 1; perMinute <= 200; perMinute += 1) {
      let fullAt = 0;
      let granted = 0;
      for (let i = 0; i < perMinute + 1; i += 1) {
        const taken = takeTokens(fullAt, 1_800_000_000_000, { key: '', tokens: 1, perMinute });
        fullAt = taken.fullAt;
        granted += taken.granted;
      }
      expect(granted).toBe(perMinute);
    }
  });

  it('gives its size at once, then what flows in, and never more', () => {
    const takes = fc.array(fc.record({ after: fc.nat(5000), tokens: fc.integer({ min: 1, max: 50 }) }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6000 }), takes, (perMinute, list) => {
        let now = 1_800_000_000_000;
        const start = now;
        let fullAt = 0;
        let granted = 0;
        for (const { after, tokens } of list) {
          now += after;
          const taken = takeTokens(fullAt, now, { key: '', tokens, perMinute });
          fullAt = taken.fullAt;
          granted += taken.granted;
          expect(taken.granted).toBeLessThanOrEqual(tokens);
          if (taken.granted < tokens) expect(taken.left).toBe(0);
          // Whoever waits as long as told gets one.
          if (taken.left === 0)
            expect(
              takeTokens(fullAt, now + Math.ceil(taken.waitMs), { key: '', tokens: 1, perMinute }).granted,
            ).toBe(1);
        }
        expect(granted).toBeLessThanOrEqual(
          perMinute + ((now - start) / 60_000) * perMinute + 1e-3 * list.length,
        );
      }),
    );
  });
});

describe.skipIf(NO_REDIS)('buckets in a store', () => {
  let place: RedisPlace;
  beforeAll(async () => {
    place = await openRedisPlace();
  });
  afterAll(async () => {
    await place.remove();
  });

  it.each(['memory:', 'redis'])('of %s are told apart and emptied', async (kind) => {
    const rates = openRates(kind === 'redis' ? place.url : kind, silent);
    const one = { key: 'one', perMinute: 10 };
    expect(await rates.take({ ...one, tokens: 4 })).toMatchObject({ granted: 4, left: 6, waitMs: 0 });
    expect(await rates.take({ ...one, tokens: 9 })).toMatchObject({ granted: 6, left: 0 });
    const { granted, waitMs } = await rates.take({ ...one, tokens: 1 });
    expect(granted).toBe(0);
    expect(waitMs).toBeGreaterThan(1000);
    expect(waitMs).toBeLessThanOrEqual(6000);
    expect(await rates.take({ key: 'other', perMinute: 10, tokens: 10 })).toMatchObject({ granted: 10 });
    await rates.close();
  });

  it('of a Redis are one for all processes that share it', async () => {
    const both = [openRates(place.url, silent), openRates(place.url, silent)];
    const limits = both.map((rates) => openRateLimit({ rates, onError: silent }));
    const spent = await Promise.all(
      Array.from({ length: 40 }, (_, i) => limits[i % 2]?.spend({ key: 'shared', perMinute: 12 })),
    );
    expect(spent.filter((verdict) => verdict?.allowed === true)).toHaveLength(12);
    await Promise.all(both.map((rates) => rates.close()));
  });

  it('cost the store a twentieth of the requests', async () => {
    const rates = openRates('memory:', silent);
    let takes = 0;
    const counted = {
      ...rates,
      take: (take: Parameters<typeof rates.take>[0]) => {
        takes += 1;
        return rates.take(take);
      },
    };
    const limit = openRateLimit({ rates: counted, onError: silent });
    for (let i = 0; i < 1000; i += 1)
      expect((await limit.spend({ key: 'busy', perMinute: 1000 })).allowed).toBe(true);
    expect(takes).toBeLessThanOrEqual(21);
    expect((await limit.spend({ key: 'busy', perMinute: 1 })).retryAfterSeconds).toBeGreaterThanOrEqual(0);
  });

  it('are counted in each process alone while the store is away, which is told once', async () => {
    const away = await openRedisPlace();
    const rates = openRates(away.url, silent);
    const errors: unknown[] = [];
    let now = 0;
    const limit = openRateLimit({ rates, onError: (error) => errors.push(error), now: () => now });
    const budget = { key: 'k', perMinute: 3 };
    // Until the store has answered, for which it has a quarter of a second; a minute later it is asked again.
    await expect
      .poll(async () => {
        errors.length = 0;
        now += 60_000;
        return [(await limit.spend(budget)).allowed, ...errors];
      })
      .toEqual([true]);
    now += 60_000;
    away.stall();
    const verdicts = [];
    for (let i = 0; i < 6; i += 1) verdicts.push((await limit.spend(budget)).allowed);
    expect(verdicts).toEqual([true, true, true, false, false, false]);
    expect(errors).toHaveLength(1);
    away.resume();
    await rates.close();
    await away.remove();
  });
});
