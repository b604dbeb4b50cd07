// What is known of a batch at one moment, and what of it is news to whom. Pure: snapshots are never changed, they are
// replaced. It knows the upstream's records and nothing of watchers or calls.

import type { Failure } from '../upstream/errors.ts';
import { readCounts } from '../upstream/folds/batch-states.ts';
import type { BatchPage, ListItem } from '../upstream/wire.ts';
import type { PollInterval } from './poll-schedule.ts';

/** A task that has left the queue. */
interface SeenTask {
  readonly item: ListItem;
  /** The sequence at which it got into its present state. */
  readonly changedAt: number;
}

/** Tasks as they were read last. */
interface SeenTasks {
  /** The sequence that they belong to; they are stale while it is smaller than the snapshot's. */
  readonly sequence: number;
  readonly byId: Readonly<Record<string, SeenTask>>;
}

/** Failures in a row. */
export interface FailureStreak {
  readonly count: number;
  /** Milliseconds since the epoch; names the streak. */
  readonly since: number;
  readonly message: string;
  readonly failure: Failure;
}

/** A batch at one moment, as replicas share it. */
export interface Snapshot {
  /** Grows whenever counts or the state change. */
  readonly sequence: number;
  /** State, counts and times; null while no read has succeeded. */
  readonly page: BatchPage | null;
  readonly tasks: SeenTasks;
  readonly streak: FailureStreak | null;
  /** No further poll will tell anything new: every task is settled, or the batch cannot be read. */
  readonly over: boolean;
  readonly pace: PollInterval;
  /** When it is too old and has to be polled again. Milliseconds since the epoch. */
  readonly dueAt: number;
}

/** Failures in a row after which watchers are told. */
export const REPORT_AFTER_FAILURES = 3;

/** Before anything is known. */
export const emptySnapshot = (pace: PollInterval): Snapshot => ({
  sequence: 0,
  page: null,
  tasks: { sequence: 0, byId: {} },
  streak: null,
  over: false,
  pace,
  dueAt: 0,
});

/** No task is queued or running any more: by the counts, whatever the aggregate word says. */
export function isTerminalPage(page: BatchPage): boolean {
  const { total, done, failed, cancelled } = readCounts(page.counts);
  return total > 0 && done + failed + cancelled === total;
}

/** Whether counts or the aggregate state differ. Tasks only move forwards, so that equal counts mean equal tasks. */
export function hasMoved(before: BatchPage | null, after: BatchPage): boolean {
  if (before === null || before.status !== after.status) return true;
  const states = new Set([...Object.keys(before.counts), ...Object.keys(after.counts)]);
  return [...states].some((state) => (before.counts[state] ?? 0) !== (after.counts[state] ?? 0));
}

/** Whether the tasks still have to be read for a snapshot with these counts. While all are queued there is nothing to read. */
export const hasNoTaskPage = ({ page, sequence, tasks }: Snapshot): boolean =>
  page !== null &&
  tasks.sequence < sequence &&
  readCounts(page.counts).queued < readCounts(page.counts).total;

const errorText = (item: ListItem): string => JSON.stringify(item.error ?? null);

/** Takes in the tasks that were read: who has another state than before has changed just now. Queued ones are left out. */
function tasksAfter(before: SeenTasks, sequence: number, items: readonly ListItem[]): SeenTasks {
  const byId: Record<string, SeenTask> = {};
  for (const { task_id, status, response, response_available, error } of items) {
    if (status === 'queued') continue;
    const here = response_available === true || response != null;
    // A result that stands inline is not kept; that there is one is.
    const item: ListItem = { task_id, status, response: undefined, response_available: here, error };
    const known = before.byId[task_id];
    const same =
      known !== undefined && known.item.status === status && errorText(known.item) === errorText(item);
    byId[task_id] = same ? known : { item, changedAt: sequence };
  }
  return { sequence, byId };
}

/** What a poll brought: the batch, and its tasks when they were asked for. */
export interface Reading {
  readonly page: BatchPage;
  readonly items: readonly ListItem[] | null;
}

/**
 * The snapshot after a successful poll.
 *
 * @param next - pace and due time of the poll after this one
 */
export function afterReading(
  before: Snapshot,
  { page, items }: Reading,
  next: Pick<Snapshot, 'pace' | 'dueAt'>,
): Snapshot {
  const recovered = before.streak !== null && before.streak.count >= REPORT_AFTER_FAILURES;
  const sequence = before.sequence + (hasMoved(before.page, page) || recovered ? 1 : 0);
  const { items: _, ...kept } = page;
  // After a change that touches no task (a recovery) the tasks are as good as before.
  const carried =
    before.page !== null && !hasMoved(before.page, page) && before.tasks.sequence === before.sequence
      ? { ...before.tasks, sequence }
      : before.tasks;
  return {
    ...next,
    sequence,
    page: kept,
    tasks: items === null ? carried : tasksAfter(before.tasks, sequence, items),
    streak: null,
    over: isTerminalPage(page),
  };
}

/** The snapshot after a poll that failed: what is known stays, the failure is counted. */
export function afterFailure(
  before: Snapshot,
  { message, failure }: Pick<FailureStreak, 'message' | 'failure'>,
  now: number,
  next: Pick<Snapshot, 'pace' | 'dueAt'>,
): Snapshot {
  const count = (before.streak?.count ?? 0) + 1;
  // A read that will never succeed ends the polling: at once when nothing was ever read, else when it is sure.
  const over = !failure.retryable && (before.page === null || count >= REPORT_AFTER_FAILURES);
  return {
    ...before,
    ...next,
    over,
    streak: { count, since: before.streak?.since ?? now, message, failure },
  };
}

/** Tasks that changed after a sequence; from the start (0) on, every task that has left the queue. */
export const changedSince = ({ tasks }: Snapshot, sequence: number): ListItem[] =>
  Object.values(tasks.byId)
    .filter(({ changedAt }) => changedAt > sequence)
    .map(({ item }) => item);
