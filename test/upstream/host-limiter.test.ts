// The limiter to the upstream: how many pass, who waits, who is refused, for every order of coming and going.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../src/upstream/errors.ts';
import {
  createHostLimiter,
  defaultHostLimits,
  type Permit,
  type QueuedCall,
} from '../../src/upstream/http/host-limiter.ts';

const BOUNDS = { ...defaultHostLimits, inFlight: 3, queue: 5 };

const queuedCall = (over: Partial<QueuedCall> = {}): QueuedCall => ({
  operation: 'protein',
  caller: 'a',
  request: '1',
  scope: 'atlas',
  signal: undefined,
  maxWaitMs: 10_000,
  ...over,
});

/** What came of an entry: in, refused or gone; undefined while it waits. */
function follow(entering: () => Permit | Promise<Permit>) {
  const entry: { leave?: Permit; error?: unknown } = {};
  const settled = (async () => entering())().then(
    (leave) => {
      entry.leave = leave;
    },
    (error: unknown) => {
      entry.error = error;
    },
  );
  return { entry, settled };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

const failureOf = (error: unknown) => {
  expect(error).toBeInstanceOf(UpstreamError);
  return error instanceof UpstreamError ? error.failure : undefined;
};

describe('the limiter', () => {
  it('keeps its bounds, loses no caller, and refuses none while there is room', async () => {
    const steps = fc.array(
      fc.oneof(
        {
          weight: 5,
          arbitrary: fc.record({ do: fc.constant('come' as const), caller: fc.constantFrom('a', 'b', 'c') }),
        },
        { weight: 3, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(10) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat(10) }) },
      ),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const limiter = createHostLimiter(BOUNDS);
        const all: (ReturnType<typeof follow> & {
          caller: string;
          controller: AbortController;
          ended: boolean;
        })[] = [];
        const inside = () => all.filter(({ entry, ended }) => entry.leave !== undefined && !ended);
        const waiting = () =>
          all.filter(({ entry }) => entry.leave === undefined && entry.error === undefined);
        for (const step of script) {
          if (step.do === 'come') {
            const room = inside().length < BOUNDS.inFlight || waiting().length < BOUNDS.queue;
            const controller = new AbortController();
            const before = all.filter(({ entry }) => entry.error !== undefined).length;
            const one = follow(() =>
              limiter.enter(
                queuedCall({
                  caller: step.caller,
                  request: String(all.length % 2),
                  signal: controller.signal,
                }),
              ),
            );
            all.push({ ...one, caller: step.caller, controller, ended: false });
            await turn();
            const refused = all.filter(({ entry }) => entry.error !== undefined).length - before;
            expect(refused).toBe(room ? 0 : 1);
          } else if (step.do === 'end') {
            const one = inside()[step.which % Math.max(1, inside().length)];
            if (one === undefined) continue;
            one.ended = true;
            one.entry.leave?.('reached');
            one.entry.leave?.('unreachable');
            await turn();
          } else {
            const one = waiting()[step.which % Math.max(1, waiting().length)];
            if (one === undefined) continue;
            one.controller.abort(new Error('left'));
            await turn();
            expect(one.entry.error).toMatchObject({ message: 'left' });
          }
          expect(limiter.state()).toMatchObject({ inFlight: inside().length, queued: waiting().length });
          expect(inside().length).toBeLessThanOrEqual(BOUNDS.inFlight);
          expect(waiting().length).toBeLessThanOrEqual(BOUNDS.queue);
          if (waiting().length > 0) expect(inside().length).toBe(BOUNDS.inFlight);
        }
        // Everybody who did not leave gets through when the others end.
        while (inside().length > 0) {
          for (const one of inside()) {
            one.ended = true;
            one.entry.leave?.('reached');
          }
          await turn();
        }
        expect(waiting()).toEqual([]);
        await Promise.all(all.map(({ settled }) => settled));
        expect(limiter.state()).toMatchObject({ inFlight: 0, queued: 0, host: 'closed' });
      }),
      { numRuns: 100 },
    );
  });

  it('refuses those of a crowd rather than a caller with one call', async () => {
    const limiter = createHostLimiter(BOUNDS);
    const crowd = Array.from({ length: 8 }, () =>
      follow(() => limiter.enter(queuedCall({ caller: 'crowd' }))),
    );
    await turn();
    const single = follow(() => limiter.enter(queuedCall({ caller: 'single' })));
    await turn();
    const refused = crowd.filter(({ entry }) => entry.error !== undefined);
    expect(refused).toHaveLength(1);
    expect(failureOf(refused[0]?.entry.error)).toMatchObject({
      code: 'RATE_LIMITED',
      sent: false,
      retryable: true,
    });
    crowd[0]?.entry.leave?.('reached');
    crowd[1]?.entry.leave?.('reached');
    await turn();
    expect(single.entry.leave).toBeDefined();
    expect(limiter.state().refused).toMatchObject({ full: 1 });
  });

  it('refuses who has waited too long', async () => {
    const limiter = createHostLimiter({ ...BOUNDS, inFlight: 1 });
    limiter.enter(queuedCall());
    const { entry, settled } = follow(() => limiter.enter(queuedCall({ maxWaitMs: 5 })));
    await settled;
    expect(failureOf(entry.error)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', sent: false });
    expect(limiter.state()).toMatchObject({ queued: 0, refused: { waited: 1 } });
  });

  it('shuts when the host cannot be reached again and again, and opens when one call reaches it', () => {
    const clock = { now: 0 };
    const limiter = createHostLimiter(defaultHostLimits, () => clock.now);
    const call = () => limiter.enter(queuedCall()) as Permit;
    const { failures, first } = defaultHostLimits.breaker;
    for (let i = 1; i < failures; i++) call()('unreachable');
    call()('slowed');
    for (let i = 1; i < failures; i++) call()('unreachable');
    expect(limiter.state().host).toBe('closed');
    call()('unreachable');
    expect(limiter.state().host).toBe('open');
    expect(call).toThrow(/cannot be reached.*not sent/);
    clock.now += first;
    call()('reached');
    expect(limiter.state().host).toBe('closed');
  });

  it('keeps a pause for its scope only, sits out a short one and refuses for a long one', async () => {
    const limiter = createHostLimiter(defaultHostLimits);
    limiter.slowDown('batch one', 60);
    limiter.slowDown('atlas', 0.02);
    expect(() => limiter.enter(queuedCall({ operation: 'status', scope: 'batch one' }))).toThrow(
      /slow down for 60 s/,
    );
    expect(limiter.enter(queuedCall({ operation: 'status', scope: 'batch two' }))).toBeTypeOf('function');
    expect(limiter.enter(queuedCall({ operation: 'submit', scope: undefined }))).toBeTypeOf('function');
    const { entry, settled } = follow(() => limiter.enter(queuedCall()));
    await turn();
    expect(entry).toEqual({});
    await settled;
    expect(entry.leave).toBeTypeOf('function');
    expect(limiter.state().paused).toBe(1);
    expect(limiter.pauseOf('batch one')).toBeGreaterThan(50_000);
    // A pause without end is asked about again after some minutes.
    limiter.slowDown('batch three', 1e12);
    expect(limiter.pauseOf('batch three')).toBeLessThan(400_000);
  });

  it('doubles its own pauses while a 429 names none, and begins anew when it is served', () => {
    const clock = { now: 0 };
    const limiter = createHostLimiter(defaultHostLimits, () => clock.now);
    const lengths: number[] = [];
    for (let i = 0; i < 8; i++) {
      limiter.slowDown('atlas', undefined);
      // Told together with the one before: no longer pause for that.
      limiter.slowDown('atlas', undefined);
      const left = limiter.pauseOf('atlas');
      lengths.push(left);
      clock.now += left + 1;
    }
    expect(lengths[0]).toBeLessThan(400);
    expect(lengths[3]).toBeGreaterThan(1000);
    expect(Math.max(...lengths)).toBeLessThan(13_000);
    clock.now += 20_000;
    (limiter.enter(queuedCall()) as Permit)('reached');
    limiter.slowDown('atlas', undefined);
    expect(limiter.pauseOf('atlas')).toBeLessThan(400);
  });
});
