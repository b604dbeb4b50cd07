// The tables of the SQLite ledger.
import { statSync } from 'node:fs';
import * as z from 'zod';
import type { DatabaseSyncInstance } from '../sqlite.ts';
import { inTransaction, isDamage, openDatabase, openReadOnly } from '../sqlite-file.ts';
import { DamagedStoreError } from '../unusable-store.ts';
import { readFileMark } from './overwrite-check.ts';

/** Counts up when the tables change. */
const VERSION = 4;
const TABLES = `
  -- One row for each thing that is remembered of a principal (sqlite-ledger.ts).
  CREATE TABLE entry (
    principal TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    -- Milliseconds since the epoch; null for what is never deleted.
    at INTEGER,
    text TEXT NOT NULL,
    PRIMARY KEY (principal, kind, id)
  ) WITHOUT ROWID;
  CREATE INDEX entry_age ON entry (at, kind DESC) WHERE at IS NOT NULL;
  CREATE INDEX entry_newest_batch ON entry (principal, at DESC, id DESC) WHERE kind = 'batch';
`;
const MARK = `
  -- One row: the mark (mark.ts), the newest time at which something was written, and up to when
  -- what is past its time was deleted.
  CREATE TABLE mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    text TEXT,
    newest INTEGER NOT NULL DEFAULT 0,
    pruned_to INTEGER
  );
  INSERT INTO mark (id) VALUES (1);
`;
/** The newest time in the file alone, without its log, when a gateway last opened it. */
const FROM_VERSION_3 = 'ALTER TABLE mark ADD COLUMN in_file INTEGER NOT NULL DEFAULT 0;';
/** Moves what version 2 stored in a table for each kind. Its table of the mark stays. */
const FROM_VERSION_2 = `
  INSERT INTO entry SELECT principal, 'batch', batch_id, submitted_at, json_object(
      'batchId', batch_id, 'label', label, 'model', model, 'submittedAt', submitted_at,
      'itemCount', item_count, 'repeat', repeat, 'inputHash', input_hash, 'onlyTaskId', only_task_id
    ) FROM batch;
  INSERT INTO entry SELECT principal, 'only_task', only_task_id, submitted_at, batch_id
    FROM batch WHERE only_task_id IS NOT NULL;
  INSERT INTO entry SELECT principal, 'item', batch_id || '/' || input_index, submitted_at,
      json_object('name', name, 'chains', json(chains))
    FROM item JOIN batch USING (principal, batch_id);
  -- The row with the largest time of each input.
  INSERT INTO entry SELECT principal, 'input', input_hash, max(at), json_object('batchId', batch_id)
    FROM (
      SELECT principal, input_hash, submitted_at AS at, batch_id FROM batch
      UNION ALL SELECT principal, input_hash, at, NULL FROM unknown_outcome
    ) GROUP BY principal, input_hash;
  INSERT INTO entry SELECT principal, 'key', key, at, json_object(
      'requestHash', request_hash, 'state', state, 'batchId', batch_id, 'upstreamRequestId', upstream_request_id
    ) FROM idempotency;
  INSERT INTO entry SELECT principal, 'scores', task_id, NULL, json_object(
      'ptm', ptm, 'iptm', iptm, 'meanPlddt', mean_plddt, 'chainPairs', json(chain_pairs)
    ) FROM score;
  DROP TABLE item; DROP TABLE batch; DROP TABLE idempotency; DROP TABLE unknown_outcome; DROP TABLE score;
`;

const versionRow = z.object({ user_version: z.number() });

const readVersion = (database: DatabaseSyncInstance): number =>
  versionRow.parse(database.prepare('PRAGMA user_version').get()).user_version;

const integrityRow = z.object({ integrity_check: z.string() });

/** Describes the damage to the pages of a database; undefined if they are intact. */
function findDamage(database: DatabaseSyncInstance): string | undefined {
  try {
    const found = integrityRow.parse(database.prepare('PRAGMA integrity_check(1)').get()).integrity_check;
    return found === 'ok' ? undefined : found.replaceAll(/\s+/g, ' ');
  } catch (error) {
    if (isDamage(error) && error instanceof Error) return error.message;
    throw error;
  }
}

const inFileRow = z.object({ inFile: z.number() });

/** The newest time in a file alone. Another process may be writing its log into it at one read. */
const newestInFile = (file: string): number => Math.max(...[1, 2].map(() => readFileMark(file)?.newest ?? 0));

/**
 * Refuses a database whose write-ahead log is another one's: a copy was put back where a killed
 * gateway had left its log. SQLite would mix their pages, and keys would be lost in silence.
 *
 * @throws DamagedStoreError
 */
function checkLog(database: DatabaseSyncInstance): void {
  const damage = findDamage(database);
  if (damage !== undefined) throw new DamagedStoreError(damage);
}

/** The newest time that the file beside the log had; 0 where that is not known. */
const readInFile = (database: DatabaseSyncInstance): number =>
  readVersion(database) === VERSION
    ? inFileRow.parse(database.prepare('SELECT in_file AS inFile FROM mark').get()).inFile
    : 0;

/**
 * Opens or creates the database, synchronised at commit: a spent key survives a power cut.
 *
 * @throws UnusableStoreError for a full disk or a damaged file; Error that names the file, for one
 *   that is newer than this gateway
 */
export function openTables(file: string): DatabaseSyncInstance {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  return openDatabase(file, { busyMs: 10_000, synchronous: 'FULL' }, (database) => {
    if (log !== undefined && log.size > 0) checkLog(database);
    // First: another process may raise both meanwhile.
    const before = readInFile(database);
    const inFile = file === ':memory:' ? 0 : newestInFile(file);
    if (inFile < before) throw new DamagedStoreError('its write-ahead log is that of a newer file');
    inTransaction(database, () => {
      const version = readVersion(database);
      if (version > VERSION)
        throw new Error(
          `it was made by a newer gateway (version ${version}; this one knows ${VERSION}). Start the newer ` +
            'one, or restore a backup from before the upgrade.',
        );
      if (version === 1) throw new Error('it was made by a gateway from before version 1.0.');
      if (version < 3) database.exec(TABLES + (version === 2 ? FROM_VERSION_2 : MARK));
      if (version < VERSION) database.exec(`${FROM_VERSION_3} PRAGMA user_version = ${VERSION}`);
      // The log says from now on beside which file it is.
      database.prepare('UPDATE mark SET in_file = ? WHERE in_file < ?').run(inFile, inFile);
    });
  });
}

/** Opens the tables of a file that cannot be used as far as they can be read, else empty ones. */
export function openReadOnlyTables(file: string): DatabaseSyncInstance {
  try {
    const database = openReadOnly(file);
    if (readVersion(database) === VERSION) return database;
    database.close();
  } catch {
    // There is no file yet, or it is damaged.
  }
  return openTables(':memory:');
}
