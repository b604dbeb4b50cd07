// The queue before the upstream: a caller with few requests does not wait behind a caller with
// many.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairQueue } from '../../src/upstream/http/fair-queue.ts';

interface Item {
  readonly caller: string;
  readonly number: number;
}

const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('push' as const),
        caller: fc.constantFrom('a', 'b', 'c'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('take' as const), except: fc.constantFrom('', 'a', 'b') }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), at: fc.nat(50) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('drop' as const), caller: fc.constantFrom('a', 'b', 'c') }),
    },
  ),
  { maxLength: 200 },
);

describe('the fair queue', () => {
  it('serves callers in turn, each in order, and passes those who may not leave; nothing is lost or served twice', () => {
    fc.assert(
      fc.property(steps, (script) => {
        const queue = createFairQueue<Item>();
        let waiting: Item[] = [];
        let number = 0;
        /** Callers that were served while these waited. */
        const since = new Map<Item, string[]>();
        const out = (item: Item | undefined): Item => {
          if (item === undefined) throw new Error('nothing came out');
          expect(waiting).toContain(item);
          waiting = waiting.filter((other) => other !== item);
          return item;
        };
        const countWaiting = (caller: string) => waiting.filter((item) => item.caller === caller).length;
        for (const step of script) {
          if (step.do === 'push') {
            const item: Item = { caller: step.caller, number: ++number };
            queue.push(item);
            waiting.push(item);
            since.set(item, []);
          } else if (step.do === 'remove') {
            const item = waiting[step.at];
            if (item === undefined) continue;
            expect(queue.remove(item)).toBe(true);
            expect(queue.remove(item)).toBe(false);
            out(item);
          } else if (step.do === 'drop') {
            const most = Math.max(0, ...['a', 'b', 'c'].map(countWaiting));
            const dropped = queue.dropLast(step.caller);
            if (most === 0) expect(dropped).toBeUndefined();
            else {
              const { caller } = out(dropped);
              // Only the callers with the most items are affected.
              expect(countWaiting(caller) + 1).toBe(most);
              if (countWaiting(step.caller) === most) expect(caller).toBe(step.caller);
            }
          } else {
            const item = queue.shift(({ caller }) => caller !== step.except);
            if (waiting.every(({ caller }) => caller === step.except)) expect(item).toBeUndefined();
            else {
              const served = out(item);
              expect(served.caller).not.toBe(step.except);
              const own = waiting.filter(({ caller }) => caller === served.caller);
              expect(own.every((other) => other.number > served.number)).toBe(true);
              for (const other of waiting) {
                if (other.caller === step.except) continue;
                const seen = since.get(other) ?? [];
                seen.push(served.caller);
                // No caller is served twice while another waits and is not served.
                const others = seen.filter((caller) => caller !== other.caller);
                const turns = seen.filter((caller) => caller === other.caller).length;
                for (const name of ['a', 'b', 'c'])
                  expect(others.filter((caller) => caller === name).length).toBeLessThanOrEqual(turns + 2);
              }
            }
          }
          expect(queue.size).toBe(waiting.length);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('gives a caller with one call its turn before the second of a caller with thousands', () => {
    const queue = createFairQueue<Item>();
    for (let i = 0; i < 5000; i++) queue.push({ caller: 'crowd', number: i });
    queue.push({ caller: 'single', number: 0 });
    const taken = [1, 2, 3].map(() => queue.shift(() => true));
    expect(taken.map((item) => item?.caller)).toEqual(['crowd', 'single', 'crowd']);
  });
});
