// One request's view of the ledger: the caller's own part, each question asked once, single items
// batched into one look-up.
import DataLoader from 'dataloader';
import type { Ledger, LedgerBatch, LedgerItem, TaskScores } from './ledger.ts';

/** Callers without a token are one principal: the upstream cannot tell them apart either. */
const ANONYMOUS = 'anonymous';

/** The place of a task, by its id and the ledger. */
export interface TaskPosition {
  readonly batchId: string;
  /** 0-based. */
  readonly index: number;
}

/** The caller's part of the ledger. */
export interface Submissions {
  readonly ledger: Ledger;
  /** The owner of this part of the ledger. */
  readonly principal: string;
  /** The owner's names under former secrets. */
  readonly formerNames: readonly string[];
  /** Whether several callers use one key of the service, which then cannot tell them apart. */
  readonly keyIsShared: boolean;
  batch(batchId: string): Promise<LedgerBatch | null>;
  item(batchId: string, inputIndex: number): Promise<LedgerItem | null>;
  /**
   * The batch and position of a task; null when neither the ledger nor the id's form gives them.
   */
  findTask(taskId: string): Promise<TaskPosition | null>;
  scores(taskId: string): Promise<TaskScores | null>;
  /** Keeps scores; those of one moment are written together. */
  saveScores(taskId: string, found: TaskScores): Promise<void>;
}

/**
 * Position of a task in a batch by its id, `<batch_id>-<five digits>` (spec, "Identifiers and
 * envelopes"); null for an id of another form.
 */
export function indexInBatch(taskId: string, batchId: string): number | null {
  const rest = taskId.startsWith(`${batchId}-`) ? taskId.slice(batchId.length + 1) : '';
  return /^\d{5,}$/.test(rest) ? Number(rest) : null;
}

/**
 * Makes the view of one request.
 *
 * @param principal - null for a caller without a token
 * @param keyIsShared - whether callers use one key of the upstream together
 * @param formerNames - of the principal, under former secrets
 */
export function createSubmissions(
  ledger: Ledger,
  principal: string | null,
  keyIsShared: boolean,
  formerNames: readonly string[] = [],
): Submissions {
  const owner = principal ?? ANONYMOUS;
  const batches = new DataLoader<string, LedgerBatch | null>((ids) =>
    Promise.all(ids.map((id) => ledger.batch(owner, id))),
  );
  const onlyTasks = new DataLoader<string, LedgerBatch | null>((ids) =>
    Promise.all(ids.map((id) => ledger.batchOfOnlyTask(owner, id))),
  );
  const itemLoaders = new Map<string, DataLoader<number, LedgerItem | null>>();
  const scores = new DataLoader<string, TaskScores | null>(async (ids) => {
    const found = await ledger.scores(owner, ids);
    return ids.map((id) => found.get(id) ?? null);
  });
  const saves = new DataLoader<{ taskId: string; scores: TaskScores }, null>(
    async (entries) => {
      await ledger.saveScores(owner, new Map(entries.map((entry) => [entry.taskId, entry.scores])));
      return entries.map(() => null);
    },
    { cache: false, batchScheduleFn: (write) => setTimeout(write, 20) },
  );

  const itemLoader = (batchId: string): DataLoader<number, LedgerItem | null> => {
    const made =
      itemLoaders.get(batchId) ??
      new DataLoader<number, LedgerItem | null>(async (indexes) => {
        const found = await ledger.items(owner, batchId, indexes);
        return indexes.map((index) => found.get(index) ?? null);
      });
    itemLoaders.set(batchId, made);
    return made;
  };

  return {
    ledger,
    principal: owner,
    formerNames,
    keyIsShared,
    batch: (batchId) => batches.load(batchId),
    item: (batchId, inputIndex) => itemLoader(batchId).load(inputIndex),
    async findTask(taskId) {
      const only = await onlyTasks.load(taskId);
      if (only !== null) return { batchId: only.batchId, index: 0 };
      const [, batchId, index] = /^(.+)-(\d{5})$/.exec(taskId) ?? [];
      return batchId === undefined ? null : { batchId, index: Number(index) };
    },
    scores: (taskId) => scores.load(taskId),
    async saveScores(taskId, found) {
      scores.clear(taskId).prime(taskId, found);
      await saves.load({ taskId, scores: found });
    },
  };
}
