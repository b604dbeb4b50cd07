// The cache's second tier in a SQLite file, which outlives the process. No Keyv adapter exists for
// the SQLite package used here (@keyv/sqlite 4 needs `sqlite3`, which is compiled at installation).
import { inTransaction, openDatabase } from '../sqlite-file.ts';
import type { ByteStore } from './shared-cache.ts';

const MAX_BYTES = 1024 ** 3;
const COUNT_INTERVAL_MS = 10 * 60_000;
/** Entries that a write deletes at most for each reason: 24,000 hold the loop for a quarter of a second. */
const DELETED_AT_ONCE = 256;

const TABLE = `
  CREATE TABLE IF NOT EXISTS cache (
    key TEXT PRIMARY KEY, bytes BLOB NOT NULL, size INTEGER NOT NULL,
    written_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS cache_age ON cache (written_at, size);
  CREATE INDEX IF NOT EXISTS cache_expires ON cache (expires_at);
`;

const DELETE_EXPIRED = `
  DELETE FROM cache WHERE rowid IN (
    SELECT rowid FROM cache WHERE expires_at <= ? LIMIT ${DELETED_AT_ONCE}
  ) RETURNING size
`;
/** Deletes the oldest entries, no more than take so many bytes. */
const DELETE_OLDEST = `
  DELETE FROM cache WHERE rowid IN (
    SELECT id FROM (
      SELECT id, sum(size) OVER (ORDER BY written_at, id) - size AS older FROM (
        SELECT rowid AS id, written_at, size FROM cache ORDER BY written_at, rowid LIMIT ${DELETED_AT_ONCE}
      )
    ) WHERE older < ?
  ) RETURNING size
`;

/**
 * Opens the file.
 *
 * @param file - its folder is made when it is missing
 * @param maxBytes - past it, the oldest entries are deleted, some with each write
 */
export function openSqliteBytes(file: string, maxBytes = MAX_BYTES): ByteStore {
  // Losing cached data in a power failure is harmless, so no write waits for the disk.
  const database = openDatabase(file, { busyMs: 100, synchronous: 'OFF' }, (made) => made.exec(TABLE));
  const readMany = database.prepare(
    'SELECT key, bytes FROM cache WHERE key IN (SELECT value FROM json_each(?)) AND expires_at > ?',
  );
  const readOne = database.prepare('SELECT key, bytes FROM cache WHERE key = ? AND expires_at > ?');
  const write = database.prepare('INSERT OR REPLACE INTO cache VALUES (?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM cache WHERE key = ?');
  const deleteExpired = database.prepare(DELETE_EXPIRED);
  const deleteOldest = database.prepare(DELETE_OLDEST);
  const total = database.prepare('SELECT coalesce(sum(size), 0) AS bytes FROM cache');
  let countedAt = Number.NEGATIVE_INFINITY;
  /** Bytes above the limit when they were counted last, without those deleted since. */
  let excess = 0;

  const clean = (now: number): void => {
    if (performance.now() - countedAt >= COUNT_INTERVAL_MS) {
      countedAt = performance.now();
      excess = Number(total.get()?.bytes) - maxBytes;
    }
    for (const { size } of deleteExpired.all(now)) excess -= Number(size);
    if (excess > 0) for (const { size } of deleteOldest.all(excess)) excess -= Number(size);
  };

  return {
    getMany(keys) {
      const found = new Map<unknown, Buffer>();
      const now = Date.now();
      const [only = ''] = keys;
      for (const { key, bytes } of keys.length === 1
        ? readOne.all(only, now)
        : readMany.all(JSON.stringify(keys), now))
        if (bytes instanceof Uint8Array)
          found.set(key, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      return keys.map((key) => found.get(key));
    },
    setMany(entries) {
      const now = Date.now();
      inTransaction(database, () => {
        clean(now);
        for (const { key, bytes, ttl } of entries) write.run(key, bytes, bytes.length, now, now + ttl);
      });
    },
    delete: (key) => remove.run(key).changes > 0,
    close() {
      database.close();
    },
  };
}
