// Work on requests is spread over turns of the event loop, and shared out by address.
import { expect, it } from 'vitest';
import { openTurns } from '../../src/http/limits/turns.ts';
import { until } from '../live/support.ts';

const block = (milliseconds: number): void => {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
};

it('begins what there is time for at once, and the rest in later turns, whose other work is done between', async () => {
  const turns = openTurns(5);
  let begun = 0;
  let others = 0;
  const other = setInterval(() => {
    others += 1;
  }, 1);
  for (let i = 0; i < 100; i += 1)
    turns.begin('a', () => {
      begun += 1;
      // What a request does by promises counts as well.
      void Promise.resolve().then(() => block(2));
      block(1);
    });
  expect(begun).toBeGreaterThanOrEqual(1);
  expect(begun).toBeLessThan(100);
  await until('all to be begun', () => begun === 100);
  clearInterval(other);
  expect(others).toBeGreaterThan(10);
});

it('takes those that wait in rotation over addresses', async () => {
  const turns = openTurns(5);
  const order: string[] = [];
  turns.begin('a', () => block(6));
  for (const address of [...'aaaaaaaabc']) turns.begin(address, () => void order.push(address));
  expect(order).toEqual([]);
  await until('all to be begun', () => order.length === 10);
  expect(order.join('')).toBe('abcaaaaaaa');
});
