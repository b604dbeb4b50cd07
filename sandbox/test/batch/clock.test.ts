import { describe, expect, test, vi } from 'vitest';
import { type Clock, ManualClock, systemClock } from '../../src/clock.ts';
import { startSandbox } from '../../src/sandbox.ts';
import { batch, client, fold } from './harness.ts';

describe('a clock that is advanced by hand', () => {
  test('runs due timers in order of their time, each at its own time, new ones included', () => {
    const clock = new ManualClock(0);
    const seen: [string, number][] = [];
    clock.after(30, () => seen.push(['third', clock.now()]));
    clock.after(10, () => {
      seen.push(['first', clock.now()]);
      clock.after(10, () => seen.push(['second', clock.now()]));
    });
    clock.after(31, () => seen.push(['too late', clock.now()]));
    clock.advance(30);
    expect(seen).toEqual([
      ['first', 10],
      ['second', 20],
      ['third', 30],
    ]);
    expect(clock.now()).toBe(30);
  });

  test('forgets a cancelled timer, also one cancelled by an earlier timer', () => {
    const clock = new ManualClock(0);
    const seen: string[] = [];
    const cancel = clock.after(2, () => seen.push('cancelled'));
    clock.after(1, cancel);
    clock.advance(5);
    expect(seen).toEqual([]);
  });
});

test('the system clock calls back, and not when cancelled or a month too early', async () => {
  const seen: string[] = [];
  systemClock.after(5, () => seen.push('soon'));
  systemClock.after(1, () => seen.push('cancelled'))();
  const cancelFar = systemClock.after(31 * 86_400_000, () => seen.push('far'));
  await new Promise((resolve) => setTimeout(resolve, 40));
  cancelFar();
  expect(seen).toEqual(['soon']);
});

test('a batch starts also when the machine calls back a little too early, as its timers may', async () => {
  const early: Clock = {
    now: () => systemClock.now(),
    after: (ms, run) => systemClock.after(ms > 5 ? ms - 5 : ms, run),
  };
  const sandbox = await startSandbox({ size: 'small', clock: early, speed: 50 });
  try {
    const ask = client(sandbox.url);
    const batchId = (await ask('submit', batch([fold()]))).data.batch_id;
    await vi.waitFor(
      async () =>
        expect(
          (await ask('list', { batch_id: batchId, include_responses: false })).data.counts,
        ).toMatchObject({
          done: 1,
        }),
      { timeout: 60_000, interval: 100 },
    );
  } finally {
    await sandbox.close();
  }
});
