// The witness of a ledger in SQLite: a second file beside it that says which ledger it was and how
// new. A file that is removed, or an older copy put in its place, is noticed also after a restart.
import * as z from 'zod';
import { createSqliteStore, openDatabase, type SqliteStore } from '../sqlite-file.ts';
import type { Witness } from './mark.ts';

/** An open witness. */
export interface WitnessFile extends Pick<SqliteStore, 'fault' | 'endDiskFault'> {
  /** Null where none was written. */
  read(): Witness | null;
  /** Writes it to the disk. @throws Error when the disk takes nothing */
  write(witness: Witness): void;
  /** Makes the ledger older than its witness, and so lost until that is accepted. */
  writeLoss(): void;
  close(): void;
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS witness (
    row INTEGER PRIMARY KEY CHECK (row = 1),
    id TEXT NOT NULL,
    newest INTEGER NOT NULL
  ) STRICT;
`;

const witnessRow = z.object({ id: z.string(), newest: z.number() });

/** Opens the witness of a ledger. @param file - of the ledger */
export function openWitness(file: string): WitnessFile {
  const sql = createSqliteStore(
    openDatabase(`${file}-newest`, { busyMs: 10_000, synchronous: 'FULL' }, (database) =>
      database.exec(TABLES),
    ),
  );
  const read = (): Witness | null => {
    const row = sql.get('SELECT id, newest FROM witness');
    return row === undefined ? null : witnessRow.parse(row);
  };
  return {
    get fault() {
      return sql.fault;
    },
    endDiskFault: sql.endDiskFault,
    read,
    write({ id, newest }) {
      const before = read();
      if (before?.id === id && before.newest >= newest && sql.fault === undefined) return;
      sql.run('INSERT OR REPLACE INTO witness VALUES (1, ?, ?)', id, newest);
    },
    writeLoss() {
      try {
        sql.run('UPDATE witness SET newest = ?', Number.MAX_SAFE_INTEGER);
      } catch {
        // The witness cannot be written either: this gateway refuses, the next one looks anew.
      }
    },
    close: sql.close,
  };
}
