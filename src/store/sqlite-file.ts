// SQLite databases, in files that only the gateway's user may read: they hold labels, hashes and
// keys.
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { OperationalError } from '../async/operational-error.ts';
import { type DatabaseSyncInstance, openSqlite, type StatementSyncInstance } from './sqlite.ts';
import { DamagedStoreError, UnusableStoreError, UnwritableDiskError } from './unusable-store.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;
/** SQLite keeps the write-ahead log and its index beside the database. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/** The file of a store URL such as `sqlite:.data/gateway.db`; undefined for a store elsewhere. */
export const sqlitePath = (storeUrl: string): string | undefined => /^sqlite:(.+)$/.exec(storeUrl)?.[1];

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

/**
 * Makes the folder of a file where it is missing, readable by this user only. Not with `recursive`,
 * which on Node 20 never ends below a folder that takes none, such as `/proc`.
 */
export function makePrivateFolder(file: string): void {
  const folder = dirname(file);
  if (existsSync(folder)) return;
  makePrivateFolder(folder);
  try {
    mkdirSync(folder, { mode: FOLDER_MODE });
  } catch (error) {
    // Another process may have made it.
    if (!existsSync(folder)) throw error;
  }
}

/**
 * Creates a file where there is none. One that is there is not opened: to close it would free the
 * locks that SQLite holds on it for this process, and another process would delete its log.
 */
function createFile(file: string): void {
  if (existsSync(file)) accessSync(file, constants.W_OK);
  else closeSync(openSync(file, 'a', FILE_MODE));
}

/** Error codes for a disk that is full or read-only. */
const DISK_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EROFS', 'EDQUOT', 'EFBIG', 'EIO']);
/** Primary result codes of SQLite; extended ones end with these. */
const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
/** READONLY, IOERR, FULL, CANTOPEN. */
const SQLITE_DISK_CODES: ReadonlySet<number | undefined> = new Set([8, 10, 13, 14]);

const sqliteCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined;

/** Whether a disk is full, read-only or broken. */
export const isDiskError = (error: unknown): boolean =>
  SQLITE_DISK_CODES.has(sqliteCode(error)) ||
  (error instanceof Error && 'code' in error && DISK_CODES.has(error.code));

/** Whether pages of a database do not fit together, or it is none. */
export const isDamage = (error: unknown): boolean =>
  sqliteCode(error) === SQLITE_CORRUPT || sqliteCode(error) === SQLITE_NOTADB;

/** Another process holds the database. */
export class BusyStoreError extends OperationalError {
  constructor(cause: unknown) {
    super(
      'Another process holds the SQLite database of the store. A gateway waits 10 s for it: look for a backup, a shell ' +
        'of sqlite3 or a gateway that hangs in a transaction.',
      { cause },
    );
  }
}

/** The failure of a statement on an open database, as the state of the store that it shows. */
export function toStoreFailure(error: unknown): unknown {
  if (isDiskError(error)) return new UnwritableDiskError(error);
  const code = sqliteCode(error);
  if (code === SQLITE_BUSY || code === SQLITE_LOCKED) return new BusyStoreError(error);
  // Every statement was right when the database was opened, so its tables are gone since.
  const isDamaged = isDamage(error) || code === SQLITE_ERROR;
  return isDamaged && error instanceof Error ? new DamagedStoreError(error.message, error) : error;
}

/**
 * Opens a database with a write-ahead log. Its file, created first where it is missing, and the
 * files that SQLite puts beside it are for this user only.
 *
 * @param file - a path, or `:memory:`
 * @param options.busyMs - how long a statement waits for another process
 * @param options.synchronous - what a commit waits for: FULL survives a power cut
 * @param makeTables - what is made in it where it is missing
 * @throws UnwritableDiskError, DamagedStoreError, or another Error that names the file
 */
export function openDatabase(
  file: string,
  { busyMs, synchronous }: { readonly busyMs: number; readonly synchronous: 'FULL' | 'NORMAL' | 'OFF' },
  makeTables: (database: DatabaseSyncInstance) => void = () => undefined,
): DatabaseSyncInstance {
  let database: DatabaseSyncInstance | undefined;
  try {
    if (file !== ':memory:') {
      makePrivateFolder(file);
      createFile(file);
      for (const suffix of SUFFIXES) restrict(`${file}${suffix}`);
    }
    database = openSqlite(file);
    database.exec(
      `PRAGMA busy_timeout = ${busyMs}; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`,
    );
    makeTables(database);
    return database;
  } catch (error) {
    database?.close();
    // SQLite says what is wrong, not where.
    const reason = error instanceof Error ? error.message : String(error);
    const failure = new Error(`The database ${file} cannot be opened: ${reason}`, { cause: error });
    if (isDiskError(error)) throw new UnwritableDiskError(failure, true);
    if (isDamage(error)) throw new DamagedStoreError(reason, failure);
    throw error instanceof DamagedStoreError ? new DamagedStoreError(error.damage, failure) : failure;
  }
}

