// The snapshot of a batch that replicas share. Snapshots are immutable; each poll makes a new one.
import type { Failure } from '../upstream/errors.ts';
import { readCounts } from '../upstream/folds/batch-states.ts';
import type { BatchPage, ListItem } from '../upstream/wire.ts';
import { addCompletion, type Completion, estimateSecondsLeft } from './time-left.ts';

interface SeenTask {
  readonly item: ListItem;
  /** The sequence number at which it got its present state. */
  readonly changedAt: number;
}

/** By id, without queued ones. */
type SeenTasks = Readonly<Record<string, SeenTask>>;

export interface FailureStreak {
  readonly count: number;
  /** How many of the latest were permanent. */
  readonly permanent: number;
  /** Milliseconds since the epoch; identifies the streak. */
  readonly since: number;
  readonly message: string;
  readonly failure: Failure;
}

export interface Snapshot {
  /** Increases when counts or the state change. */
  readonly sequence: number;
  /** State, counts and times; null before the first successful read. */
  readonly page: BatchPage | null;
  readonly tasks: SeenTasks;
  /** Whether the tasks were read since counts or state changed. */
  readonly areTasksCurrent: boolean;
  readonly streak: FailureStreak | null;
  /** Failures of reading the tasks, while state and counts can be read. */
  readonly tasksStreak: FailureStreak | null;
  /** Oldest first. */
  readonly completions: readonly Completion[];
  /** Whether polling has ended: every task has ended, or the batch cannot be read. */
  readonly over: boolean;
  /**
   * Polls since the last submission, cancellation or first subscription: they give the interval.
   */
  readonly polls: number;
  /** When the next poll is due. Milliseconds since the epoch. */
  readonly dueAt: number;
}

/** Failures in a row after which subscribers get an error. */
export const REPORT_AFTER_FAILURES = 3;

export const EMPTY_SNAPSHOT: Snapshot = {
  sequence: 0,
  page: null,
  tasks: {},
  areTasksCurrent: false,
  streak: null,
  tasksStreak: null,
  completions: [],
  over: false,
  polls: 0,
  dueAt: 0,
};

/**
 * Whether the counts show no queued or running task. The state of the batch may lag behind; it
 * decides where tasks are in states that the contract does not have.
 */
export function isTerminalPage(page: BatchPage): boolean {
  const { total, queued, inProgress, done, failed, cancelled } = readCounts(page.counts);
  if (queued + inProgress > 0) return false;
  return page.status === 'done' || (total > 0 && done + failed + cancelled === total);
}

/** Whether counts or state differ. Tasks only move forwards, so equal counts mean equal tasks. */
export function hasMoved(before: BatchPage | null, after: BatchPage): boolean {
  if (before === null || before.status !== after.status) return true;
  const states = new Set([...Object.keys(before.counts), ...Object.keys(after.counts)]);
  return [...states].some((state) => (before.counts[state] ?? 0) !== (after.counts[state] ?? 0));
}

/**
 * Whether a stored snapshot does not go on from this replica's own: without the store each replica
 * counts by itself. Subscribers would take its changes for ones that they have seen.
 */
export const isBehind = (stored: Snapshot, own: Snapshot): boolean =>
  stored.sequence < own.sequence ||
  (stored.sequence === own.sequence && stored.page !== null && hasMoved(own.page, stored.page));

/** Whether the tasks of these counts still have to be read. Not while all are queued. */
export const needsTasks = ({ page, areTasksCurrent }: Pick<Snapshot, 'page' | 'areTasksCurrent'>): boolean =>
  page !== null && !areTasksCurrent && readCounts(page.counts).queued < readCounts(page.counts).total;

const errorText = (item: ListItem): string => JSON.stringify(item.error ?? null);

