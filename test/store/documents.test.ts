// Shared documents in every store: the contract of all of them, and what Redis must not keep.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDocuments } from '../../src/store/documents.ts';
import { documentsContract } from './documents-contract.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from './redis-place.ts';

const inMemory = async () => ({
  open: (now: () => number) => openDocuments('memory:', { now }),
  remove: async () => undefined,
});
documentsContract('SQLite in memory', inMemory, false);

const inFile = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'documents-'));
  return {
    open: (now: () => number) => openDocuments(`sqlite:${join(folder, 'deep', 'store.db')}`, { now }),
    remove: async () => rmSync(folder, { recursive: true }),
  };
};
documentsContract('an SQLite file', inFile, true);

it('an SQLite file keeps neither documents nor leases past their time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'documents-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'store.db');
  let time = 1_000_000;
  const open = () => openDocuments(`sqlite:${file}`, { now: () => time });
  const before = open();
  await before.put('old', 'x', { expiresAt: time + 100 });
  await before.claim('work', 'a', 100);
  await before.close();
  time += 100;
  const documents = open();
  await documents.put('new', 'x', { expiresAt: time + 100 });
  const database = new DatabaseSync(file);
  expect(database.prepare('SELECT key FROM document').all()).toEqual([{ key: 'new' }]);
  expect(database.prepare('SELECT key FROM lease').all()).toEqual([]);
  database.close();
  await documents.close();
});

describe.skipIf(NO_REDIS)('Redis', () => {
  let place: RedisPlace;
  let database = 0;
  beforeAll(async () => {
    place = await openRedisPlace();
  });
  afterAll(() => place.remove());

  const inRedis = async () => {
    const url = `${place.url}/${(database++ % 15) + 1}`;
    return { open: (now: () => number) => openDocuments(url, { now }), remove: async () => undefined };
  };
  documentsContract('redis', inRedis, true);

  it('goes by its own clock, and keeps neither documents nor leases past their time', async () => {
    const documents = openDocuments(place.url);
    for (let i = 0; i < 5; i++) await documents.put(`old/${i}`, 'x', { expiresAt: Date.now() + 3000 });
    expect(await documents.claim('work', 'a', 3000)).toBe(true);
    expect(await documents.claim('work', 'b', 3000)).toBe(false);
    expect(await documents.claim('never given back', 'a', 100)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 3100));
    expect(await documents.get('old/0')).toBeNull();
    expect(await documents.claim('work', 'b', 1500)).toBe(true);
    await documents.release('work', 'b');
    await documents.put('new', 'x', { expiresAt: Date.now() + 60_000 });
    await documents.close();
    const client = createClient({ url: place.url });
    client.on('error', () => undefined);
    await client.connect();
    expect(await client.keys('*')).toEqual(['foldatlas:documents:1:document:new']);
    client.destroy();
  });

  it('that stalls is not waited for, and goes on when it does', async () => {
    const documents = openDocuments(place.url);
    await documents.put('stall', 'one', { expiresAt: Date.now() + 60_000 });
    place.stall();
    await expect(documents.get('stall')).rejects.toThrow(/no answer within 2000 ms/);
    await expect(documents.get('stall')).rejects.toThrow(/no answer within 2000 ms/);
    place.resume();
    expect(await documents.get('stall')).toEqual({ text: 'one', version: 1 });
    await documents.close();
  });
});
