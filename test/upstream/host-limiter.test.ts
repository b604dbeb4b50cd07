// The limiter to the upstream: how many pass, who waits, who is refused, for every order of coming
// and going.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import { UpstreamError } from '../../src/upstream/errors.ts';
import { createRateLimitBackoff } from '../../src/upstream/http/backoff.ts';
import { defaultBreakerRules } from '../../src/upstream/http/breaker.ts';
import {
  createHostLimiter,
  type HostLimiter,
  type LimitedCall,
  type Permit,
} from '../../src/upstream/http/host-limiter.ts';

const BOUNDS = { inFlight: 6, queue: 5, breaker: defaultBreakerRules };

const read = (over: Partial<LimitedCall> = {}): LimitedCall => ({
  operation: 'protein',
  caller: 'a',
  isUrgent: false,
  scope: 'atlas',
  signal: undefined,
  maxWaitMs: 10_000,
  ...over,
});

/** The outcome of an entry: in, refused or gone; undefined while it waits. */
function follow(entering: Promise<Permit>) {
  const entry: { leave?: Permit; error?: unknown } = {};
  const settled = entering.then(
    (leave) => {
      entry.leave = leave;
    },
    (error: unknown) => {
      entry.error = error;
    },
  );
  return { entry, settled };
}

/** Lets so many calls of a caller in, or into the queue. */
async function enterMany(limiter: HostLimiter, count: number, over: Partial<LimitedCall>) {
  const calls = Array.from({ length: count }, () => follow(limiter.enter(read(over))));
  await turn();
  return calls;
}

const countInside = (calls: readonly ReturnType<typeof follow>[]): number =>
  calls.filter(({ entry }) => entry.leave !== undefined).length;

const turn = () => new Promise((resolve) => setImmediate(resolve));

const describeFailure = (error: unknown) => {
  expect(error).toBeInstanceOf(UpstreamError);
  return error instanceof UpstreamError ? error.failure : undefined;
};

