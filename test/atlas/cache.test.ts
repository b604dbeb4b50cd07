// One contract for every store that the cache can have behind it, and what happens when a store is
// slow, gone or broken.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Cache, createCache, type Found } from '../../src/store/cache/cache.ts';
import { createStoreGuard, openSharedCache, type SharedStore } from '../../src/store/cache/shared-cache.ts';
import { NO_REDIS, openRedisPlace } from '../store/redis-place.ts';

interface Value {
  readonly name: string;
  readonly list?: readonly number[];
  readonly bytes?: Buffer;
}

const redis = NO_REDIS ? null : await openRedisPlace();
const errors: unknown[] = [];
const onError = (error: unknown) => errors.push(error);
/**
 * The reported errors, without those of a store that is late on a busy machine: it is bypassed,
 * and asked again.
 */
const told = () => errors.map(String).filter((text) => !text.includes('did not answer within'));
const opened: SharedStore[] = [];
afterEach(async () => {
  errors.length = 0;
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
afterAll(async () => {
  await redis?.remove();
});

function openStore(url: string): SharedStore | undefined {
  const store = openSharedCache(url, onError);
  if (store !== undefined) opened.push(store);
  return store;
}

interface Options {
  readonly namespace?: string;
  readonly ttl?: number;
  readonly stale?: number;
  readonly maxBytes?: number;
  readonly onLookup?: (namespace: string, found: Found) => void;
}

const openOver = (store: SharedStore | undefined, o: Options = {}): Cache<Value> =>
  createCache<Value>({
    namespace: o.namespace ?? 'values',
    ttl: o.ttl ?? 60_000,
    maxBytes: o.maxBytes ?? 1_000_000,
    estimateBytes: ({ name, bytes }) => name.length + (bytes?.length ?? 0),
    onError,
    onLookup: o.onLookup,
    shared: store?.namespace(o.namespace ?? 'values'),
    ...(o.stale === undefined ? {} : { stale: o.stale }),
  });

/** Waits for a write to the second tier, which no request waits for. */
const until = (done: () => boolean | Promise<boolean>) => expect.poll(done, { interval: 10 }).toBe(true);

/** Work that ends when the test says so. */
function held<T>(value: T) {
  let release = (): void => undefined;
  const ended = new Promise<T>((resolve) => {
    release = () => resolve(value);
  });
  return { ended, release };
}

const stores: [string, string][] = [
  ['memory', 'memory:'],
  ...(redis === null ? [] : ([['Redis', redis.url]] as [string, string][])),
];

describe.each(stores)('a cache over %s', (name, url) => {
  it('gives what was put in, many at once, and nothing else', async () => {
    const found: Found[] = [];
    const cache = openOver(openStore(url), {
      namespace: `${name} basics`,
      onLookup: (_, counts) => found.push(counts),
    });
    await cache.set('a', { name: 'one' });
    await cache.set('b', { name: 'two', list: [1, 2.5] });
    expect(await cache.get('a')).toEqual({ name: 'one' });
    expect(await cache.get('c')).toBeUndefined();
    expect([...(await cache.getMany(['c', 'b', 'a']))].sort()).toEqual([
      ['a', { name: 'one' }],
      ['b', { name: 'two', list: [1, 2.5] }],
    ]);
    expect(found.at(-1)).toEqual({ memory: 2, store: 0, missing: 1 });
  });

  it('keeps namespaces apart', async () => {
    const store = openStore(url);
    const [one, two] = [
      openOver(store, { namespace: `${name} one` }),
      openOver(store, { namespace: `${name} two` }),
    ];
    await one.set('key', { name: 'one' });
    expect(await two.get('key')).toBeUndefined();
  });

  it('forgets what is too old', async () => {
    const cache = openOver(openStore(url), { namespace: `${name} old`, ttl: 60 });
    await cache.set('b', { name: 'long' }, 600_000);
    // Until it was read before its time was over, however busy the machine is.
    await until(async () => {
      await cache.set('a', { name: 'short' });
      return (await cache.get('a'))?.name === 'short';
    });
    await sleep(90);
    expect(await cache.get('a')).toBeUndefined();
    expect(await cache.get('b')).toEqual({ name: 'long' });
  });

  it('loads once for all who ask at the same time, keeps neither null nor errors', async () => {
    const cache = openOver(openStore(url), { namespace: `${name} load` });
    let loads = 0;
    const load = async () => {
      loads += 1;
      await sleep(20);
      return { name: 'loaded' };
    };
    const all = await Promise.all([1, 2, 3].map(() => cache.wrap('a', load)));
    expect(all).toEqual([{ name: 'loaded' }, { name: 'loaded' }, { name: 'loaded' }]);
    await cache.wrap('a', load);
    expect(loads).toBe(1);
    expect(await cache.wrap('none', async () => null)).toBeNull();
    await expect(
      cache.wrap('none', async () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await cache.wrap('none', load)).toEqual({ name: 'loaded' });
    expect(loads).toBe(2);
  });

  it('gives an old value at once while it fetches a new one, one fetch for all', async () => {
    const cache = openOver(openStore(url), { namespace: `${name} stale`, ttl: 30, stale: 60_000 });
    expect(await cache.wrap('a', async () => ({ name: 'load 1' }))).toEqual({ name: 'load 1' });
    await sleep(50);
    const failing = cache.wrap('a', async () => {
      throw new Error('down');
    });
    expect(await failing).toEqual({ name: 'load 1' });
    await expect.poll(told).toEqual(['Error: down']);
    const { ended, release } = held({ name: 'load 2' });
    const load = vi.fn(() => ended);
    const again = await Promise.all([1, 2, 3].map(() => cache.wrap('a', load)));
    expect(again.map((value) => value.name)).toEqual(['load 1', 'load 1', 'load 1']);
    expect(load).toHaveBeenCalledTimes(1);
    release();
    await until(async () => (await cache.wrap('a', load)).name === 'load 2');
  });
});

describe.each(stores.slice(1))('what %s keeps', (name, url) => {
  it('is there for another process, binary and large values included', async () => {
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 31) % 256));
    const large = { name: 'x'.repeat(100_000), bytes };
    await openOver(openStore(url), { namespace: `${name} shared` }).set('a', large);
    const other = openOver(openStore(url), { namespace: `${name} shared` });
    await until(async () => (await other.get('a')) !== undefined);
    const found = await other.get('a');
    expect(found?.name).toBe(large.name);
    expect(Buffer.isBuffer(found?.bytes)).toBe(true);
    expect(found?.bytes?.equals(bytes)).toBe(true);
    expect(told()).toEqual([]);
  });

  it('is read back as it was put in, whatever it is and however long', async () => {
    const json = fc.jsonValue({ noUnicodeString: false });
    const long = fc.constantFrom('', 'ATOM '.repeat(10_000));
    let run = 0;
    await fc.assert(
      fc.asyncProperty(json, fc.uint8Array({ maxLength: 30_000 }), long, async (value, list, text) => {
        run += 1;
        const store = openStore(url);
        const values = store?.namespace(`${name} any ${run}`);
        // JSON has one zero.
        const plain: unknown = JSON.parse(JSON.stringify(value));
        const stored = { plain, text, bytes: Buffer.from(list), inside: [{ bytes: Buffer.from(list) }] };
        values?.set('a', stored, 60_000);
        await opened.pop()?.close();
        const later = openStore(url)?.namespace(`${name} any ${run}`);
        await expect.poll(async () => (await later?.getMany(['a']))?.get('a')).toEqual(stored);
        await opened.pop()?.close();
      }),
      { numRuns: 20 },
    );
  });

  it('is there when it was put in just before the end', async () => {
    const last = { namespace: `${name} end` };
    const large = { namespace: `${name} large end` };
    const store = openStore(url);
    openOver(store, large).set('a', { name: 'x'.repeat(400_000) });
    openOver(store, last).set('a', { name: 'last' });
    await opened.pop()?.close();
    const later = openStore(url);
    await expect.poll(() => openOver(later, last).get('a')).toEqual({ name: 'last' });
    await expect.poll(() => openOver(later, large).get('a')).toEqual({ name: 'x'.repeat(400_000) });
  });

  it('is there for another process when it is old, which counts what it found where', async () => {
    const options = { namespace: `${name} stale, shared`, ttl: 50, stale: 60_000 };
    openOver(openStore(url), options).set('a', { name: 'old' });
    await opened.pop()?.close();
    await sleep(80);
    let found: Found[] = [];
    let other = openOver(undefined);
    await until(async () => {
      found = [];
      other = openOver(openStore(url), { ...options, onLookup: (_, counts) => found.push(counts) });
      const refused = () => Promise.reject(new Error('only the store is asked'));
      return (await other.wrap('a', refused).catch(() => undefined))?.name === 'old';
    });
    await other.getMany(['a', 'none']);
    expect(found).toEqual([
      { memory: 0, store: 1, missing: 0 },
      { memory: 1, store: 0, missing: 1 },
    ]);
    await until(async () => (await other.wrap('a', async () => ({ name: 'new' }))).name === 'new');
  });

  it('is fetched again behind its end, also where the clock of the process runs ahead', async () => {
    openOver(openStore(url), { namespace: `${name} clock` }).set('a', { name: 'old' });
    await opened.pop()?.close();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const other = openOver(openStore(url), { namespace: `${name} clock` });
    expect(await other.wrap('a', async () => ({ name: 'new' }))).toEqual({ name: 'new' });
  });

  it('is missing without a word for what goes on after the end', async () => {
    const cache = openOver(openStore(url), { namespace: `${name} late` });
    await opened.pop()?.close();
    expect(await cache.get('a')).toBeUndefined();
    cache.set('a', { name: 'late' });
    await sleep(300);
    expect(told()).toEqual([]);
  });

  it('is fetched again by a process whose own part is too small for it', async () => {
    const store = openStore(url);
    const cache = openOver(store, { namespace: `${name} small`, maxBytes: 10 });
    // A store that another test has found busy is passed by for a second, which loses what is set.
    await until(async () => {
      cache.set('a', { name: 'longer than ten bytes' });
      return (await cache.get('a')) !== undefined;
    });
  });
});

