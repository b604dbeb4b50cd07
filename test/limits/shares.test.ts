// What is shared out by key: never more than there is, and always something for a key that holds nothing.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createShares } from '../../src/http/limits/load-shedding.ts';

it('gives one key three quarters, never more than there is, and leaves something for the next', () => {
  const steps = fc.array(
    fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), amount: fc.integer({ min: -20, max: 40 }) }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), steps, (total, list) => {
      const shares = createShares(total);
      const held = new Map<string, number>();
      for (const { key, amount } of list) {
        const own = held.get(key) ?? 0;
        if (amount <= 0) {
          const back = Math.min(own, -amount);
          shares.give(key, back);
          held.set(key, own - back);
        } else if (shares.take(key, amount)) held.set(key, own + amount);
        const used = [...held.values()].reduce((sum, one) => sum + one, 0);
        expect(shares.used).toBe(used);
        expect(used).toBeLessThanOrEqual(total);
        if (used < total) {
          expect(shares.take('somebody new', 1)).toBe(true);
          shares.give('somebody new', 1);
        }
      }
    }),
  );
  const alone = createShares(500);
  let taken = 0;
  while (alone.take('alone', 1)) taken += 1;
  expect(taken).toBe(375);
  expect(createShares(0).take('any', 1e12)).toBe(true);
});
