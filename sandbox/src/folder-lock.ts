// One sandbox a data folder: two would run every task twice.
import { join } from 'node:path';
import { makePrivate } from './private-file.ts';
import { openSqlite } from './sqlite.ts';

/**
 * Takes the folder (made when missing) for this process. The lock is SQLite's on an empty file, so
 * the system drops it when the process ends, however it ends.
 *
 * @returns gives the folder back
 * @throws Error when another running sandbox has it
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, 'lock.db');
  makePrivate(file);
  const lock = openSqlite(file);
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    throw new Error(
      `another running sandbox uses the folder ${folder}; end it or choose another SANDBOX_DATA`,
    );
  }
  return () => lock.close();
}
