// The tables of the SQLite ledger.

import * as z from 'zod';
import type { DatabaseSyncInstance } from '../sqlite.ts';
import { inTransaction, openDatabase, openReadOnly } from '../sqlite-file.ts';

/** Counts up when the tables change. */
const VERSION = 2;
const SCORES = `
  CREATE TABLE score (
    principal TEXT NOT NULL,
    task_id TEXT NOT NULL,
    ptm REAL,
    iptm REAL,
    mean_plddt REAL,
    chain_pairs TEXT NOT NULL,
    PRIMARY KEY (principal, task_id)
  ) WITHOUT ROWID;`;
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
  CREATE INDEX batch_age ON batch (submitted_at);
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
  CREATE INDEX idempotency_age ON idempotency (at);
  CREATE TABLE unknown_outcome (
    principal TEXT NOT NULL,
    input_hash TEXT NOT NULL,
    upstream_request_id TEXT,
    at INTEGER NOT NULL
  );
  CREATE INDEX unknown_outcome_input ON unknown_outcome (principal, input_hash);
  CREATE INDEX unknown_outcome_age ON unknown_outcome (at);
  ${SCORES}
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

const versionRow = z.object({ user_version: z.number() });

const readVersion = (database: DatabaseSyncInstance): number =>
  versionRow.parse(database.prepare('PRAGMA user_version').get()).user_version;

/** Opens or creates the database, synchronised at commit: a spent key survives a power cut. */
export function openTables(file: string): DatabaseSyncInstance {
  return openDatabase(file, { busyMs: 10_000, synchronous: 'FULL' }, (database) =>
    inTransaction(database, () => {
      const version = readVersion(database);
      if (version > VERSION)
        throw new Error(
          `it was made by a newer gateway (version ${version}; this one knows ${VERSION}). Start the newer ` +
            'one, or restore a backup from before the upgrade.',
        );
      if (version === VERSION) return;
      // Version 1 stored no scores of pairs of chains; its scores are read again from the results.
      database.exec(version === 1 ? `DROP TABLE score; ${SCORES}` : TABLES);
      database.exec(`PRAGMA user_version = ${VERSION}`);
    }),
  );
}

/** Opens the tables of a file whose disk takes nothing; empty ones in memory where it has none. */
export function openReadOnlyTables(file: string): DatabaseSyncInstance {
  try {
    const database = openReadOnly(file);
    if (readVersion(database) === VERSION) return database;
    database.close();
  } catch {
    // There is no file yet.
  }
  return openTables(':memory:');
}
