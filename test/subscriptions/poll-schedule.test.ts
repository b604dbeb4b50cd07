// How long a poller waits: rungs, the slowest, jitter, and what the upstream asks for.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultPollSchedule, delayMs, intervalAfter } from '../../src/progress/poll-schedule.ts';

describe('the pace of polling', () => {
  it('makes three polls a rung and doubles from 2 to 30 seconds', () => {
    const intervals = Array.from({ length: 18 }, (_, i) => intervalAfter(i, defaultPollSchedule) / 1000);
    expect(intervals).toEqual([2, 2, 2, 4, 4, 4, 8, 8, 8, 16, 16, 16, 30, 30, 30, 30, 30, 30]);
  });

  it('spreads pauses by a fifth and never undercuts what the upstream asked for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 120 }),
        (interval, random, asked) => {
          const pause = delayMs(interval, random, asked);
          expect(pause).toBeGreaterThanOrEqual(Math.max(Math.round(interval * 0.8), asked * 1000));
          expect(pause).toBeLessThanOrEqual(Math.max(Math.round(interval * 1.2), asked * 1000));
        },
      ),
    );
  });
});