it('a value of more than half of the memory is not held, and drives out no other', async () => {
  const cache = openOver(undefined, { maxBytes: 2_000 });
  cache.set('small', { name: 'a' });
  cache.set('large', { name: 'b'.repeat(1_200) });
  expect(await cache.get('small')).toEqual({ name: 'a' });
  expect(await cache.get('large')).toBeUndefined();
});

describe('a store in trouble', () => {
  it('is bypassed for a second after a failure, and its connection is mended', async () => {
    const mend = vi.fn();
    const guard = createStoreGuard(onError, mend);
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    onTestFinished(() => now.mockRestore());
    const fail = () => guard(() => Promise.reject(new Error('down')));
    expect(await Promise.all([fail(), fail()])).toEqual([undefined, undefined]);
    expect(await guard(async () => 'early')).toBeUndefined();
    now.mockReturnValue(2_000);
    expect(await guard(async () => 'there')).toBe('there');
    expect(errors).toHaveLength(2);
    expect(mend).toHaveBeenCalledTimes(2);
  });

  it('costs no request time while it does not answer, and is left alone after a failure', async () => {
    const cache = openOver(openStore('redis://127.0.0.1:1'));
    for (let i = 0; i < 30; i++)
      expect(await cache.wrap(`${i}`, async () => ({ name: 'x' }))).toEqual({ name: 'x' });
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThan(30);
  });

  it.runIf(redis !== null)(
    'is bypassed after its time while it stalls, and used again when it answers',
    async () => {
      if (redis === null) return;
      const store = openStore(redis.url);
      const cache = openOver(store, { namespace: 'stall' });
      const probe = () => openOver(store, { namespace: 'stall' });
      // On a busy machine reads are late, and then writes passed by for a second, which loses them.
      await until(async () => {
        cache.set('a', { name: 'kept' });
        return (await probe().get('a')) !== undefined;
      });
      // All that was set has been written or passed by.
      await sleep(200);
      errors.length = 0;
      onTestFinished(() => redis.resume());
      redis.stall();
      for (let i = 0; i < 20; i++) expect(await probe().get('a')).toBeUndefined();
      // One use waits 100 ms; the others do not ask the store, or each would say so.
      expect(errors.map(String)).toEqual([expect.stringContaining('did not answer within 100 ms')]);
      redis.resume();
      await expect.poll(async () => (await probe().get('a')) !== undefined).toBe(true);
    },
  );
});
