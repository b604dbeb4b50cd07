// The money path over thousands of orders of events: with the gateway as it is, and with faults in it. README.md explains.
import { describe, expect, it } from 'vitest';
import { MUTANT_NAMES } from './mutants.ts';
import { printHistory, simulate } from './simulate.ts';

/** Seeds of a run of CI. `npm run simulate -- --seeds 100000` plays more. */
const SEEDS = 2_000;
/** Within so many seeds a fault has to be found. */
const MAX_SEEDS = 10_000;
/** Events of a history that a person can read. */
const MAX_EVENTS = 12;

describe('the simulator', () => {
  it('finds no history that breaks a promise about money', async () => {
    const { found, played } = await simulate({ seeds: SEEDS });
    expect(found.map((one) => printHistory(one)).join('\n\n')).toBe('');
    expect(played).toBe(SEEDS);
  });

  it.each(MUTANT_NAMES)('finds the fault "%s" and shrinks its history', async (mutant) => {
    const { found } = await simulate({ seeds: MAX_SEEDS, mutant, isFirstOnly: true });
    expect(found).not.toEqual([]);
    for (const { events } of found) expect(events.length).toBeLessThanOrEqual(MAX_EVENTS);
  });
});
