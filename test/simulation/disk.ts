// The disk of one machine: files of SQLite for real. A process that ends in the middle has done
// what it has committed; after a power cut the files are as they were at the last sync.
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDocuments } from '../../src/store/documents.ts';
import { openLedger } from '../../src/store/ledger/open-ledger.ts';
import { type DiskUser, openedBy, openSqlite } from './sqlite.ts';
import { EPOCH } from './virtual-time.ts';

const NAME = 'gateway.db';
/** The ledger, its log, and the file beside it that says how new it is. */
const FILES = ['', '-wal', '-newest', '-newest-wal'].map((end) => `${NAME}${end}`);
const INDEXES = ['-shm', '-newest-shm'].map((end) => `${NAME}${end}`);

/** Files with empty tables: making them takes longer than most histories. */
function makeTemplate(folder: string): string {
  const template = join(folder, 'template');
  if (existsSync(template)) return template;
  mkdirSync(template, { recursive: true });
  const url = `sqlite:${join(template, NAME)}`;
  void openLedger(url, { current: 'template' }, { now: () => EPOCH }).close();
  void openDocuments(url, { now: () => EPOCH }).close();
  return template;
}

export class Disk {
  readonly #folder: string;
  readonly url: string;
  /** Whether the state at the last sync is kept, for a power cut. */
  readonly #isSaved: boolean;
  readonly #processes = new Set<DiskUser>();

  /** @param folder - of all histories of this worker */
  constructor(folder: string, isSaved: boolean) {
    const template = makeTemplate(folder);
    this.#folder = join(folder, 'history');
    this.#isSaved = isSaved;
    this.url = `sqlite:${join(this.#folder, NAME)}`;
    rmSync(this.#folder, { recursive: true, force: true });
    for (const part of ['', 'synced', 'aside', 'copy'])
      mkdirSync(join(this.#folder, part), { recursive: true });
    this.#copy(template, this.#folder);
    this.save();
  }

  #copy(from: string, to: string, files: readonly string[] = FILES): void {
    for (const file of files) {
      // A new file each time: connections that wait for the garbage collector have locks on the old
      // one.
      rmSync(join(to, file), { force: true });
      if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file));
    }
  }
  #path(part: string): string {
    return join(this.#folder, part);
  }
  #removeIndexes(): void {
    for (const file of INDEXES) rmSync(this.#path(file), { force: true });
  }

  open<T>(user: DiskUser, work: () => T): T {
    this.#processes.add(user);
    return openedBy(user, work);
  }
  /** Keeps the files as they would be after a power cut from now on. */
  save(): void {
    if (this.#isSaved) this.#copy(this.#folder, this.#path('synced'));
  }
  /** Closes what an ended process has open, without what SQLite does at the end. */
  end(user: DiskUser): void {
    this.#processes.delete(user);
    const isLast = ![...this.#processes].some(({ isOver }) => !isOver);
    if (isLast) this.#copy(this.#folder, this.#path('aside'));
    for (const close of user.open) close();
    if (!isLast) return;
    // Closing the last one has moved the log into the file, which the end of a process does not do.
    this.#copy(this.#path('aside'), this.#folder);
    this.#removeIndexes();
  }
  cutPower(): void {
    this.#copy(this.#path('synced'), this.#folder);
    this.#removeIndexes();
  }
  /** Copies the ledger as docs/operators.md says. @returns false where there is none */
  backUp(): boolean {
    if (!existsSync(this.#path(NAME))) return false;
    rmSync(this.#path(`copy/${NAME}`), { force: true });
    const database = openSqlite(this.#path(NAME), { readOnly: true });
    try {
      database.exec(`VACUUM INTO '${this.#path(`copy/${NAME}`)}'`);
    } catch {
      // It is damaged: a copy was put beside the log of another one.
      return false;
    } finally {
      database.close();
    }
    return true;
  }
  /** Puts the copy back. @param isClean - without the log of before */
  restore(isClean: boolean): void {
    rmSync(this.#path(NAME), { force: true });
    if (isClean) {
      rmSync(this.#path(`${NAME}-wal`), { force: true });
      this.#removeIndexes();
    }
    copyFileSync(this.#path(`copy/${NAME}`), this.#path(NAME));
  }
  /** Replaces the file in the name of running gateways by an empty one, or removes it. */
  remove(): void {
    for (const end of ['', '-wal', '-shm']) rmSync(this.#path(`${NAME}${end}`), { force: true });
  }
  removeWitness(): void {
    for (const end of ['', '-wal', '-shm']) rmSync(this.#path(`${NAME}-newest${end}`), { force: true });
  }
  /** Deletes the log that stands beside a copy which was put back. */
  removeLog(): void {
    rmSync(this.#path(`${NAME}-wal`), { force: true });
    this.#removeIndexes();
  }
  close(): void {
    for (const user of [...this.#processes]) {
      user.isOver = true;
      this.end(user);
    }
  }
}
