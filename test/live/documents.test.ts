// What every store of shared documents must keep to: versions, age limits, prefixes, leases. One suite for all of them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Documents } from '../../src/store/documents.ts';
import { openSqliteDocuments } from '../../src/store/sqlite-documents.ts';

let folder: string;
let time = 1_000_000;
const now = () => time;
const stores: Record<string, () => Documents> = {
  'SQLite in memory': () => openSqliteDocuments('memory:', now),
  'an SQLite file': () => openSqliteDocuments(`sqlite:${join(folder, 'deep', 'store.db')}`, now),
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'documents-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each(Object.entries(stores))('documents in %s', (_, open) => {
  let documents: Documents;
  beforeEach(() => {
    documents = open();
  });
  afterEach(() => documents.close());

  const expiresAt = () => time + 1000;

  it('gives back what was put, with a version that grows', async () => {
    expect(await documents.get('a')).toBeNull();
    expect(await documents.put('a', 'one', { expiresAt: expiresAt() })).toBe(1);
    expect(await documents.put('a', 'two\u{1f9ec}', { expiresAt: expiresAt() })).toBe(2);
    expect(await documents.get('a')).toEqual({ text: 'two\u{1f9ec}', version: 2 });
    expect(await documents.get('a', 2)).toBe('same');
    expect(await documents.get('a', 1)).toEqual({ text: 'two\u{1f9ec}', version: 2 });
    await documents.remove('a');
    expect(await documents.get('a', 2)).toBeNull();
  });

  it('lets only the writer through who knows what stands there', async () => {
    const options = { expiresAt: expiresAt() };
    expect(await documents.put('a', 'x', { ...options, expected: 1 })).toBeNull();
    expect(await documents.put('a', 'one', { ...options, expected: 0 })).toBe(1);
    expect(await documents.put('a', 'again', { ...options, expected: 0 })).toBeNull();
    expect(await documents.put('a', 'two', { ...options, expected: 1 })).toBe(2);
    expect(await documents.put('a', 'late', { ...options, expected: 1 })).toBeNull();
    expect(await documents.get('a')).toEqual({ text: 'two', version: 2 });
  });

  it('forgets what is too old, and begins anew after it', async () => {
    await documents.put('a', 'one', { expiresAt: expiresAt() });
    await documents.put('a', 'two', { expiresAt: expiresAt() });
    time += 1000;
    expect(await documents.get('a')).toBeNull();
    expect(await documents.keys('a')).toEqual([]);
    expect(await documents.put('a', 'x', { expected: 2, expiresAt: expiresAt() })).toBeNull();
    expect(await documents.put('a', 'new', { expected: 0, expiresAt: expiresAt() })).toBe(1);
  });

  it('lists keys by prefix in order', async () => {
    for (const key of ['open/2', 'open/1', 'open', 'other', 'open/\u{10fff0}'])
      await documents.put(key, '', { expiresAt: expiresAt() });
    expect(await documents.keys('open/')).toEqual(['open/1', 'open/2', 'open/\u{10fff0}']);
  });

  it('gives a lease to one at a time, until it runs out or is given back', async () => {
    expect(await documents.claim('work', 'a', 100)).toBe(true);
    expect(await documents.claim('work', 'b', 100)).toBe(false);
    time += 99;
    expect(await documents.claim('work', 'a', 100)).toBe(true);
    time += 99;
    expect(await documents.claim('work', 'b', 100)).toBe(false);
    await documents.release('work', 'b');
    expect(await documents.claim('work', 'b', 100)).toBe(false);
    time += 1;
    expect(await documents.claim('work', 'b', 100)).toBe(true);
    await documents.release('work', 'b');
    expect(await documents.claim('work', 'a', 100)).toBe(true);
  });
});

describe('documents in an SQLite file', () => {
  it('are the same for two openers, and outlive them', async () => {
    const url = `sqlite:${join(folder, 'shared.db')}`;
    const [one, two] = [openSqliteDocuments(url, now), openSqliteDocuments(url, now)];
    expect(one.shared).toBe(true);
    expect(await one.put('a', 'from one', { expected: 0, expiresAt: time + 1000 })).toBe(1);
    expect(await two.put('a', 'from two', { expected: 1, expiresAt: time + 1000 })).toBe(2);
    expect(await one.put('a', 'late', { expected: 1, expiresAt: time + 1000 })).toBeNull();
    expect(await one.claim('l', 'one', 50)).toBe(true);
    expect(await two.claim('l', 'two', 50)).toBe(false);
    await Promise.all([one.close(), two.close()]);
    const three = openSqliteDocuments(url, now);
    expect(await three.get('a')).toEqual({ text: 'from two', version: 2 });
    await three.close();
  });
});
