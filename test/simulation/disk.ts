// The disk of one machine: files of SQLite for real. A process that ends in the middle has done
// what it has committed; after a power cut the files are as they were at the last sync.
import { existsSync, mkdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDocuments } from '../../src/store/documents.ts';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { type DiskUser, openedBy, openSqlite } from './sqlite.ts';
import { EPOCH } from './virtual-time.ts';

/** The ledger, its log, and the witness that says how new it is. */
const FILES = ['gateway.db', 'gateway.db-wal', 'gateway.db-newest'] as const;
type FileName = (typeof FILES)[number];
const [LEDGER, LOG, WITNESS] = FILES;
type Files = { readonly [file in FileName]?: Buffer | undefined };

/** Files with empty tables: making them takes longer than most histories. */
let template: Files | undefined;

export class Disk {
  readonly #folder: string;
  readonly url: string;
  /** Whether the state at the last sync is kept, for a power cut. */
  readonly #isSaved: boolean;
  readonly #processes = new Set<DiskUser>();
  #synced: Files = {};
  #copy: Buffer | undefined;

  /** @param folder - of all histories of this worker */
  constructor(folder: string, isSaved: boolean) {
    this.#folder = folder;
    this.#isSaved = isSaved;
    this.url = `sqlite:${this.#path(LEDGER)}`;
    mkdirSync(folder, { recursive: true });
    template ??= this.#makeTemplate();
    this.#write(template);
    this.save();
  }

  #makeTemplate(): Files {
    this.#write({});
    void openLedger(this.url, { current: 'template' }, { now: () => EPOCH }).close();
    void openDocuments(this.url, { now: () => EPOCH }).close();
    return this.#read();
  }
  #path(file: string): string {
    return join(this.#folder, file);
  }
  #remove(file: FileName): void {
    if (existsSync(this.#path(file))) unlinkSync(this.#path(file));
  }
  #read(): Files {
    const files: { [file in FileName]?: Buffer } = {};
    for (const file of FILES) if (existsSync(this.#path(file))) files[file] = readFileSync(this.#path(file));
    return files;
  }
  /** Makes each file anew: connections that wait to be collected lock the old ones. */
  #write(files: Files): void {
    for (const file of FILES) {
      this.#remove(file);
      const content = files[file];
      if (content !== undefined) writeFileSync(this.#path(file), content);
    }
  }

  open<T>(user: DiskUser, work: () => T): T {
    this.#processes.add(user);
    return openedBy(user, work);
  }
  /** Keeps the files as they would be after a power cut from now on. */
  save(): void {
    if (this.#isSaved) this.#synced = this.#read();
  }
  /** Closes what an ended process has open, without what SQLite does at the end. */
  end(user: DiskUser): void {
    this.#processes.delete(user);
    const isLast = ![...this.#processes].some(({ isOver }) => !isOver);
    const before = isLast ? this.#read() : {};
    for (const close of user.open) close();
    // Closing the last one has moved the log into the file, which the end of a process does not do.
    if (isLast) this.#write(before);
  }
  cutPower(): void {
    this.#write(this.#synced);
  }
  /** Copies the ledger as docs/operators.md says. @returns false where there is none */
  backUp(): boolean {
    if (!existsSync(this.#path(LEDGER))) return false;
    const copy = this.#path('copy.db');
    rmSync(copy, { force: true });
    const database = openSqlite(this.#path(LEDGER), { readOnly: true });
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
  /** Puts the copy back. @param isClean - without the log of before */
  restore(isClean: boolean): void {
    const { [LOG]: log, ...files } = this.#read();
    this.#write({ ...files, ...(isClean ? {} : { [LOG]: log }), [LEDGER]: this.#copy });
  }
  /** Replaces the file in the name of running gateways by an empty one, or removes it. */
  remove(): void {
    this.#remove(LEDGER);
    this.#remove(LOG);
  }
  removeWitness(): void {
    this.#remove(WITNESS);
  }
  /** Deletes the log that stands beside a copy which was put back. */
  removeLog(): void {
    this.#remove(LOG);
  }
  /** Ends what is open; the next history has other files. */
  close(): void {
    for (const user of this.#processes) {
      user.isOver = true;
      for (const close of user.open) close();
    }
  }
}
