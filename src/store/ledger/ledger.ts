// The ledger's interface: which batches a principal submitted, under which names and with which
// covalent bonds, and which idempotency keys are spent, because the upstream cannot say. It stores
// no sequence and no token.
import * as z from 'zod';

const declaredAtom = z.object({
  chainId: z.string(),
  residueIndex: z.number(),
  atomIndex: z.number(),
  atomName: z.string().nullable(),
});

const ledgerChain = z.object({
  ids: z.array(z.string()).readonly(),
  kind: z.enum(['PROTEIN', 'RNA', 'DNA', 'LIGAND']),
  length: z.number(),
  proteinHash: z.string().nullable(),
  /** The residues that its result must repeat; undefined for a ligand and where few are known. */
  residues: z.object({ hash: z.string(), openPositions: z.array(z.number()).readonly() }).optional(),
  /** The bonds of the item whose first atom is in this chain; undefined for none. */
  bonds: z
    .array(z.object({ from: declaredAtom, to: declaredAtom }))
    .readonly()
    .optional(),
});

/** A chain of an item as it is remembered. */
export type LedgerChain = Readonly<z.output<typeof ledgerChain>>;

export const ledgerItem = z.object({
  name: z.string().nullable(),
  chains: z.array(ledgerChain).readonly(),
});

/** One item of a submission as it is remembered. */
export type LedgerItem = Readonly<z.output<typeof ledgerItem>>;

export const ledgerBatch = z.object({
  batchId: z.string(),
  label: z.string().nullable(),
  model: z.string(),
  /** Milliseconds since the epoch. */
  submittedAt: z.number(),
  itemCount: z.number(),
  repeat: z.number(),
  /** Hash of the input (submission/wire-body.ts). */
  inputHash: z.string(),
  /**
   * The id of the only task, which does not follow from the batch id; null when there are several.
   */
  onlyTaskId: z.string().nullable(),
});

/** A batch as it is remembered. */
export type LedgerBatch = Readonly<z.output<typeof ledgerBatch>>;

/** How long a key stays claimed without a sign of life of the process that claimed it. */
export const KEY_LEASE_MS = 15_000;

/** The outcome of a submission that carried an idempotency key. */
export type KeyEntry = {
  /** Hash of what was asked under the key. */
  readonly requestHash: string;
  /** When it was claimed, or renewed; milliseconds since the epoch. */
  readonly at: number;
} /** `isAbandoned`: the process that claimed it has not renewed it, and has ended or lost the store. */ & (
  | { readonly state: 'pending'; readonly isAbandoned: boolean }
  | { readonly state: 'submitted'; readonly batchId: string }
  | { readonly state: 'unknown'; readonly upstreamRequestId: string | null }
);

/** The stored fields of a key as its entry. `now` is the time by the ledger's clock. */
export const keyEntry = z
  .object({
    requestHash: z.string(),
    state: z.enum(['pending', 'submitted', 'unknown']),
    at: z.coerce.number(),
    now: z.coerce.number(),
    batchId: z.string().nullish(),
    upstreamRequestId: z.string().nullish(),
  })
  .transform(({ state, batchId, upstreamRequestId, now, ...common }): KeyEntry => {
    if (state === 'submitted' && batchId != null) return { ...common, state, batchId };
    // A clock that was set back would keep a key claimed for ever.
    if (state === 'pending')
      return { ...common, state, isAbandoned: Math.abs(now - common.at) > KEY_LEASE_MS };
    return { ...common, state: 'unknown', upstreamRequestId: upstreamRequestId ?? null };
  });

/**
 * The entry of a key under the names of its caller: one that has ended before one that has not,
 * which another gateway may have ended under a former name.
 */
export const bestEntry = (entries: readonly (KeyEntry | null)[]): KeyEntry | null => {
  const found = entries.filter((entry) => entry !== null);
  return found.find(({ state }) => state !== 'pending') ?? found[0] ?? null;
};

export const earlierSubmission = z.object({
  /** Null when the outcome is unknown. */
  batchId: z.string().nullable(),
  at: z.coerce.number(),
});

/** An earlier submission of the same input: a batch, or a submission with an unknown outcome. */
export type EarlierSubmission = Readonly<z.output<typeof earlierSubmission>>;

const score = z.number().nullable();

/** Scores of an ordered pair of chains, as structure/fold/interface-scores.ts describes them. */
const chainPairScores = z.object({
  a: z.string(),
  b: z.string(),
  iptm: score,
  ipsae: score,
  ipsaeMax: score,
  pDockQ: score,
  pDockQ2: score,
  lis: score,
  meanPae: score,
  minPae: score,
});

