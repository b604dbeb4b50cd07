// Opens every SQLite file of the sandbox.

import { makePrivate } from './private-file.ts';
import { type DatabaseSyncInstance, openSqlite } from './sqlite.ts';

/** An open database, as the parts of the sandbox hand it on. */
export type Database = DatabaseSyncInstance;

/**
 * Opens (and creates) a database: write-ahead log, so that a killed process leaves it whole; NORMAL
 * synchronisation, so that a commit survives the end of the process (not a power cut); ten seconds
 * of patience with another writer.
 *
 * @param file a path, whose folder is made when it is missing, or ':memory:'
 */
export function openDatabase(file: string): Database {
  makePrivate(file);
  const database = openSqlite(file);
  database.exec('PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  return database;
}
