// Which keys the file of a cache may hold, without asking it: of what nobody has asked before nothing is there, and to find that out was a tenth of
// all that is done for such a query. Other processes write to the same file; what they wrote is known a moment later.
import { setImmediate as turn } from 'node:timers/promises';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { KeyFilter } from './key-filter.ts';

/** How often it is looked whether others have written. */
const LOOK_MS = 100;
/** What is written has its time a little before others see it. */
const OVERLAP_MS = 1_000;
/** Keys read at once: as many as others write while this process serves anybody. */
const SLICE = 2_000;
/** Keys after which the filter is made anew: by then most of them have been deleted. */
const MOST_ADDED = 1_500_000;

export interface SqliteKeys {
  /** A key that this process writes. */
  add(key: string): void;
  /** False for a key that is not there, or that another process has written in this moment; true for all until they are known. */
  mayHave(key: string): boolean;
  close(): void;
}

/**
 * Reads the keys of a file, and goes on with what others write.
 *
 * @param database - with the table `cache`, of which `key` and `written_at`, in milliseconds since the epoch, are looked at
 */
export function openSqliteKeys(database: DatabaseSyncInstance): SqliteKeys {
  const slice = database.prepare(`SELECT key FROM cache WHERE key > ? ORDER BY key LIMIT ${SLICE}`);
  const newer = database.prepare(`SELECT key FROM cache WHERE written_at >= ? LIMIT ${SLICE}`);
  const version = database.prepare('PRAGMA data_version');
  let known: KeyFilter | undefined;
  let coming: KeyFilter | undefined;
  let lookedAt = 0;
  let lookedVersion: unknown;
  let isOpen = true;

  const add = (key: string): void => {
    known?.add(key);
    coming?.add(key);
  };
  const read = async (): Promise<void> => {
    const filter = new KeyFilter();
    coming = filter;
    // What comes from now on is added by others, or found by the first look.
    await turn();
    const begun = Date.now();
    const before = version.get()?.data_version;
    for (let last = ''; isOpen; ) {
      const rows = slice.all(last);
      for (const { key } of rows) filter.add(String(key));
      if (rows.length < SLICE) break;
      last = String(rows.at(-1)?.key);
      await turn();
    }
    known = filter;
    coming = undefined;
    lookedAt = begun;
    lookedVersion = before;
  };
  const readAnew = (): void => {
    if (coming !== undefined) return;
    // Who asks the file next is told what is wrong with it.
    read().catch(() => {
      coming = undefined;
    });
  };
  /** Adds what others have written since it was looked last. */
  const look = (now: number): void => {
    const since = lookedAt - OVERLAP_MS;
    lookedAt = now;
    const current = version.get()?.data_version;
    if (current === lookedVersion) return;
    lookedVersion = current;
    const rows = newer.all(since);
    for (const { key } of rows) add(String(key));
    if (rows.length < SLICE) return;
    known = undefined;
    readAnew();
  };
  readAnew();

  return {
    add(key) {
      add(key);
      if (known !== undefined && known.added > MOST_ADDED) readAnew();
    },
    mayHave(key) {
      const now = Date.now();
      if (known !== undefined && now - lookedAt >= LOOK_MS) look(now);
      return known?.mayHave(key) !== false;
    },
    close() {
      isOpen = false;
    },
  };
}
