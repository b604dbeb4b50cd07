import { expect, test } from 'vitest';
import { createSingleFlight } from '../../src/async/single-flight.ts';

test('a shared read is stopped when the last who waits has left, and left alone when it has ended', async () => {
  const singleFlight = createSingleFlight();
  const signals: AbortSignal[] = [];
  expect(
    await singleFlight('ended', undefined, async ({ signal }) => {
      signals.push(signal);
      return 1;
    }),
  ).toBe(1);
  const leaving = new AbortController();
  const left = singleFlight('left', leaving.signal, ({ signal }) => {
    signals.push(signal);
    return new Promise<never>(() => undefined);
  });
  setImmediate(() => leaving.abort(new Error('gone')));
  await expect(left).rejects.toThrow('gone');
  await expect(
    singleFlight('failed', undefined, async ({ signal }) => {
      signals.push(signal);
      throw new Error('half done');
    }),
  ).rejects.toThrow('half done');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, true]);
});

test('a caller that has aborted starts no read', async () => {
  const singleFlight = createSingleFlight();
  let started = 0;
  const read = async () => {
    started += 1;
  };
  await expect(singleFlight('key', AbortSignal.abort(new Error('gone')), read)).rejects.toThrow('gone');
  await singleFlight('key', new AbortController().signal, read);
  expect(started).toBe(1);
});
