// The pace of writes that may be left out: bursts go through, a flood does not, and a rest makes room again.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openPace } from '../../src/store/cache-pace.ts';

describe('a pace', () => {
  it('lets a burst through, then so many in a second', () => {
    let now = 0;
    const pace = openPace({ perSecond: 10, burst: 50, now: () => now });
    const allowed = (tries: number) => Array.from({ length: tries }, pace.take).filter(Boolean).length;
    expect(allowed(80)).toBe(50);
    now = 1_000;
    expect(allowed(80)).toBe(10);
    now = 1_000_000;
    expect(allowed(80)).toBe(50);
  });

  it('never lets more through than a burst and its share of the time, however they come', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 300 }), (waits) => {
        let now = 0;
        let through = 0;
        const pace = openPace({ perSecond: 20, burst: 30, now: () => now });
        for (const wait of waits) {
          now += wait;
          // Who only looks takes nothing away, and is told what who takes is told.
          const isDue = pace.isDue();
          const taken = pace.take();
          expect(taken).toBe(isDue);
          if (taken) through += 1;
        }
        expect(through).toBeLessThanOrEqual(30 + (now / 1000) * 20);
      }),
    );
  });
});
