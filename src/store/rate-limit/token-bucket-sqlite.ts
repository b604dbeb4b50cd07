// Token buckets in a SQLite file, shared by the processes of one machine.
import { DatabaseSync } from '@photostructure/sqlite';
import { makePrivate } from '../private-file.ts';
import { type TokenBucketStore, takeTokens } from './token-bucket.ts';

const TABLE = `
  CREATE TABLE IF NOT EXISTS rate (key TEXT PRIMARY KEY, full_at REAL NOT NULL) STRICT, WITHOUT ROWID;
`;
const SWEEP_MS = 60_000;

/** Opens the file and creates its folder when missing. @param now - milliseconds since the epoch */
export function openSqliteRates(file: string, now: () => number = Date.now): TokenBucketStore {
  makePrivate(file);
  const database = new DatabaseSync(file);
  // Losing a count is harmless, so no write waits for the disk.
  database.exec('PRAGMA busy_timeout = 50; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  database.exec(TABLE);
  const read = database.prepare('SELECT full_at FROM rate WHERE key = ?');
  const write = database.prepare('INSERT OR REPLACE INTO rate VALUES (?, ?)');
  const sweep = database.prepare('DELETE FROM rate WHERE full_at <= ?');
  let swept = 0;
  return {
    async take(take) {
      const at = now();
      database.exec('BEGIN IMMEDIATE');
      try {
        if (at - swept > SWEEP_MS) {
          swept = at;
          sweep.run(at);
        }
        const { fullAt, ...taken } = takeTokens(Number(read.get(take.key)?.full_at ?? 0), at, take);
        if (taken.granted > 0) write.run(take.key, fullAt);
        database.exec('COMMIT');
        return taken;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    async close() {
      database.close();
    },
  };
}
