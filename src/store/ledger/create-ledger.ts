// The rules that every store of a ledger follows: a key is claimed only under the known mark
// (mark.ts), and each write raises the newest time of that mark. A store has the commands, and
// answers batches, items and scores as the JSON that it stores.
import type * as z from 'zod';
import type { DamagedStoreError } from '../unusable-store.ts';
import { type KeyEntry, type Ledger, ledgerBatch, ledgerItem, taskScores } from './ledger.ts';
import { createMarkCheck, type ExpectedMark, type MarkStore, replacedFileError } from './mark.ts';
import type { LedgerSecrets } from './principals.ts';

type Stored = 'batch' | 'batchOfOnlyTask' | 'items' | 'batches' | 'scores';
type Ruled = 'check' | 'isLost' | 'accept' | 'claim' | 'record' | 'recordUnknown';

/** The present name of a principal, and those under former secrets. */
type PrincipalNames = readonly [string, ...string[]];

/** The commands of a store. */
export interface LedgerStore extends Omit<Ledger, Stored | Ruled>, MarkStore {
  /**
   * Claims a key that is free under all names, if the mark is as expected, atomically. The claim
   * outlives a failover of the store.
   *
   * @returns the newest time of the mark then, or the entry of a key that is not free
   */
  claim(
    names: PrincipalNames,
    key: string,
    requestHash: string,
    expected: ExpectedMark,
  ): Promise<number | KeyEntry | 'unexpected mark'>;
  /** @returns the newest time of the mark then */
  record(...what: Parameters<Ledger['record']>): Promise<number>;
  /** @returns the newest time of the mark then */
  recordUnknown(...what: Parameters<Ledger['recordUnknown']>): Promise<number>;
  batch(principal: string, batchId: string): Promise<string | null>;
  batchIdOfOnlyTask(principal: string, taskId: string): Promise<string | null>;
  /** In the order of the positions. */
  items(principal: string, batchId: string, inputIndexes: readonly number[]): Promise<(string | null)[]>;
  batches(...page: Parameters<Ledger['batches']>): Promise<{ total: number; batches: string[] }>;
  /** In the order of the ids. */
  scores(principal: string, taskIds: readonly string[]): Promise<(string | null)[]>;
  /** The damage that a command has met; undefined where none has. */
  damage?(): DamagedStoreError | undefined;
  /** Whether another file stands where that of this ledger was. */
  isReplaced?(): boolean;
  /** Opens the mark of that file. */
  openReplacement?(): MarkStore & { close(): void };
}

/** The values that are stored, by their keys. */
function readFound<K, S extends z.ZodType>(
  keys: readonly K[],
  texts: readonly (string | null)[],
  schema: S,
): Map<K, z.output<S>> {
  const found = new Map<K, z.output<S>>();
  for (const [i, key] of keys.entries()) {
    const text = texts[i] ?? null;
    if (text !== null) found.set(key, schema.parse(JSON.parse(text)));
  }
  return found;
}

/** Creates a ledger over a store. */
export function createLedger(store: LedgerStore, secrets: LedgerSecrets): Ledger {
  const mark = createMarkCheck(secrets);
  const isReplaced = (): boolean => store.isReplaced?.() === true;

  function refuseDamaged(): void {
    const damage = store.damage?.();
    if (damage !== undefined) throw damage;
  }

  async function check(): Promise<void> {
    refuseDamaged();
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

  async function tryClaim(...[principal, key, requestHash, formerNames = []]: Parameters<Ledger['claim']>) {
    const claimed = await store.claim([principal, ...formerNames], key, requestHash, mark.expected);
    if (typeof claimed !== 'number') return claimed;
    mark.addWrite(claimed);
    return null;
  }

  async function findBatch(principal: string, batchId: string) {
    const text = await store.batch(principal, batchId);
    return text === null ? null : ledgerBatch.parse(JSON.parse(text));
  }

  return {
    ...store,
    check,
    isLost: () => mark.isLost || isReplaced() || store.damage?.() !== undefined,
    accept: () => mark.accept(store),
    async claim(...asked) {
      refuseDamaged();
      const claimed = await tryClaim(...asked);
      if (claimed !== 'unexpected mark') return claimed;
      await check();
      const again = await tryClaim(...asked);
      if (again === 'unexpected mark') throw new Error('The mark of the ledger is written again and again.');
      return again;
    },
    record: async (...what) => mark.addWrite(await store.record(...what)),
    recordUnknown: async (...what) => mark.addWrite(await store.recordUnknown(...what)),
    batch: findBatch,
    async batchOfOnlyTask(principal, taskId) {
      const batchId = await store.batchIdOfOnlyTask(principal, taskId);
      return batchId === null ? null : findBatch(principal, batchId);
    },
    items: async (principal, batchId, indexes) =>
      readFound(indexes, await store.items(principal, batchId, indexes), ledgerItem),
    async batches(...page) {
      const { total, batches } = await store.batches(...page);
      return { total, batches: batches.map((text) => ledgerBatch.parse(JSON.parse(text))) };
    },
    scores: async (principal, taskIds) =>
      readFound(taskIds, await store.scores(principal, taskIds), taskScores),
  };
}
