// The money path over thousands of orders of events: with the gateway as it is, and with faults in
// it. README.md explains.
import { describe, expect, it } from 'vitest';
import { MUTANT_NAMES, mutantPlan } from './mutants.ts';
import { printHistory, simulate } from './simulate.ts';

/** 2,000 on CI, some at each `npm test`. `npm run simulate -- --seeds 100000` plays more. */
const SEEDS = process.env.CI ? 2_000 : 300;

describe('the simulator', () => {
  it('finds no history that breaks a promise about money', async () => {
    const { found, played } = await simulate({ seeds: SEEDS });
    expect(found.map((one) => printHistory(one)).join('\n\n')).toBe('');
    expect(played).toBe(SEEDS);
    // About 100 s on two quiet cores, and several times that beside other work.
  }, 1_200_000);

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
