// The witness of a ledger in SQLite: a file beside it that says which ledger it was and how new. A
// ledger that is removed, or an older copy put in its place, is noticed also after a restart. It
// has one line, written in place: unlike a database, it needs no log, which could be lost alone.
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  constants as fs,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import * as z from 'zod';
import { isDiskError, makePrivateFolder, restrict } from '../sqlite-file.ts';
import { UnwritableDiskError } from '../unusable-store.ts';
import type { Witness } from './mark.ts';

/** An open witness. Processes that share a ledger read and write it under the ledger's lock. */
export interface WitnessFile {
  /** Stays until a write succeeds. */
  readonly fault: UnwritableDiskError | undefined;
  /** Null where none was written. */
  read(): Witness | null;
  /**
   * Writes it.
   *
   * @param isDurable - whether a power cut must not take it back
   * @throws UnwritableDiskError
   */
  write(witness: Witness, isDurable?: boolean): void;
  /**
   * Makes the ledger older than its witness, and so lost until that is accepted.
   *
   * @param id - of the mark, where no witness says it
   */
  writeLoss(id?: string): void;
  close(): void;
}

/** Longer than any witness: each is written over the one before. */
const BYTES = 128;

const witnessText = z.object({ id: z.string(), newest: z.number() });

/** The file of the witness. @param file - of the ledger */
export const witnessFile = (file: string): string => `${file}-newest`;

/** The file of the secret that a gateway makes. @param file - of the ledger */
export const secretFile = (file: string): string => `${file}.secret`;

const isEmpty = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;

/**
 * Whether a ledger was here: its tables are made before its secret, and before anything is logged.
 */
const isGone = (file: string): boolean =>
  isEmpty(file) && (existsSync(secretFile(file)) || !isEmpty(`${file}-wal`));

/** Opens the file, made where it is missing. @throws UnwritableDiskError, or Error that names it */
function openFile(path: string): number {
  try {
    makePrivateFolder(path);
    const descriptor = openSync(path, fs.O_RDWR | fs.O_CREAT, 0o600);
    restrict(path);
    return descriptor;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const failure = new Error(`The file ${path} cannot be opened: ${reason}`, { cause: error });
    throw isDiskError(error) ? new UnwritableDiskError(failure, true) : failure;
  }
}

/**
 * Opens the witness of a ledger, and writes one where only other files of a ledger are left.
 *
 * @param file - of the ledger, before it is made
 * @throws UnwritableDiskError, or another Error that names the file
 */
export function openWitness(file: string): WitnessFile {
  const descriptor = openFile(witnessFile(file));
  let fault: UnwritableDiskError | undefined;

  function read(): Witness | null {
    const bytes = Buffer.alloc(BYTES);
    const length = readSync(descriptor, bytes, 0, BYTES, 0);
    try {
      return witnessText.parse(JSON.parse(bytes.toString('utf8', 0, length)));
    } catch {
      // It is empty, or not whole after a power cut.
      return null;
    }
  }
  function write({ id, newest }: Witness, isDurable = true): void {
    const before = read();
    const isKnown = before?.id === id && before.newest >= newest && fault === undefined;
    try {
      if (!isKnown) writeSync(descriptor, `${JSON.stringify({ id, newest })}\n`.padStart(BYTES), 0);
      if (!isDurable) return;
      // A newer one may be that of another process, which did not wait for the disk.
      fdatasyncSync(descriptor);
      fault = undefined;
    } catch (error) {
      if (!isDiskError(error)) throw error;
      fault = new UnwritableDiskError(error);
      throw fault;
    }
  }

  if (isGone(file) && read() === null) write({ id: randomUUID(), newest: 0 });
  return {
    get fault() {
      return fault;
    },
    read,
    write,
    writeLoss(id = read()?.id) {
      try {
        if (id !== undefined) write({ id, newest: Number.MAX_SAFE_INTEGER });
      } catch {
        // The witness cannot be written either: this gateway refuses, the next one looks anew.
      }
    },
    close: () => closeSync(descriptor),
  };
}
