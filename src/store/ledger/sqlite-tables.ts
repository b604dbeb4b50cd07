// The tables of the SQLite ledger, and how a file of an earlier version gets those of today.

import { z } from 'zod';
import type { DatabaseSyncInstance } from '../sqlite.ts';
import { inTransaction, openDatabase, openReadOnly } from '../sqlite-file.ts';

/** What each version added to the tables of the one before it; the file says how many it has. */
const VERSIONS = [
  `
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
`,
  // At most one row, of before version 1.0 (sealed-key.ts).
  `
  CREATE TABLE sealed_key (id INTEGER PRIMARY KEY CHECK (id = 1), sealed TEXT NOT NULL);
`,
  `
  ALTER TABLE batch ADD COLUMN origin_batch_id TEXT;
  ALTER TABLE batch ADD COLUMN origin TEXT;
  CREATE INDEX batch_origin ON batch (principal, origin_batch_id) WHERE origin_batch_id IS NOT NULL;
`,
  // One row: the mark (mark.ts), the newest time at which something was written, and up to when what is
  // past its time was deleted.
  `
  CREATE TABLE mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    text TEXT,
    newest INTEGER NOT NULL DEFAULT 0,
    pruned_to INTEGER
  );
  INSERT INTO mark (id) VALUES (1);
`,
];

/** For the deletion of old rows. No version of its own: gateways that do not know them may use the file. */
const INDEXES = `
  CREATE INDEX IF NOT EXISTS batch_age ON batch (submitted_at);
  CREATE INDEX IF NOT EXISTS idempotency_age ON idempotency (at);
  CREATE INDEX IF NOT EXISTS unknown_outcome_age ON unknown_outcome (at);
`;

const versionRow = z.object({ user_version: z.number() });

const readVersion = (database: DatabaseSyncInstance): number =>
  versionRow.parse(database.prepare('PRAGMA user_version').get()).user_version;

/** Opens or creates the database, synchronised at commit: a spent key survives a power cut. */
export function openTables(file: string): DatabaseSyncInstance {
  return openDatabase(file, { busyMs: 10_000, synchronous: 'FULL' }, (database) =>
    inTransaction(database, () => {
      const version = readVersion(database);
      if (version > VERSIONS.length)
        throw new Error(
          `it was made by a newer gateway (version ${version}; this one knows ${VERSIONS.length}). Start ` +
            'the newer one, or restore a backup from before the upgrade.',
        );
      for (const added of VERSIONS.slice(version)) database.exec(added);
      database.exec(INDEXES);
      database.exec(`PRAGMA user_version = ${VERSIONS.length}`);
    }),
  );
}

/**
 * Opens the tables of a file whose disk takes nothing; empty ones in memory where it has none, or those
 * of an earlier version.
 */
export function openReadOnlyTables(file: string): DatabaseSyncInstance {
  try {
    const database = openReadOnly(file);
    if (readVersion(database) === VERSIONS.length) return database;
    database.close();
  } catch {
    // There is no file yet.
  }
  return openTables(':memory:');
}
