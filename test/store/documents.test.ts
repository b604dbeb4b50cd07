// Shared documents in every store: the contract of all of them, and what Redis must not keep.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDocuments } from '../../src/store/documents.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
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

it('an SQLite file keeps no documents past their time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'documents-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'store.db');
  let time = 1_000_000;
  const open = () => openDocuments(`sqlite:${file}`, { now: () => time });
  const before = open();
  await before.put('old', 'x', { lifetimeMs: 100 });
  await before.close();
  time += 100;
  const documents = open();
  await documents.put('new', 'x', { lifetimeMs: 100 });
  const database = openSqlite(file);
  expect(database.prepare('SELECT key FROM document').all()).toEqual([{ key: 'new' }]);
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

  it('goes by its own clock, and keeps no documents past their time', async () => {
    const documents = openDocuments(place.url);
    for (let i = 0; i < 5; i++) await documents.put(`old/${i}`, 'x', { lifetimeMs: 3000 });
    const claim = () => documents.put('work', '', { expected: 0, lifetimeMs: 3000 });
    expect(await claim()).toBe(1);
    expect(await claim()).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 3100));
    expect(await documents.get('old/0')).toBeNull();
    expect(await claim()).toBe(1);
    await documents.put('work', '', { expected: 1, lifetimeMs: 0 });
    await documents.put('new', 'x', { lifetimeMs: 60_000 });
    await documents.close();
    const client = createClient({ url: place.url });
    client.on('error', () => undefined);
    await client.connect();
    expect(await client.keys('*')).toEqual(['foldatlas:documents:1:document:new']);
    client.destroy();
  });

  it('is not waited for while it stalls, and goes on when it does', async () => {
    const documents = openDocuments(place.url);
    await documents.put('stall', 'one', { lifetimeMs: 60_000 });
    onTestFinished(() => place.resume());
    place.stall();
    await expect(documents.get('stall')).rejects.toThrow(/no answer within 2000 ms/);
    await expect(documents.get('stall')).rejects.toThrow(/no answer within 2000 ms/);
    place.resume();
    expect(await documents.get('stall')).toEqual({ text: 'one', version: 1 });
    await documents.close();
  });
});