/** Merges the tasks of a read; new states changed at this sequence number. */
function mergeTasks(before: SeenTasks, sequence: number, items: readonly ListItem[]): SeenTasks {
  const tasks: Record<string, SeenTask> = {};
  for (const { task_id, status, response, response_available, error } of items) {
    if (status === 'queued') continue;
    const here = response_available === true || response != null;
    // Drops an inline result; `response` says that there is one.
    const item: ListItem = { task_id, status, response: undefined, response_available: here, error };
    const known = before[task_id];
    const same =
      known !== undefined && known.item.status === status && errorText(known.item) === errorText(item);
    tasks[task_id] = same ? known : { item, changedAt: sequence };
  }
  return tasks;
}

/** The result of a poll: the batch, and its tasks when they were read. */
export interface Reading {
  readonly page: BatchPage;
  readonly items: readonly ListItem[] | null;
  /** Why the tasks could not be read. */
  readonly tasksFailure?: ReadFailure | undefined;
}

export type ReadFailure = Pick<FailureStreak, 'message' | 'failure'>;

const extendStreak = (
  before: FailureStreak | null,
  { message, failure }: ReadFailure,
  now: number,
): FailureStreak => ({
  count: (before?.count ?? 0) + 1,
  permanent: failure.retryable ? 0 : (before?.permanent ?? 0) + 1,
  since: before?.since ?? now,
  message,
  failure,
});

export function afterReading(
  before: Snapshot,
  { page, items, tasksFailure }: Reading,
  next: Pick<Snapshot, 'polls' | 'dueAt'>,
  now = Date.now(),
): Snapshot {
  const moved = hasMoved(before.page, page);
  const recovered = before.streak !== null && before.streak.count >= REPORT_AFTER_FAILURES;
  const sequence = before.sequence + (moved || recovered ? 1 : 0);
  const { items: _, ...pageWithoutItems } = page;
  const failing = tasksFailure === undefined ? null : extendStreak(before.tasksStreak, tasksFailure, now);
  // Subscribers that need the tasks wait for them until they certainly cannot be read.
  const over = isTerminalPage(page) && (failing === null || failing.permanent >= REPORT_AFTER_FAILURES);
  return {
    ...next,
    sequence,
    page: pageWithoutItems,
    tasks: items === null ? before.tasks : mergeTasks(before.tasks, sequence, items),
    areTasksCurrent: items !== null || (before.areTasksCurrent && !moved),
    streak: null,
    tasksStreak: failing !== null && over ? { ...failing, since: now } : failing,
    completions: addCompletion(before.completions, before.page, page, now),
    over,
  };
}

/** The snapshot after a failed poll: the same data, one more failure. */
export function afterFailure(
  before: Snapshot,
  failed: ReadFailure,
  now: number,
  next: Pick<Snapshot, 'polls' | 'dueAt'>,
): Snapshot {
  const streak = extendStreak(before.streak, failed, now);
  const { permanent } = streak;
  // A permanent failure ends the polling: at once if nothing was ever read, otherwise when it is
  // certain.
  const over = permanent > 0 && (before.page === null || permanent >= REPORT_AFTER_FAILURES);
  // A new `since` reports the failure that ends the polling, also after temporary ones.
  return { ...before, ...next, over, streak: over ? { ...streak, since: now } : streak };
}

/** Tasks that changed after a sequence number; after 0 every task that has left the queue. */
export const changedSince = ({ tasks }: Snapshot, sequence: number): ListItem[] =>
  Object.values(tasks)
    .filter(({ changedAt }) => changedAt > sequence)
    .map(({ item }) => item);

/** Estimated seconds until no task is queued or running; null while it cannot be told. */
export function secondsLeft(
  { completions }: Pick<Snapshot, 'completions'>,
  page: BatchPage,
  now: number,
): number | null {
  const { queued, inProgress } = readCounts(page.counts);
  if (queued + inProgress === 0) return isTerminalPage(page) ? 0 : null;
  return estimateSecondsLeft(completions, queued + inProgress, now);
}
