import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Leave, signalOf } from '../../src/upstream/leaving.ts';
import { TimeLimit } from '../../src/upstream/time-limit.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('ends when its time is up, however often that was put off or brought forward', () => {
  const limit = new TimeLimit(undefined, 10_000);
  vi.advanceTimersByTime(5_000);
  limit.move(30_000);
  vi.advanceTimersByTime(29_000);
  expect(limit.leaving.aborted).toBe(false);
  limit.move(100);
  vi.advanceTimersByTime(101);
  expect(limit.leaving.aborted).toBe(true);
  expect(limit.leaving.reason).toMatchObject({ name: 'TimeoutError' });
  expect(vi.getTimerCount()).toBe(0);
});

it('ends with its caller, and lets go of both when it is over', () => {
  const caller = new AbortController();
  const limit = new TimeLimit(caller.signal, 10_000);
  const over = new TimeLimit(caller.signal, 10_000);
  const signal = signalOf(limit.leaving);
  over.end();
  caller.abort(new Error('gone'));
  expect(limit.leaving.reason).toMatchObject({ message: 'gone' });
  expect(signal).toMatchObject({ aborted: true, reason: { message: 'gone' } });
  expect(new TimeLimit(caller.signal, 10_000).leaving.reason).toMatchObject({ message: 'gone' });
  expect(over.leaving.aborted).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

it('tells each who listens once, and nobody who listens no more', () => {
  const leave = new Leave();
  const told: string[] = [];
  const first = () => told.push('first');
  const second = () => told.push('second');
  leave.addEventListener('abort', first);
  leave.addEventListener('abort', second);
  leave.removeEventListener('abort', first);
  leave.leave();
  leave.leave(new Error('again'));
  expect(told).toEqual(['second']);
  expect(leave.reason).toMatchObject({ name: 'AbortError' });
});