/** Opens a store in a file, or in memory where the file cannot be used. */
export function orInMemory<T>(file: string, makeStore: (file: string) => T): T {
  try {
    return makeStore(file);
  } catch (error) {
    if (error instanceof UnusableStoreError) return makeStore(':memory:');
    throw error;
  }
}

/**
 * Opens a file on a read-only or full disk, as it was when it was last closed.
 *
 * @throws Error when it is no database
 */
export const openReadOnly = (file: string): DatabaseSyncInstance =>
  openSqlite(`${pathToFileURL(file)}?immutable=1`, { readOnly: true });

/** Runs work in one transaction, which other processes wait for. */
export function inTransaction<T>(database: DatabaseSyncInstance, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // Some faults (a full disk) end the transaction by themselves.
    }
    throw error;
  }
}

const RETRY_MS = 50;
const MAX_WAIT_MS = 10_000;

type SqlValue = string | number | null;

/**
 * Reads and writes of an open database. Each statement is prepared once. A failure of the disk or
 * of the database is thrown as UnusableStoreError, and is the state of the store from then on.
 */
export interface SqliteStore {
  /** Damage stays; that a disk takes nothing stays until `endDiskFault`. */
  readonly fault: UnusableStoreError | undefined;
  /** Says that the disk takes something again. */
  endDiskFault(): void;
  /** The first row; undefined when there is none. */
  get(sql: string, ...values: SqlValue[]): unknown;
  all(sql: string, ...values: SqlValue[]): unknown[];
  /** Runs a statement. @returns how many rows it changed */
  run(sql: string, ...values: SqlValue[]): number;
  /**
   * Runs work in one transaction. While another process holds the database, the event loop goes on
   * and the work is tried again.
   *
   * @param isDurable - whether a power cut must not take it back, also where the database is open
   *   with another `synchronous` than FULL
   * @throws what the work or the commit throws; BusyStoreError when the database stays busy for
   *   10 s
   */
  write<T>(work: () => T, isDurable?: boolean): Promise<T>;
  /** Moves the write-ahead log into the file, as far as no other process needs it. */
  checkpoint(): void;
  /** Does the same, and closes the database. */
  close(): void;
}

export function createSqliteStore(database: DatabaseSyncInstance): SqliteStore {
  const statements = new Map<string, StatementSyncInstance>();
  // Waiting inside SQLite would stop the event loop.
  database.exec('PRAGMA busy_timeout = 0');

  let fault: UnusableStoreError | undefined;

  function attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      const failure = toStoreFailure(error);
      if (failure instanceof UnusableStoreError && !(fault instanceof DamagedStoreError)) fault = failure;
      throw failure;
    }
  }
  function prepared(sql: string): StatementSyncInstance {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  }

  function writeDurably<T>(work: () => T): T {
    database.exec('PRAGMA synchronous = FULL');
    try {
      return inTransaction(database, work);
    } finally {
      database.exec('PRAGMA synchronous = NORMAL');
    }
  }

  function checkpoint(): void {
    try {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // A full disk: the next start reads the log beside the file.
    }
  }

  return {
    get fault() {
      return fault;
    },
    get: (sql, ...values) => attempt(() => prepared(sql).get(...values)),
    all: (sql, ...values) => attempt(() => prepared(sql).all(...values)),
    run: (sql, ...values) => attempt(() => Number(prepared(sql).run(...values).changes)),
    endDiskFault() {
      if (fault instanceof UnwritableDiskError) fault = undefined;
    },
    async write(work, isDurable = false) {
      const until = performance.now() + MAX_WAIT_MS;
      for (;;) {
        try {
          return attempt(() => (isDurable ? writeDurably(work) : inTransaction(database, work)));
        } catch (error) {
          if (!(error instanceof BusyStoreError) || performance.now() >= until) throw error;
        }
        await sleep(RETRY_MS);
      }
    },
    checkpoint,
    close() {
      checkpoint();
      database.close();
    },
  };
}
