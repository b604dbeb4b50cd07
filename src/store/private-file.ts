// Files of a store that only the user of the gateway may read: databases hold labels, hashes and keys.
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;
/** SQLite keeps the write-ahead log and its index beside the database. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/** Takes the rights of other users away. A file that belongs to another user, or a read-only disk, stays as it is. */
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
 * Makes a database file that only this user may read and write, before SQLite opens it, or makes an existing one so. What SQLite puts
 * beside it gets the same mode.
 *
 * @param file - a path, or `:memory:`
 */
export function makePrivate(file: string): void {
  if (file === ':memory:') return;
  makePrivateFolder(file);
  closeSync(openSync(file, 'a', FILE_MODE));
  for (const suffix of SUFFIXES) restrict(`${file}${suffix}`);
}
