// What the file of the cache may hold is known without asking it: nothing that is there is ever missed for long, whoever wrote it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { ByteStore } from '../../src/store/cache-shared.ts';
import { openSqliteBytes } from '../../src/store/cache-sqlite.ts';
import { KeyFilter } from '../../src/store/key-filter.ts';

const HOUR = 3_600_000;
const VALUE = Buffer.from('value');

const folder = await mkdtemp(join(tmpdir(), 'foldatlas-keys-'));
const opened: ByteStore[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function open(name: string): ByteStore {
  const store = openSqliteBytes(join(folder, name));
  opened.push(store);
  return store;
}
const keysFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => `key:${first + n}`);
const setAll = (store: ByteStore, keys: readonly string[]) =>
  Promise.all(keys.map((key) => store.set(key, VALUE, HOUR)));
const lacking = (store: ByteStore, keys: readonly string[]) => keys.filter((key) => store.lacks?.(key));

describe('a filter of keys', () => {
  it('has every key that was added', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (keys) => {
        const filter = new KeyFilter();
        for (const key of keys) filter.add(key);
        expect(keys.filter((key) => !filter.mayHave(key))).toEqual([]);
        expect(filter.added).toBe(keys.length);
      }),
      { numRuns: 30 },
    );
  });

  it('has hardly any other, of a million', () => {
    const filter = new KeyFilter();
    for (let n = 0; n < 1_000_000; n += 1) filter.add(`foldatlas-1:proteins:identity:${n}`);
    let taken = 0;
    for (let n = 1_000_000; n < 1_100_000; n += 1)
      if (filter.mayHave(`foldatlas-1:proteins:identity:${n}`)) taken += 1;
    expect(taken / 100_000).toBeLessThan(0.01);
  });
});

describe('the keys of a file', () => {
  it('are known as soon as they are written, and those of another process a moment later', async () => {
    const [one, other] = [open('two.db'), open('two.db')];
    const [first, second] = [keysFrom(0, 50), keysFrom(50, 50)];
    const written = setAll(one, first);
    expect(lacking(one, first)).toEqual([]);
    await written;
    expect(lacking(one, second)).toEqual(second);
    await setAll(other, second);
    await vi.waitFor(() => expect(lacking(one, [...first, ...second])).toEqual([]));
    await vi.waitFor(() => expect(lacking(other, [...first, ...second])).toEqual([]));
    expect(await one.getMany(['key:0', 'no key', 'key:99', 'key:51'])).toEqual([
      VALUE,
      undefined,
      VALUE,
      VALUE,
    ]);
    await other.delete('key:99');
    expect(one.lacks?.('key:99')).toBe(true);
  });

  it('that were there before are missed by nobody, while they are read nor after', async () => {
    const keys = keysFrom(0, 5_000);
    await setAll(open('before.db'), keys);
    const later = open('before.db');
    expect(lacking(later, keys)).toEqual([]);
    for (let n = 0; n < 20; n += 1) {
      await new Promise((ready) => setTimeout(ready, 10));
      expect(lacking(later, keys)).toEqual([]);
    }
    expect(lacking(later, keysFrom(5_000, 100))).toHaveLength(100);
  });

  it('are read anew when others have written more than can be read at once', async () => {
    const [one, other] = [open('flood.db'), open('flood.db')];
    await setAll(one, ['own']);
    const keys = keysFrom(0, 7_000);
    await setAll(other, keys);
    await vi.waitFor(() => expect(lacking(one, keys)).toEqual([]));
    for (let n = 0; n < 20; n += 1) {
      await new Promise((ready) => setTimeout(ready, 10));
      expect(lacking(one, keys)).toEqual([]);
    }
    expect(one.lacks?.('none')).toBe(true);
  });
});
