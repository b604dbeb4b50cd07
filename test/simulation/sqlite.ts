// Stands in for src/store/sqlite.ts in the bundle: the same SQLite, whose writes are effects of a
// process that may end at any of them.

import { pathToFileURL } from 'node:url';
import type { RedisPlatform } from '../../src/store/redis-connection.ts';
import * as real from '../../src/store/sqlite.ts';
import type { Effects } from './service.ts';
import type { Life } from './virtual-time.ts';

export type { DatabaseSyncInstance, StatementSyncInstance } from '../../src/store/sqlite.ts';

/** A process that opens databases. */
export interface DiskUser extends Life, Effects {
  /** Is called when what was written to these files has reached the disk. */
  onSync(files: readonly ('ledger' | 'log' | 'witness')[]): void;
  /** Closes what is open, without a look at the process. */
  readonly open: Set<() => void>;
  /** With what it connects to Redis. */
  redis?: RedisPlatform;
}

let opener: DiskUser | undefined;

export const presentOpener = (): DiskUser | undefined => opener;

/** Opens what `work` opens for a process. */
export function openedBy<T>(user: DiskUser, work: () => T): T {
  opener = user;
  try {
    return work();
  } finally {
    opener = undefined;
  }
}

/**
 * Every process of a history lives in this one, so that a file needs locks only against itself:
 * this kind of SQLite holds one lock for all its connections, and their index in memory.
 */
const shared = (file: string): string =>
  file === ':memory:' || file.startsWith('file:') ? file : `${pathToFileURL(file)}?vfs=unix-excl`;

/** A statement of a process. */
class Statement {
  readonly #database: Database;
  readonly #real: real.StatementSyncInstance;
  constructor(database: Database, statement: real.StatementSyncInstance) {
    this.#database = database;
    this.#real = statement;
  }
  run(...values: Parameters<real.StatementSyncInstance['run']>) {
    return this.#database.write(() => this.#real.run(...values));
  }
  get(...values: Parameters<real.StatementSyncInstance['get']>) {
    this.#database.live();
    return this.#real.get(...values);
  }
  all(...values: Parameters<real.StatementSyncInstance['all']>) {
    this.#database.live();
    return this.#real.all(...values);
  }
}

/** A database that a process has open. */
class Database {
  readonly #user: DiskUser;
  readonly #real: real.DatabaseSyncInstance;
  readonly #end: () => void;
  #isSynced = false;
  constructor(user: DiskUser, database: real.DatabaseSyncInstance) {
    this.#user = user;
    this.#real = database;
    this.#end = () => database.close();
    user.open.add(this.#end);
  }
  live(): void {
    if (this.#user.isOver) throw new Error('this process has ended');
  }
  #effect<T>(write: () => T): T {
    this.#user.pass();
    const result = write();
    if (this.#isSynced) this.#user.onSync(['ledger', 'log']);
    this.#user.pass();
    return result;
  }
  /** A write is done by itself, or with its transaction. */
  write<T>(write: () => T): T {
    this.live();
    return this.#real.isTransaction ? write() : this.#effect(write);
  }
  exec(sql: string): void {
    if (sql.includes('synchronous = ')) this.#isSynced = sql.includes('synchronous = FULL');
    // An open transaction is undone also where the process has ended, as by the next one that
    // opens the file.
    if (sql !== 'ROLLBACK') this.live();
    if (sql === 'COMMIT') this.#effect(() => this.#real.exec(sql));
    else this.#real.exec(sql);
  }
  prepare(sql: string): Statement {
    this.live();
    return new Statement(this, this.#real.prepare(sql));
  }
  close(): void {
    this.live();
    this.#user.open.delete(this.#end);
    this.#end();
  }
}

export function openSqlite(...[file, options]: Parameters<typeof real.openSqlite>): Pick<
  real.DatabaseSyncInstance,
  'exec' | 'close'
> & {
  prepare(sql: string): Pick<real.StatementSyncInstance, 'all'>;
} {
  const database = real.openSqlite(shared(file), options);
  return opener === undefined ? database : new Database(opener, database);
}
