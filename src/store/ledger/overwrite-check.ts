// Notices a ledger file that was written over in place, as `cp` does, while its gateway runs.
// SQLite looks into its write-ahead log first and mixes the pages of both.
import { statSync } from 'node:fs';
import * as z from 'zod';
import type { DatabaseSyncInstance } from '../sqlite.ts';
import { openReadOnly } from '../sqlite-file.ts';
import { DamagedStoreError } from '../unusable-store.ts';
import { findLoss, readMarkText, type Witness } from './mark.ts';

const markRow = z.object({ text: z.string().nullable(), newest: z.number() });

/** The mark in the file alone, as the last checkpoint left it; null where it has none. */
export function readFileMark(file: string): z.output<typeof markRow> | null {
  let database: DatabaseSyncInstance | undefined;
  try {
    database = openReadOnly(file);
    return markRow.parse(database.prepare('SELECT text, newest FROM mark').get());
  } catch {
    return null;
  } finally {
    database?.close();
  }
}

/** @returns the damage of a file that has become older than it was, or another one */
export function createOverwriteCheck(file: string): () => DamagedStoreError | undefined {
  let readAt: bigint | undefined;
  let known: Witness | undefined;

  function isOverwritten(): boolean {
    const { text, newest } = readFileMark(file) ?? { text: null, newest: 0 };
    const mark = text === null ? null : readMarkText(text);
    if (known !== undefined && findLoss(mark, newest, known) !== undefined) return true;
    if (mark !== null) known = { id: mark.id, newest };
    return false;
  }
  return () => {
    const changedAt = statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
    // A file that is gone is another loss.
    if (changedAt === undefined || changedAt === readAt) return undefined;
    readAt = changedAt;
    // Another process may be writing its log into the file at the moment of one read.
    const isDamaged = isOverwritten() && isOverwritten();
    return isDamaged ? new DamagedStoreError('another file was written over it') : undefined;
  };
}
