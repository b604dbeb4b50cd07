// The money path over thousands of orders of events: with the gateway as it is, and with faults in
// it. README.md explains.
import { describe, expect, it } from 'vitest';
import { NO_REDIS } from '../store/redis-place.ts';
import { MUTANT_NAMES, mutantPlan } from './mutants.ts';
import { printHistory, simulate } from './simulate.ts';

/** Many on CI, some at each `npm test`. `npm run simulate -- --seeds 100000` plays more. */
const SEEDS = process.env.CI ? { sqlite: 2_000, redis: 400 } : { sqlite: 300, redis: 60 };

describe('the simulator', () => {
  it.skipIf(NO_REDIS).each(['sqlite', 'redis'] as const)(
    'finds no history that breaks a promise about money, with %s',
    async (store) => {
      const { found, played } = await simulate({ seeds: SEEDS[store], store });
      expect(found.map((one) => printHistory(one)).join('\n\n')).toBe('');
      expect(played).toBe(SEEDS[store]);
    },
    // About 100 s on two quiet cores, and several times that beside other work.
    1_200_000,
  );

  it('finds nothing in the histories that once broke a promise', async () => {
    const { found, played } = await simulate({ plans: MUTANT_NAMES.map(mutantPlan) });
    expect(found.map((one) => printHistory(one)).join('\n\n')).toBe('');
    expect(played).toBe(MUTANT_NAMES.length);
  });

  it.each(MUTANT_NAMES)('finds the fault "%s"', async (mutant) => {
    const { found } = await simulate({ plans: [mutantPlan(mutant)], mutant });
    expect(found).toHaveLength(1);
  });
});
