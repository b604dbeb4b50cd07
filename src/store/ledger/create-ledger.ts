// The rules that every store of a ledger follows: a key is claimed only under the known mark
// (mark.ts), and each write moves the newest time of that mark. A store has the commands.
import type { KeyEntry, Ledger } from './ledger.ts';
import { createMarkCheck, type ExpectedMark, type MarkStore, replacedFileError } from './mark.ts';
import type { LedgerSecrets } from './principals.ts';

/** The commands of a store. */
export interface LedgerStore
  extends Omit<Ledger, 'check' | 'isLost' | 'accept' | 'claim' | 'record' | 'recordUnknown'>,
    MarkStore {
  /**
   * Claims a free key if the mark is as expected, atomically.
   *
   * @returns the time of the claim, or the entry of a key that is not free
   */
  claim(
    principal: string,
    key: string,
    requestHash: string,
    expected: ExpectedMark,
  ): Promise<number | KeyEntry | 'unexpected mark'>;
  /** @returns the time of the write */
  record(...what: Parameters<Ledger['record']>): Promise<number>;
  /** @returns the time of the write */
  recordUnknown(...what: Parameters<Ledger['recordUnknown']>): Promise<number>;
  /** Whether another file stands where that of this ledger was. */
  isReplaced?(): boolean;
  /** Opens the marks of that file. */
  openReplacement?(): MarkStore & { close(): void };
}

/** Creates a ledger over a store. */
export function createLedger(store: LedgerStore, secrets: LedgerSecrets): Ledger {
  const mark = createMarkCheck(secrets);
  const isReplaced = (): boolean => store.isReplaced?.() === true;

  async function check(): Promise<void> {
    if (!isReplaced()) return mark.check(store);
    // The new file is marked as well, for the gateways that start on it.
    const replacement = store.openReplacement?.();
    try {
      if (replacement !== undefined) await mark.check(replacement);
    } finally {
      replacement?.close();
    }
    throw replacedFileError();
  }

  async function tryClaim(...[principal, key, requestHash]: Parameters<Ledger['claim']>) {
    const claimed = await store.claim(principal, key, requestHash, mark.expected);
    if (typeof claimed !== 'number') return claimed;
    mark.addWrite(claimed);
    return null;
  }

  return {
    ...store,
    check,
    isLost: () => mark.isLost || isReplaced(),
    accept: () => mark.accept(store),
    async claim(...asked) {
      const claimed = await tryClaim(...asked);
      if (claimed !== 'unexpected mark') return claimed;
      await check();
      const again = await tryClaim(...asked);
      if (again === 'unexpected mark') throw new Error('The mark of the ledger is written again and again.');
      return again;
    },
    record: async (...what) => mark.addWrite(await store.record(...what)),
    recordUnknown: async (...what) => mark.addWrite(await store.recordUnknown(...what)),
  };
}