describe('the limiter', () => {
  it('keeps its bounds and shares, loses no caller, and keeps none waiting whose share is free', async () => {
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
        const hasShare = (caller: string) =>
          inside().filter((call) => call.caller === caller).length < BOUNDS.inFlight - inside().length;
        for (const step of script) {
          if (step.do === 'come') {
            const isRoom = hasShare(step.caller) || waiting().length < BOUNDS.queue;
            const before = inside().length;
            const isShared = hasShare(step.caller);
            const controller = new AbortController();
            const refused = () => all.filter(({ entry }) => entry.error !== undefined).length;
            const refusedBefore = refused();
            const entering = limiter.enter(read({ caller: step.caller, signal: controller.signal }));
            all.push({ ...follow(entering), caller: step.caller, controller, ended: false });
            await turn();
            expect(refused() - refusedBefore).toBe(isRoom ? 0 : 1);
            expect(inside().length - before).toBe(isShared ? 1 : 0);
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
          for (const { caller } of waiting()) expect(hasShare(caller)).toBe(false);
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

  it('gives one caller half of the places, two a third each, and the next one some at once', async () => {
    const limiter = createHostLimiter({ ...BOUNDS, inFlight: 60, queue: 1000 });
    const first = await enterMany(limiter, 100, { caller: 'first' });
    expect(countInside(first)).toBe(30);
    const second = await enterMany(limiter, 100, { caller: 'second' });
    expect(countInside(second)).toBe(15);
    // The first gives up what is more than its share as its calls end.
    for (const { entry } of first.slice(0, 30)) entry.leave?.('reached');
    await turn();
    const shares = [countInside(first) - 30, countInside(second)];
    expect(shares.every((share) => share >= 20 && share <= 21)).toBe(true);
    const third = await enterMany(limiter, 5, { caller: 'third' });
    expect(countInside(third)).toBe(5);
  });

  it('sends what is urgent at once, however many reads wait', async () => {
    const limiter = createHostLimiter({ ...BOUNDS, inFlight: 1, queue: 1 });
    await enterMany(limiter, 2, {});
    expect(limiter.state()).toMatchObject({ inFlight: 1, queued: 1 });
    const urgent = await enterMany(limiter, 10, { isUrgent: true, scope: undefined });
    expect(countInside(urgent)).toBe(10);
    for (const { entry } of urgent) entry.leave?.('reached');
    expect(limiter.state()).toMatchObject({ inFlight: 1, queued: 1 });
  });

  it('refuses those of a crowd rather than a caller with one call', async () => {
    const limiter = createHostLimiter({ ...BOUNDS, inFlight: 1 });
    const crowd = await enterMany(limiter, 6, { caller: 'crowd' });
    const [single] = await enterMany(limiter, 1, { caller: 'single' });
    const refused = crowd.filter(({ entry }) => entry.error !== undefined);
    expect(refused).toHaveLength(1);
    expect(describeFailure(refused[0]?.entry.error)).toMatchObject({
      code: 'RATE_LIMITED',
      sent: false,
      retryable: true,
    });
    crowd[0]?.entry.leave?.('reached');
    await turn();
    crowd[1]?.entry.leave?.('reached');
    await turn();
    expect(single?.entry.leave).toBeDefined();
  });

  it('refuses who has waited too long', async () => {
    const limiter = createHostLimiter({ ...BOUNDS, inFlight: 1 });
    await limiter.enter(read());
    const { entry, settled } = follow(limiter.enter(read({ maxWaitMs: 5 })));
    await settled;
    expect(describeFailure(entry.error)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', sent: false });
    expect(limiter.state()).toMatchObject({ queued: 0 });
  });

  it('shuts when the host cannot be reached again and again, and opens when one call reaches it', async () => {
    const clock = { now: 0 };
    const limiter = createHostLimiter(BOUNDS, { ...systemClock, monotonic: () => clock.now });
    const call = async (outcome: Parameters<Permit>[0]) => (await limiter.enter(read()))(outcome);
    const { failures, first } = defaultBreakerRules;
    for (let i = 1; i < failures; i++) await call('unreachable');
    await call('slowed');
    for (let i = 1; i < failures; i++) await call('unreachable');
    expect(limiter.state().host).toBe('closed');
    await call('unreachable');
    expect(limiter.state().host).toBe('open');
    await expect(call('reached')).rejects.toThrow(/cannot be reached.*not sent/);
    await expect(limiter.enter(read({ isUrgent: true }))).rejects.toThrow(/not sent/);
    clock.now += first;
    await call('reached');
    expect(limiter.state().host).toBe('closed');
  });

  it('keeps a pause for its scope only, sits out a short one and refuses for a long one', async () => {
    let now = 0;
    let wake = (): void => undefined;
    const slept = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const limiter = createHostLimiter(BOUNDS, { ...systemClock, monotonic: () => now, sleep: () => slept });
    limiter.slowDown('batch one', 60);
    limiter.slowDown('atlas', 0.02);
    await expect(limiter.enter(read({ operation: 'status', scope: 'batch one' }))).rejects.toThrow(
      /slow down for 60 s/,
    );
    expect(await limiter.enter(read({ operation: 'status', scope: 'batch two' }))).toBeTypeOf('function');
    expect(await limiter.enter(read({ operation: 'submit', scope: undefined }))).toBeTypeOf('function');
    const { entry, settled } = follow(limiter.enter(read()));
    await turn();
    expect(entry).toEqual({});
    now += 20;
    wake();
    await settled;
    expect(entry.leave).toBeTypeOf('function');
    await expect(limiter.enter(read({ operation: 'status', scope: 'batch one' }))).rejects.toThrow(
      /slow down/,
    );
  });

  it('doubles its own pauses while a 429 names none, and begins anew when it is served', async () => {
    const clock = { now: 0 };
    const backoff = createRateLimitBackoff(() => clock.now);
    const lengths: number[] = [];
    for (let i = 0; i < 8; i++) {
      backoff.start('atlas', undefined);
      // Told together with the one before: no longer pause for that.
      backoff.start('atlas', undefined);
      const left = backoff.remaining('atlas');
      lengths.push(left);
      clock.now += left + 1;
    }
    expect(lengths[0]).toBeLessThan(400);
    expect(lengths[3]).toBeGreaterThan(1000);
    expect(Math.max(...lengths)).toBeLessThan(13_000);
    clock.now += 20_000;
    backoff.end('atlas');
    backoff.start('atlas', undefined);
    expect(backoff.remaining('atlas')).toBeLessThan(400);
  });
});
