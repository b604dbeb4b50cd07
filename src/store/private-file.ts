// Store files that only the gateway's user may read: databases hold labels, hashes and keys.
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;
/** SQLite keeps the write-ahead log and its index beside the database. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/** Removes the rights of other users, unless the file belongs to another user or is read-only. */
export function restrict(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & OTHERS) === 0) return;
  try {
    chmodSync(file, FILE_MODE);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'EPERM' || error.code === 'EROFS')))
      throw error;
  }
}

/** Makes the folder of a file where it is missing, readable by this user only. */
export const makePrivateFolder = (file: string): void => {
  mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
};

/**
 * Creates a database file that only this user may read and write, before SQLite opens it, or
 * restricts an existing one. The files that SQLite puts beside it get the same mode.
 *
 * @param file - a path, or `:memory:`
 */
export function makePrivate(file: string): void {
  if (file === ':memory:') return;
  makePrivateFolder(file);
  closeSync(openSync(file, 'a', FILE_MODE));
  for (const suffix of SUFFIXES) restrict(`${file}${suffix}`);
}
