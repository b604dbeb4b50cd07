import { expect, it, vi } from 'vitest';
import { withTimeout } from '../../src/async/timeout.ts';

const never = new Promise<never>(() => undefined);

it('gives the result, or the error, of work that ends in time, and leaves no timer', async () => {
  vi.useFakeTimers();
  const late = () => {
    throw new Error('late');
  };
  expect(await withTimeout(Promise.resolve(1), 100, late)).toBe(1);
  await expect(withTimeout(Promise.reject(new Error('failed')), 100, late)).rejects.toThrow('failed');
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

it('gives what is said to be given, or throws what is said to be thrown, when the time is up', async () => {
  expect(await withTimeout(never, 1, () => 'instead')).toBe('instead');
  const late = withTimeout(never, 1, () => {
    throw new Error('late');
  });
  await expect(late).rejects.toThrow('late');
});
