// The witness of a ledger in SQLite: a second file beside it that says which ledger it was and how
// new. A file that is removed, or an older copy put in its place, is noticed also after a restart.
import * as z from 'zod';
import { createSqliteStore, openDatabase } from '../sqlite-file.ts';
import type { Witness } from './mark.ts';

/** An open witness. */
export interface WitnessFile {
  /** Null where none was written. */
  read(): Witness | null;
  /** Writes it to the disk. @throws Error when the disk takes nothing */
  write(witness: Witness): void;
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
    read,
    write({ id, newest }) {
      const before = read();
      if (before?.id === id && before.newest >= newest) return;
      sql.run('INSERT OR REPLACE INTO witness VALUES (1, ?, ?)', id, newest);
    },
    close: sql.close,
  };
}
