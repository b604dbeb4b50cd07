// The circuit breaker: what it lets through, for every history of calls.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBreaker, type Reachability } from '../../src/upstream/http/breaker.ts';

const RULES = { failures: 3, first: 100, longest: 400 };

function bench() {
  const clock = { now: 0 };
  const breaker = createBreaker(RULES, () => clock.now);
  const call = (ending: Reachability) => {
    expect(breaker.wait()).toBe(0);
    breaker.enter()(ending);
  };
  return { clock, breaker, call };
}

describe('the breaker', () => {
  it('opens after failures in a row, tries one call, stays open twice as long when that fails, closes when it does not', () => {
    const { clock, breaker, call } = bench();
    call('unreachable');
    call('unreachable');
    call('reached');
    call('unreachable');
    call('unreachable');
    expect(breaker.state()).toBe('closed');
    call('unreachable');
    expect([breaker.state(), breaker.wait()]).toEqual(['open', 100]);
    clock.now += 100;
    expect([breaker.state(), breaker.wait()]).toEqual(['half-open', 0]);
    const trial = breaker.enter();
    expect(breaker.wait()).toBeGreaterThan(0);
    trial('unreachable');
    expect([breaker.state(), breaker.wait()]).toEqual(['open', 200]);
    clock.now += 200;
    call('unreachable');
    clock.now += 400;
    call('unreachable');
    expect(breaker.wait()).toBe(400);
    clock.now += 400;
    call('reached');
    expect(breaker.state()).toBe('closed');
    call('unreachable');
    expect(breaker.state()).toBe('closed');
  });

  it('learns nothing from a trial that its caller gave up: the next call tries', () => {
    const { clock, breaker, call } = bench();
    for (let i = 0; i < 3; i++) call('unreachable');
    clock.now += 100;
    call('unknown');
    expect([breaker.state(), breaker.wait()]).toEqual(['half-open', 0]);
    call('reached');
    expect(breaker.state()).toBe('closed');
  });

  it('never lets two trials run at once, and never opens without as many failures in a row', () => {
    const ending = fc.constantFrom<Reachability>('reached', 'unreachable', 'unknown');
    const steps = fc.array(
      fc.oneof(
        fc.record({ do: fc.constant('begin' as const) }),
        fc.record({ do: fc.constant('end' as const), which: fc.nat(10), ending }),
        fc.record({ do: fc.constant('wait' as const), by: fc.integer({ min: 1, max: 200 }) }),
      ),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(steps, (script) => {
        const { clock, breaker } = bench();
        const running: { tell: (ending: Reachability) => void; trial: boolean }[] = [];
        let failures = 0;
        for (const step of script) {
          const before = breaker.state();
          if (step.do === 'wait') clock.now += step.by;
          else if (step.do === 'begin') {
            if (breaker.wait() > 0) continue;
            running.push({ tell: breaker.enter(), trial: before !== 'closed' });
            expect(running.filter(({ trial }) => trial).length).toBeLessThanOrEqual(1);
          } else {
            const [call] = running.splice(step.which % Math.max(1, running.length), 1);
            if (call === undefined) continue;
            call.tell(step.ending);
            failures =
              step.ending === 'reached' ? 0 : step.ending === 'unreachable' ? failures + 1 : failures;
            if (before === 'closed' && breaker.state() === 'open')
              expect(failures).toBeGreaterThanOrEqual(RULES.failures);
            if (step.ending === 'reached') expect(breaker.state()).toBe('closed');
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
