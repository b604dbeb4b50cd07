// The rules that every store of a ledger follows: a key is claimed only under the known mark
// (mark.ts), each write raises the newest time of that mark, and a claim that was given up is
// released as soon as the store answers. A store has the commands, and answers batches, items and
// scores as the JSON that it stores.
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import type { DamagedStoreError } from '../unusable-store.ts';
import { type KeyEntry, type Ledger, ledgerBatch, ledgerItem, taskScores } from './ledger.ts';
import { createMarkCheck, type ExpectedMark, type MarkStore, replacedFileError } from './mark.ts';
import type { LedgerSecrets } from './principals.ts';

type Stored = 'batch' | 'batchOfOnlyTask' | 'items' | 'batches' | 'scores';
type Ruled = 'check' | 'isLost' | 'accept' | 'claim' | 'release' | 'record' | 'recordUnknown';

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
    token: string,
  ): Promise<number | KeyEntry | 'unexpected mark'>;
  /** Frees a pending key that was claimed with this token, also by a claim still on its way. */
  release(principal: string, key: string, token: string): Promise<void>;
  /** @returns the newest time of the mark then */
  record(...what: [...Parameters<Ledger['record']>, known: ExpectedMark]): Promise<number>;
  /** @returns the newest time of the mark then */
  recordUnknown(...what: [...Parameters<Ledger['recordUnknown']>, known: ExpectedMark]): Promise<number>;
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

/** The longest pause between two tries to release a claim. */
const MAX_PAUSE_MS = 60_000;

interface Claim {
  readonly principal: string;
  readonly key: string;
  /** Tells it from a later claim of the same key, which must stay. */
  readonly token: string;
}

/** Releases claims of this process, as soon as the store answers. */
function createReleases({ release }: Pick<LedgerStore, 'release'>) {
  const closing = new AbortController();
  // Claims that wait for their release listen to it, as many as there are.
  setMaxListeners(0, closing.signal);
  const waiting = new Set<Claim>();

  async function attempt(claim: Claim): Promise<void> {
    waiting.add(claim);
    await release(claim.principal, claim.key, claim.token);
    waiting.delete(claim);
  }
  async function tryAgain(claim: Claim): Promise<void> {
    for (let pause = 100; waiting.has(claim); pause = Math.min(MAX_PAUSE_MS, pause * 1.2)) {
      await sleep(pause, undefined, { signal: closing.signal, ref: false });
      if (waiting.has(claim)) await attempt(claim).catch(() => undefined);
    }
  }

  return {
    /** Releases a claim, later where the store fails. */
    async release(claim: Claim): Promise<void> {
      await attempt(claim).catch(() => void tryAgain(claim).catch(() => undefined));
    },
    /** Releases the claims of a key that wait for it. @throws what the store throws */
    async releaseKey(principal: string, key: string): Promise<void> {
      for (const claim of waiting)
        if (claim.principal === principal && claim.key === key) await attempt(claim);
    },
    /** Tries for a last time. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.allSettled([...waiting].map(attempt));
    },
  };
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

const claimId = (principal: string, key: string): string => `${principal} ${key}`;

/** Creates a ledger over a store. */
export function createLedger(store: LedgerStore, secrets: LedgerSecrets): Ledger {
  const mark = createMarkCheck(secrets);
  const releases = createReleases(store);
  /** Claims of this process whose outcome is not known yet. */
  const claims = new Map<string, Claim>();
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
    const token = randomUUID();
    const claim = { principal, key, token };
    try {
      const names: PrincipalNames = [principal, ...formerNames];
      const { expected } = mark;
      const claimed = await store.claim(names, key, requestHash, expected, token);
      if (typeof claimed !== 'number') return claimed;
      mark.addWrite(expected, claimed);
      claims.set(claimId(principal, key), claim);
      return null;
    } catch (error) {
      // The answer may be lost, and not the claim.
      void releases.release(claim);
      throw error;
    }
  }
  function endClaim(principal: string, key: string | null): void {
    if (key !== null) claims.delete(claimId(principal, key));
  }

  /** Writes under the mark as it is known, and adds the newest time of that write. */
  async function write(work: (expected: ExpectedMark) => Promise<number>): Promise<void> {
    const { expected } = mark;
    mark.addWrite(expected, await work(expected));
  }

  async function findBatch(principal: string, batchId: string) {
    const text = await store.batch(principal, batchId);
    return text === null ? null : ledgerBatch.parse(JSON.parse(text));
  }

  return {
    ...store,
    check,
    isLost: () => mark.isLost || isReplaced() || store.damage?.() !== undefined,
    accept: (isSecretLost = false) => mark.accept(store, isSecretLost),
    async claim(...asked) {
      refuseDamaged();
      await releases.releaseKey(asked[0], asked[1]);
      const claimed = await tryClaim(...asked);
      if (claimed !== 'unexpected mark') return claimed;
      await check();
      const again = await tryClaim(...asked);
      if (again === 'unexpected mark') throw new Error('The mark of the ledger is written again and again.');
      return again;
    },
    async release(principal, key) {
      const claim = claims.get(claimId(principal, key));
      endClaim(principal, key);
      if (claim !== undefined) await releases.release(claim);
    },
    async record(...what) {
      endClaim(what[0], what[1]);
      await write((expected) => store.record(...what, expected));
    },
    async recordUnknown(...what) {
      endClaim(what[0], what[1]);
      await write((expected) => store.recordUnknown(...what, expected));
    },
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
    async close() {
      await releases.close();
      await store.close();
    },
  };
}
