// Files of the sandbox that only its user may read. The same as the gateway does for its store; the
// sandbox shares no code with it.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;
/** SQLite keeps the write-ahead log and its index beside the database. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/**
 * Takes the rights of other users away. A file that belongs to another user, or a read-only disk,
 * stays as it is.
 */
function restrict(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & OTHERS) === 0) return;
  try {
    chmodSync(file, FILE_MODE);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'EPERM' || error.code === 'EROFS')))
      throw error;
  }
}

/**
 * Makes a folder where it is missing. Not with `recursive`, which on Node 20 never ends below
 * `/proc` and its like.
 */
function makePrivateFolder(folder: string): void {
  if (existsSync(folder)) return;
  makePrivateFolder(dirname(folder));
  mkdirSync(folder, { mode: FOLDER_MODE });
}

/**
 * Makes a database file that only this user may read and write, before SQLite opens it, or makes an
 * existing one so. What SQLite puts beside it gets the same mode.
 *
 * @param file - a path, or `:memory:`
 */
export function makePrivate(file: string): void {
  if (file === ':memory:') return;
  makePrivateFolder(dirname(file));
  closeSync(openSync(file, 'a', FILE_MODE));
  for (const suffix of SUFFIXES) restrict(`${file}${suffix}`);
}
