// A list of which the first items can be dealt with while the others are still coming.
import { expect, it } from 'vitest';
import { IncrementalList } from '../../src/execution/incremental-list.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

it('gives its items in their order as they come, and ends', async () => {
  const list = new IncrementalList<number>();
  const seen: number[] = [];
  const reading = (async () => {
    for await (const item of list) seen.push(item);
  })();
  await turn();
  list.add([1, 2]);
  await turn();
  expect(seen).toEqual([1, 2]);
  list.add([]);
  list.add([Promise.resolve(3)]);
  await turn();
  expect(seen).toEqual([1, 2, 3]);
  list.end();
  await reading;
  expect(list.items).toHaveLength(3);
});

it('gives its error to whoever reads it, then and later', async () => {
  const list = new IncrementalList<number>();
  list.add([1]);
  await list.more(0);
  const waiting = list.more(1);
  list.fail(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  await expect(list.more(1)).rejects.toThrow('gone');
  expect(list.hasEnded).toBe(true);
});
