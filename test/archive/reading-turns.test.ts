// Who reads large archives when several do: one after the other, but nobody waits for one that has nothing to read.
import { expect, test } from 'vitest';
import { inTurn } from '../../src/upstream/archive/reading-turns.ts';

const BYTES = new Uint8Array(1);

/** A source of so many pieces; before the one at `pause` it waits to be let go on. */
function openSource(pieces: number, pause = -1) {
  let goOn = (): void => undefined;
  const paused = new Promise<void>((resolve) => (goOn = resolve));
  const source = (async function* () {
    for (let i = 0; i < pieces; i++) {
      if (i === pause) await paused;
      yield BYTES;
    }
  })();
  return { source, goOn };
}

/** Reads everything, with other work in between, and notes each piece. */
async function read(name: string, source: AsyncIterable<Uint8Array>, order: string[], most = 1e6) {
  let count = 0;
  for await (const _ of inTurn(source)) {
    order.push(name);
    count += 1;
    if (count === most) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('one is read to its end before the next is', async () => {
  const order: string[] = [];
  await Promise.all(['a', 'b', 'c'].map((name) => read(name, openSource(4).source, order)));
  expect(order.join('')).toBe('aaaabbbbcccc');
});

test('others go on while one has nothing to read, and it comes to its end as well', async () => {
  const order: string[] = [];
  const slow = openSource(4, 2);
  const reading = read('a', slow.source, order);
  await read('b', openSource(4).source, order);
  expect(order.join('').replaceAll('b', '')).toBe('aa');
  slow.goOn();
  await reading;
  expect(order.join('')).toBe('aabbbbaa');
});

test('who leaves, or whose source fails, holds nobody up', async () => {
  const order: string[] = [];
  const broken = (async function* () {
    yield BYTES;
    throw new Error('The connection broke.');
  })();
  const all = [
    read('a', openSource(4).source, order, 2),
    expect(read('b', broken, order)).rejects.toThrow('The connection broke.'),
    read('c', openSource(2).source, order),
  ];
  await Promise.all(all);
  expect(order.join('')).toBe('aabcc');
});
