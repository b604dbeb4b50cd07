// The disk of one machine: files of SQLite for real. A process that ends in the middle has done
// what it has committed; after a power cut the files are as they were at the last sync.
import { existsSync, mkdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDocuments } from '../../src/store/documents.ts';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { type DiskUser, openSqlite } from './sqlite.ts';
import { EPOCH } from './virtual-time.ts';

/** The ledger, its log, and the witness that says how new it is. */
const FILES = { ledger: 'gateway.db', log: 'gateway.db-wal', witness: 'gateway.db-newest' } as const;
type FileName = keyof typeof FILES;
const FILE_NAMES = Object.keys(FILES) as FileName[];
type Files = { readonly [file in FileName]?: Buffer | undefined };

/** Files with empty tables: making them takes longer than most histories. */
let template: Files | undefined;

export class Disk {
  readonly #folder: string;
  readonly url: string;
  /** How many power cuts are to come: for them the state at the last sync is kept. */
  #powerCuts: number;
  #synced: Files = {};
  #copy: Buffer | undefined;

  /** @param folder - of all histories of this thread */
  constructor(folder: string, powerCuts: number) {
    this.#folder = folder;
    this.#powerCuts = powerCuts;
    this.url = `sqlite:${this.#path('ledger')}`;
    mkdirSync(folder, { recursive: true });
    if (template === undefined) {
      this.remove(...FILE_NAMES);
      void openLedger(this.url, { current: 'template' }, { now: () => EPOCH }).close();
      void openDocuments(this.url, { now: () => EPOCH }).close();
      template = this.#read();
    }
    this.#write(template);
    this.save();
  }

  #path(file: FileName): string {
    return join(this.#folder, FILES[file]);
  }
  #read(files: readonly FileName[] = FILE_NAMES): Files {
    const present = files.filter((file) => existsSync(this.#path(file)));
    return Object.fromEntries(present.map((file) => [file, readFileSync(this.#path(file))]));
  }
  /** Makes each file anew: connections that wait to be collected lock the old ones. */
  #write(files: Files): void {
    this.remove(...FILE_NAMES);
    for (const file of FILE_NAMES) if (files[file]) writeFileSync(this.#path(file), files[file]);
  }
  /** Removes files in the name of running gateways. */
  remove(...files: readonly FileName[]): void {
    for (const file of files) if (existsSync(this.#path(file))) unlinkSync(this.#path(file));
  }

  /** Keeps files as they would be after a power cut from now on; all of them when absent. */
  save(files?: readonly FileName[]): void {
    if (this.#powerCuts === 0) return;
    const others = FILE_NAMES.filter((file) => files?.includes(file) === false);
    const kept = others.map((file) => [file, this.#synced[file]] as const);
    this.#synced = { ...Object.fromEntries(kept), ...this.#read(files) };
  }
  /** Closes what an ended process has open, without what SQLite does at the end. */
  end(user: DiskUser, isLast: boolean): void {
    const before = isLast ? this.#read() : {};
    for (const close of user.open) close();
    // Closing the last one has moved the log into the file, which the end of a process does not do.
    if (isLast) this.#write(before);
  }
  cutPower(): void {
    this.#write(this.#synced);
    this.#powerCuts -= 1;
  }
  /** Copies the ledger as docs/operators.md says. @returns false where there is none */
  backUp(): boolean {
    if (!this.hasLedger()) return false;
    const copy = join(this.#folder, 'copy.db');
    rmSync(copy, { force: true });
    const database = openSqlite(this.#path('ledger'), { readOnly: true });
    try {
      database.exec(`VACUUM INTO '${copy}'`);
    } catch {
      // It is damaged: a copy was put beside the log of another one. The copy of before stays.
      return false;
    } finally {
      database.close();
    }
    this.#copy = readFileSync(copy);
    return true;
  }
  hasLedger(): boolean {
    return existsSync(this.#path('ledger'));
  }
  /** The idempotency keys that the ledger has with its log; none where it cannot be read. */
  readKeys(): ReadonlySet<unknown> {
    if (!this.hasLedger()) return new Set();
    try {
      const database = openSqlite(this.#path('ledger'), { readOnly: true });
      try {
        const rows = database.prepare("SELECT id FROM entry WHERE kind = 'key'").all();
        return new Set(rows.map(({ id }) => id));
      } finally {
        database.close();
      }
    } catch {
      return new Set();
    }
  }
  /** Puts the copy back. @param isClean - without the log of before */
  restore(isClean: boolean): void {
    const { log, ...files } = this.#read();
    this.#write({ ...files, log: isClean ? undefined : log, ledger: this.#copy });
  }
}
