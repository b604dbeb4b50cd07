import { describe, expect, test } from 'vitest';
import { ManualClock, systemClock } from '../../src/sandbox/clock.ts';

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
