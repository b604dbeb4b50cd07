import { existsSync, mkdir, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startDeadline, withTimeout } from '../../src/async/deadline.ts';
import { block } from '../cpu-time.ts';

describe('a deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends when its time is up', () => {
    const { signal } = startDeadline(new AbortController().signal, 10_000);
    vi.advanceTimersByTime(9_999);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends with its caller, and lets go of both when it is over', () => {
    const caller = new AbortController();
    const { signal } = startDeadline(caller.signal, 10_000);
    const over = startDeadline(caller.signal, 10_000);
    over.end();
    caller.abort(new Error('gone'));
    expect(signal).toMatchObject({ aborted: true, reason: { message: 'gone' } });
    expect(startDeadline(caller.signal, 10_000).signal.reason).toMatchObject({ message: 'gone' });
    expect(over.signal.aborted).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});

const never = new Promise<never>(() => undefined);

it('gives the result, or the error, of work that ends in time, and leaves no timer', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const late = () => {
    throw new Error('late');
  };
  expect(await withTimeout(Promise.resolve(1), 100, late)).toBe(1);
  await expect(withTimeout(Promise.reject(new Error('failed')), 100, late)).rejects.toThrow('failed');
  expect(vi.getTimerCount()).toBe(0);
});

it('gives what is said to be given, or throws what is said to be thrown, when the time is up', async () => {
  expect(await withTimeout(never, 1, () => 'instead')).toBe('instead');
  const late = withTimeout(never, 1, () => {
    throw new Error('late');
  });
  await expect(late).rejects.toThrow('late');
});

it('accepts a result that arrived while the event loop was late', async () => {
  // After an immediate, Node runs timers before it reads received data.
  await setImmediate();
  let isLate = false;
  const folder = join(mkdtempSync(join(tmpdir(), 'deadline-')), 'made');
  onTestFinished(() => rmSync(dirname(folder), { recursive: true }));
  const coming = withTimeout(
    promisify(mkdir)(folder).then(() => 'made'),
    20,
    () => {
      isLate = true;
    },
  );
  // A thread makes it, and has time to say so.
  while (!existsSync(folder));
  block(100);
  expect(await coming).toBe('made');
  await setImmediate();
  expect(isLate).toBe(false);
});
