// The cache's second tier in a SQLite file, which outlives the process. It must not know what the bytes mean.
import { setImmediate as turn } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { Passing } from '../passing.ts';
import type { ByteStore } from './cache-shared.ts';
import { makePrivate } from './private-file.ts';
import { openSqliteKeys } from './sqlite-keys.ts';

const MiB = 1024 * 1024;
/** What the file may hold; past it, what was written longest ago goes first. */
const MOST_BYTES = 1024 * MiB;
const SWEEP_MS = 10 * 60_000;
/** Written in one transaction at most, so that other work gets its turn. */
const SLICE_BYTES = 4 * MiB;

const TABLE = `
  CREATE TABLE IF NOT EXISTS cache (
    key TEXT PRIMARY KEY, bytes BLOB NOT NULL, size INTEGER NOT NULL, written_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS cache_age ON cache (written_at, size);
`;

/** So many keys are asked for one by one. */
const FEW = 2;

const bufferOf = (bytes: unknown): Buffer | undefined =>
  bytes instanceof Uint8Array ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : undefined;

interface Waiting {
  readonly bytes: Buffer;
  readonly expiresAt: number;
}

/**
 * Opens the file.
 *
 * @param file - its folder is made when it is missing
 * @param mostBytes - what it may hold
 */
export function openSqliteBytes(file: string, mostBytes = MOST_BYTES): ByteStore {
  makePrivate(file);
  const database = new DatabaseSync(file);
  // Nothing is lost with a cache: there is no need to wait for the disk.
  database.exec('PRAGMA busy_timeout = 100; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  database.exec(TABLE);
  const read = database.prepare('SELECT bytes FROM cache WHERE key = ? AND expires_at > ?');
  const find = database.prepare('SELECT 1 AS found FROM cache WHERE key = ? AND expires_at > ?');
  // For many keys at once: most of them are usually missing, and asking for each by itself takes ten times as long.
  const readMany = database.prepare(
    'SELECT key, bytes FROM cache WHERE key IN (SELECT value FROM json_each(?)) AND expires_at > ?',
  );
  const write = database.prepare('INSERT OR REPLACE INTO cache VALUES (?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM cache WHERE key = ?');
  const expire = database.prepare('DELETE FROM cache WHERE expires_at <= ?');
  const total = database.prepare('SELECT coalesce(sum(size), 0) AS bytes FROM cache');
  const oldest = database.prepare('SELECT key, size FROM cache ORDER BY written_at LIMIT 1000');
  const keys = openSqliteKeys(database);
  const waiting = new Passing<string, Waiting>();
  let writing: Promise<void> | undefined;
  let swept = 0;

  const sweep = () => {
    if (Date.now() - swept < SWEEP_MS) return;
    swept = Date.now();
    expire.run(swept);
    let over = Number(total.get()?.bytes) - mostBytes;
    while (over > 0) {
      const rows = oldest.all();
      if (rows.length === 0) return;
      for (const { key, size } of rows) {
        if (over <= 0) break;
        remove.run(String(key));
        over -= Number(size);
      }
    }
  };
  const writeSlice = () => {
    let bytes = 0;
    database.exec('BEGIN');
    try {
      for (const [key, entry] of waiting.entries()) {
        write.run(key, entry.bytes, entry.bytes.length, Date.now(), entry.expiresAt);
        waiting.delete(key);
        bytes += entry.bytes.length;
        if (bytes > SLICE_BYTES) break;
      }
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  };
  const writeAll = async () => {
    try {
      sweep();
      while (waiting.size > 0) {
        await turn();
        writeSlice();
      }
    } finally {
      waiting.clear();
      writing = undefined;
    }
  };

  const readOne = (key: string): Buffer | undefined =>
    waiting.get(key)?.bytes ?? bufferOf(read.get(key, Date.now())?.bytes);

  return {
    get: async (key) => readOne(key),
    lacks: (key) => !keys.mayHave(key) || (!waiting.has(key) && find.get(key, Date.now()) === undefined),
    async getMany(wanted) {
      if (wanted.length <= FEW) return wanted.map(readOne);
      const found = new Map<unknown, Buffer | undefined>();
      const some = wanted.filter((key) => keys.mayHave(key));
      for (const { key, bytes } of readMany.all(JSON.stringify(some), Date.now()))
        found.set(key, bufferOf(bytes));
      return wanted.map((key) => waiting.get(key)?.bytes ?? found.get(key));
    },
    set(key, bytes, ttl) {
      waiting.set(key, { bytes, expiresAt: Date.now() + ttl });
      keys.add(key);
      writing ??= writeAll();
      return writing;
    },
    async delete(key) {
      waiting.delete(key);
      return remove.run(key).changes > 0;
    },
    async close() {
      await writing?.catch(() => undefined);
      keys.close();
      database.close();
    },
  };
}
