// The money path over thousands of orders of events: with the gateway as it is, and with faults in
// it. README.md explains.
import { afterAll, describe, expect, it } from 'vitest';
import { NO_REDIS } from '../store/redis-place.ts';
import { MUTANT_NAMES, mutantPlan, mutantSearch } from './mutants.ts';
import { printHistory, Simulator } from './simulate.ts';

/** Many on CI, some at each `npm test`. `npm run simulate -- --seeds 100000` plays more. */
const SEEDS = process.env.CI ? { sqlite: 2_000, redis: 400 } : { sqlite: 300, redis: 60 };
/** A change of the gateway may move a fault to a later seed. */
const MAX_SEARCHED = 2_000;
const STORES = NO_REDIS ? (['sqlite'] as const) : (['sqlite', 'redis'] as const);
const FAULTS = MUTANT_NAMES.filter((name) => !NO_REDIS || mutantPlan(name).store === 'sqlite');

const simulator = new Simulator();
afterAll(() => simulator.close());

describe('the simulator', () => {
  it.each(STORES)('finds no history that breaks a promise about money, with %s', async (store) => {
    const { found, played } = await simulator.play({ seeds: SEEDS[store], store });
    expect(found.map((one) => printHistory(one)).join('\n\n')).toBe('');
    expect(played).toBe(SEEDS[store]);
  }, 1_200_000); // About 100 s on two quiet cores, and several times that beside other work.

  it('finds nothing in the histories that once broke a promise', async () => {
    const { found, played } = await simulator.play({ plans: FAULTS.map(mutantPlan) });
    expect(found.map((one) => printHistory(one)).join('\n\n')).toBe('');
    expect(played).toBe(FAULTS.length);
  });

  it.each(FAULTS)('finds the fault "%s", also by search in at most a dozen events', async (mutant) => {
    const faulty = new Simulator(mutant);
    try {
      expect((await faulty.play({ plans: [mutantPlan(mutant)] })).found).toHaveLength(1);
      const search = mutantSearch(mutant);
      if (search === undefined) return;
      const [first] = (await faulty.play({ ...search, seeds: MAX_SEARCHED, isFirstOnly: true })).found;
      expect(first?.events.length).toBeLessThanOrEqual(12);
    } finally {
      await faulty.close();
    }
  }, 600_000);
});
