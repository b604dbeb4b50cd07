// Stands in for src/store/sqlite.ts in the bundle: the same SQLite, whose writes are effects of a
// process that may end at any of them.

import type { RedisPlatform } from '../../src/store/redis-connection.ts';
import * as real from '../../src/store/sqlite.ts';
import type { Effects } from './service.ts';
import type { Life } from './virtual-time.ts';

export type { DatabaseSyncInstance, StatementSyncInstance } from '../../src/store/sqlite.ts';

/** A process that opens databases. */
export interface DiskUser extends Life, Effects {
  /** Is called when everything that was written has reached the disk. */
  onSync(): void;
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

export function openSqlite(...given: Parameters<typeof real.openSqlite>): real.DatabaseSyncInstance {
  const database = real.openSqlite(...given);
  const user = opener;
  if (user === undefined) return database;
  const { exec, prepare, close } = database;
  const end = () => close.call(database);
  user.open.add(end);
  let isSynced = false;
  const live = () => {
    if (user.isOver) throw new Error('this process has ended');
  };
  /** A write that is done by itself or with its transaction. */
  function effect<T>(write: () => T): T {
    user?.pass();
    const result = write();
    if (isSynced) user?.onSync();
    user?.pass();
    return result;
  }
  const methods = {
    exec(sql: string) {
      if (/synchronous = /.test(sql)) isSynced = /synchronous = FULL/.test(sql);
      // An open transaction is undone also where the process has ended, as by the next one that
      // opens the file.
      if (sql !== 'ROLLBACK') live();
      return sql === 'COMMIT' ? effect(() => exec.call(database, sql)) : exec.call(database, sql);
    },
    prepare(sql: string) {
      live();
      const statement = prepare.call(database, sql);
      const { run, get, all } = statement;
      const wrapped: Pick<real.StatementSyncInstance, 'run' | 'get' | 'all'> = {
        run(...values) {
          live();
          const write = () => run.apply(statement, values);
          return database.isTransaction ? write() : effect(write);
        },
        get(...values) {
          live();
          return get.apply(statement, values);
        },
        all(...values) {
          live();
          return all.apply(statement, values);
        },
      };
      for (const [name, value] of Object.entries(wrapped)) Object.defineProperty(statement, name, { value });
      return statement;
    },
    close() {
      live();
      user.open.delete(end);
      end();
    },
  };
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(database, name, { value });
  return database;
}
