// The tables of the SQLite ledger and their migrations.
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { makePrivate } from '../private-file.ts';

/** Counts up whenever the tables change; stored in the file as user_version. */
const VERSION = 2;

const TABLES = `
  CREATE TABLE batch (
    principal TEXT NOT NULL,
    batch_id TEXT NOT NULL,
    label TEXT,
    model TEXT NOT NULL,
    submitted_at INTEGER NOT NULL,
    item_count INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    input_hash TEXT NOT NULL,
    only_task_id TEXT,
    PRIMARY KEY (principal, batch_id)
  ) WITHOUT ROWID;
  CREATE INDEX batch_newest ON batch (principal, submitted_at DESC, batch_id DESC);
  CREATE INDEX batch_input ON batch (principal, input_hash);
  CREATE INDEX batch_only_task ON batch (principal, only_task_id) WHERE only_task_id IS NOT NULL;
  CREATE TABLE item (
    principal TEXT NOT NULL,
    batch_id TEXT NOT NULL,
    input_index INTEGER NOT NULL,
    name TEXT,
    chains TEXT NOT NULL,
    PRIMARY KEY (principal, batch_id, input_index)
  ) WITHOUT ROWID;
  CREATE TABLE idempotency (
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'submitted', 'unknown')),
    batch_id TEXT,
    upstream_request_id TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
  ) WITHOUT ROWID;
  CREATE TABLE unknown_outcome (
    principal TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    upstream_request_id TEXT,
    at INTEGER NOT NULL
  );
  CREATE INDEX unknown_outcome_input ON unknown_outcome (principal, input_hash);
  CREATE TABLE score (
    principal TEXT NOT NULL,
    task_id TEXT NOT NULL,
    ptm REAL,
    iptm REAL,
    mean_plddt REAL,
    PRIMARY KEY (principal, task_id)
  ) WITHOUT ROWID;
`;

/** Since version 2: at most one row. */
const SEALED_KEY = `
  CREATE TABLE sealed_key (id INTEGER PRIMARY KEY CHECK (id = 1), sealed TEXT NOT NULL);
`;

/** Opens or creates the database. WAL, synchronised at commit: a spent key survives a power cut. */
export function openTables(file: string): DatabaseSyncInstance {
  makePrivate(file);
  const database = new DatabaseSync(file);
  database.exec('PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('BEGIN IMMEDIATE');
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version > VERSION) {
    database.exec('ROLLBACK');
    database.close();
    throw new Error(
      `The ledger in ${file} was made by a newer gateway (version ${version}; this one knows ${VERSION}).`,
    );
  }
  if (version === 0) database.exec(TABLES);
  if (version < 2) database.exec(SEALED_KEY);
  database.exec(`PRAGMA user_version = ${VERSION}`);
  database.exec('COMMIT');
  return database;
}
