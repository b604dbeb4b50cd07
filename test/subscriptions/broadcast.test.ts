// Many watchers of one value: each gets the latest, none waits for another, nothing piles up.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBroadcast } from '../../src/async/broadcast.ts';

const all = (value: number): number => value;

describe('a topic', () => {
  it('gives the present value first, then what is published, then ends', async () => {
    const topic = createBroadcast<number>();
    topic.publish(1);
    const watch = topic.watch(all, undefined, () => undefined);
    expect(await watch.next()).toEqual({ done: false, value: 1 });
    const waiting = watch.next();
    topic.publish(2);
    expect(await waiting).toEqual({ done: false, value: 2 });
    topic.publish(3);
    topic.end();
    expect(await watch.next()).toEqual({ done: false, value: 3 });
    expect(await watch.next()).toEqual({ done: true, value: undefined });
    expect(topic.watchers).toBe(0);
  });

  it('lets a slow reader skip to the latest, whatever the order of reading and publishing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 60 }), async (steps) => {
        const topic = createBroadcast<number>();
        const watch = topic.watch(all, undefined, () => undefined);
        let published = 0;
        let read = 0;
        for (const publishes of steps) {
          if (publishes) {
            published += 1;
            topic.publish(published);
          } else if (read < published) {
            const { value } = await watch.next();
            expect(value).toBe(published);
            read = published;
          }
        }
        topic.end();
        const rest: number[] = [];
        for await (const value of watch) rest.push(value);
        expect(rest).toEqual(read < published ? [published] : []);
      }),
    );
  });

  it('does not hold a reader up by one that never reads', async () => {
    const topic = createBroadcast<number>();
    topic.watch(all, undefined, () => undefined);
    const quick = topic.watch(all, undefined, () => undefined);
    for (let value = 1; value <= 100; value += 1) {
      topic.publish(value);
      expect((await quick.next()).value).toBe(value);
    }
  });

  it('lets a watcher leave while it waits, once, by return or by its signal', async () => {
    const topic = createBroadcast<number>();
    let left = 0;
    const gone = new AbortController();
    const first = topic.watch(all, gone.signal, () => (left += 1));
    const second = topic.watch(all, undefined, () => (left += 1));
    const waiting = [first.next(), second.next()];
    gone.abort();
    await second.return?.();
    await second.return?.();
    expect(await Promise.all(waiting)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(left).toBe(2);
    expect(topic.watchers).toBe(0);
    const late = topic.watch(all, AbortSignal.abort(), () => (left += 1));
    expect((await late.next()).done).toBe(true);
    expect(left).toBe(3);
  });

  it('skips what is no news to a watcher, and answers overlapping reads in order', async () => {
    const topic = createBroadcast<number>();
    const even = topic.watch(
      (value) => (value % 2 === 0 ? value : undefined),
      undefined,
      () => undefined,
    );
    const reads = [even.next(), even.next()];
    for (const value of [1, 2, 3, 4]) {
      topic.publish(value);
      await sleep(1);
    }
    expect((await Promise.all(reads)).map(({ value }) => value)).toEqual([2, 4]);
  });
});
