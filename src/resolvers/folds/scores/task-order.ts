// The orders of tasks: in a list, in the table of scores and in the archive of results.
import type { TaskOrderName } from '../../../schema/task.ts';
import type { TaskScores } from '../../../store/ledger/ledger.ts';

export type SortKey = readonly (number | string | null)[];

const descending = (score: number | null | undefined): number | null => (score == null ? null : -score);

/**
 * The values that an order compares, one after the other; equal tasks keep the order of submission.
 */
export const SORT_KEYS: Readonly<
  Record<TaskOrderName, (name: string | null, scores: TaskScores | null) => SortKey>
> = {
  INDEX: () => [],
  NAME: (name) => [name],
  IPTM: (_, scores) => [descending(scores?.iptm), descending(scores?.ptm)],
  IPSAE: (_, scores) => [descending(scores?.chainPairs[0]?.ipsaeMax), descending(scores?.iptm)],
  PTM: (_, scores) => [descending(scores?.ptm)],
  PLDDT: (_, scores) => [descending(scores?.meanPlddt)],
};

/** Every order that there is. */
export const TASK_ORDERS: readonly string[] = Object.keys(SORT_KEYS);

export const isTaskOrder = (word: string): word is TaskOrderName => Object.hasOwn(SORT_KEYS, word);

/** Whether an order compares a score. */
export const isScoreOrder = (order: TaskOrderName): boolean => order !== 'INDEX' && order !== 'NAME';

/** Whether a task has the score that an order asks for; any scores where it asks for none. */
export const isRanked = (order: TaskOrderName, scores: TaskScores | null): boolean =>
  scores !== null && (!isScoreOrder(order) || SORT_KEYS[order](null, scores)[0] !== null);

/** `design-2` stands before `design-10`. */
const { compare: compareText } = new Intl.Collator('en', { numeric: true });

/** Null stands last. */
function compareValues(a: number | string | null, b: number | string | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b));
}

/** Compares two keys of the same order. */
export function compareSortKeys(a: SortKey, b: SortKey): number {
  for (const [i, value] of a.entries()) {
    const order = compareValues(value, b[i] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

/** A task with what orders it. */
export interface OrderedTask {
  readonly name: string | null;
  readonly scores: TaskScores | null;
}

/** Tasks with scores in an order, then those without. */
export function orderTasks<T extends OrderedTask>(tasks: readonly T[], order: TaskOrderName): T[] {
  const key = ({ name, scores }: T): SortKey => [scores === null ? 1 : 0, ...SORT_KEYS[order](name, scores)];
  return tasks.toSorted((a, b) => compareSortKeys(key(a), key(b)));
}