export const taskScores = z.object({
  /** 0 to 1. */
  ptm: score,
  /** 0 to 1. */
  iptm: score,
  /** Mean pLDDT, 0 to 1. */
  meanPlddt: score,
  /** The best pairs of chains, best first. */
  chainPairs: z.array(chainPairScores).readonly(),
});

/** Scores of a finished task. They outlive the result itself. */
export type TaskScores = Readonly<z.output<typeof taskScores>>;

/** Where a page of batches goes on: after the batch with this time and id. */
export interface BatchPosition {
  readonly submittedAt: number;
  readonly batchId: string;
}

/** How full a store is. */
export interface StoreUsage {
  readonly usedBytes: number;
  /** The limit; null where there is none. */
  readonly limitBytes: number | null;
  /** Whether the store evicts entries when it is full: the ledger may then lose submissions. */
  readonly evicts: boolean;
}

/** The ledger. Every method with a principal belongs to that one's data. */
export interface Ledger {
  /**
   * Makes sure that the store answers and is the one of before; founds a new one (mark.ts).
   *
   * @throws WrongSecretError, LostLedgerError, or Error that says why the store does not answer
   */
  check(): Promise<void>;
  /** Whether the last check found that the ledger has lost what it knew. */
  isLost(): boolean;
  /**
   * Accepts the ledger as it is.
   *
   * @param isSecretLost - whether it is accepted also where a secret of it is not given
   * @returns false when nothing was wrong with it
   * @throws NoLedgerError, WrongSecretError, or Error that says why the store does not answer
   */
  accept(isSecretLost?: boolean): Promise<boolean>;
  /** Whether a replica of the store must have what must not be lost; never where absent. */
  needsReplica?(): boolean;
  /** Advice to the operator about the store, a sentence each. */
  warnings(): Promise<readonly string[]>;
  /**
   * Claims an idempotency key atomically: among any number of callers in any number of processes,
   * one gets null.
   *
   * @param formerNames - of the principal, under former secrets: the key must be free under these
   *   too
   * @returns null when the key was free and now belongs to the caller (pending); else its entry
   * @throws LostLedgerError when the key may have been spent before the ledger lost it
   */
  claim(
    principal: string,
    key: string,
    requestHash: string,
    formerNames?: readonly string[],
  ): Promise<KeyEntry | null>;
  /** Says that the process which claimed a pending key still works on it. */
  renew(principal: string, key: string): Promise<void>;
  /**
   * Frees a key that this process has claimed: nothing was queued, so it may be used again. Where
   * the store does not answer, it is freed as soon as the store does.
   */
  release(principal: string, key: string): Promise<void>;
  /** Records a batch that was queued and spends its key, both or neither. */
  record(
    principal: string,
    key: string | null,
    batch: LedgerBatch,
    items: readonly LedgerItem[],
  ): Promise<void>;
  /** Records a submission with an unknown outcome; its key stays spent. */
  recordUnknown(
    principal: string,
    key: string | null,
    what: { readonly inputHash: string; readonly upstreamRequestId: string | null },
  ): Promise<void>;
  /** Hash of what was asked under an idempotency key; null for a key that is free. */
  requestHash(principal: string, key: string): Promise<string | null>;
  /** The newest earlier submission of the same input; null when there is none. */
  earlier(principal: string, inputHash: string): Promise<EarlierSubmission | null>;
  batch(principal: string, batchId: string): Promise<LedgerBatch | null>;
  /** The batch that consists of this one task only. */
  batchOfOnlyTask(principal: string, taskId: string): Promise<LedgerBatch | null>;
  /** Items of a batch by their position; positions that are not known are left out. */
  items(
    principal: string,
    batchId: string,
    inputIndexes: readonly number[],
  ): Promise<ReadonlyMap<number, LedgerItem>>;
  /** Batches, newest first. */
  batches(
    principal: string,
    page: { readonly first: number; readonly after: BatchPosition | null },
  ): Promise<{ readonly total: number; readonly batches: readonly LedgerBatch[] }>;
  /** Scores by task id; tasks without any are left out. */
  scores(principal: string, taskIds: readonly string[]): Promise<ReadonlyMap<string, TaskScores>>;
  /** Keeps scores, all or none of them. */
  saveScores(principal: string, scores: ReadonlyMap<string, TaskScores>): Promise<void>;
  /** Moves everything of one principal to another one, where what stands there already stays. */
  rename(from: string, to: string): Promise<void>;
  /** How full the store is. */
  usage(): Promise<StoreUsage>;
  close(): Promise<void>;
}

/**
 * How long submissions are stored: as long as the upstream stores results (spec, section Limits).
 */
export const RETENTION_MS = 31 * 24 * 3_600_000;
