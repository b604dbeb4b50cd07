// The money path over thousands of orders of events: with the gateway as it is, and with faults in
// it. README.md explains.
import { describe, expect, it } from 'vitest';
import { NO_REDIS } from '../store/redis-place.ts';
import { MUTANTS, mutantPlan } from './mutants.ts';
import { printHistory, simulate } from './simulate.ts';

/** Many on CI, some at each `npm test`. `npm run simulate -- --seeds 100000` plays more. */
const SEEDS = process.env.CI ? { sqlite: 2_000, redis: 400 } : { sqlite: 300, redis: 60 };
/** A change of the gateway may move a fault to a later seed. */
const MAX_SEARCHED = 2_000;
const STORES = NO_REDIS ? (['sqlite'] as const) : (['sqlite', 'redis'] as const);
const FAULTS = MUTANTS.filter(({ store }) => !NO_REDIS || store !== 'redis');

describe('the simulator', () => {
  it.each(STORES)('finds no history that breaks a promise about money, with %s', async (store) => {
    const { found, played } = await simulate({ seeds: SEEDS[store], store });
    expect(found.map((one) => printHistory(one)).join('\n\n')).toBe('');
    expect(played).toBe(SEEDS[store]);
  }, 1_200_000); // About 100 s on two quiet cores, and several times that beside other work.

  it('finds nothing in the histories that once broke a promise', async () => {
    const { found, played } = await simulate({ plans: FAULTS.map(mutantPlan) });
    expect(found.map((one) => printHistory(one)).join('\n\n')).toBe('');
    expect(played).toBe(FAULTS.length);
  });

  const cases = FAULTS.map((fault) => [fault.name, fault] as const);
  it.each(cases)(
    'finds the fault "%s", also by search in at most a dozen events',
    async (_, fault) => {
      const { seed: from, store = 'sqlite' } = fault;
      const plan = mutantPlan(fault);
      const search = { from, seeds: MAX_SEARCHED, store, maxFound: 2, threadCount: 1 };
      const { found } = await simulate({ fault, plans: [plan], ...search });
      expect(found.filter(({ seed }) => seed === plan.seed)).toHaveLength(1);
      expect(found.find(({ seed }) => seed >= from)?.events.length).toBeLessThanOrEqual(12);
    },
    600_000,
  );

  it('fails when one of its threads ends', async () => {
    const replacements = [["new Set(['list', 'status'])", 'process.exit()']] as const;
    const ending = simulate({ seeds: 1, fault: { file: 'src/upstream/batch.ts', replacements } });
    await expect(ending).rejects.toThrow('A thread of the simulator has ended');
  });
});
