// Maps the service's states and times to those of the schema and back.
import { parseTime } from '../time.ts';
import type { BatchPage } from '../wire.ts';

const TASK_WORDS = {
  QUEUED: 'queued',
  IN_PROGRESS: 'in_progress',
  DONE: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const;

/** Where a task is; UNKNOWN for a word that is none of the spec's. */
export type TaskStateName = keyof typeof TASK_WORDS | 'UNKNOWN';

/** How many tasks are in each state. */
export interface TaskCounts {
  readonly total: number;
  readonly queued: number;
  readonly inProgress: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** What List says of a batch. */
export interface BatchRecord {
  readonly state: 'IN_PROGRESS' | 'DONE' | 'FAILED' | 'CANCELLED' | 'UNKNOWN';
  readonly counts: TaskCounts;
  readonly createdAt: Date | null;
  readonly queueDeadline: Date | null;
  readonly resultsExpireAt: Date | null;
  readonly warnings: readonly string[];
}

const TASK_STATES: ReadonlyMap<string, TaskStateName> = new Map(
  (Object.keys(TASK_WORDS) as (keyof typeof TASK_WORDS)[]).map((state) => [TASK_WORDS[state], state]),
);

/** The state of a task by the service's word; any word that is not known is UNKNOWN. */
export const taskState = (word: string): TaskStateName => TASK_STATES.get(word) ?? 'UNKNOWN';

/** The service's word for a state; undefined for UNKNOWN, which is no state of it. */
export const parseTaskState = (state: TaskStateName): string | undefined =>
  state === 'UNKNOWN' ? undefined : TASK_WORDS[state];

const BATCH_STATES: Readonly<Record<string, BatchRecord['state']>> = {
  in_progress: 'IN_PROGRESS',
  done: 'DONE',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
};

const batchState = (word: string): BatchRecord['state'] =>
  Object.hasOwn(BATCH_STATES, word) ? (BATCH_STATES[word] ?? 'UNKNOWN') : 'UNKNOWN';

/**
 * Counts with the states that the service leaves out at zero; unknown states count in the total
 * only.
 */
export function readCounts(counts: Readonly<Record<string, number>>): TaskCounts {
  const of = (state: keyof typeof TASK_WORDS): number => counts[TASK_WORDS[state]] ?? 0;
  return {
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    queued: of('QUEUED'),
    inProgress: of('IN_PROGRESS'),
    done: of('DONE'),
    failed: of('FAILED'),
    cancelled: of('CANCELLED'),
  };
}

/** What any answer of List says of the batch as a whole. */
export const readBatch = (page: BatchPage & { readonly warnings?: readonly string[] }): BatchRecord => ({
  state: batchState(page.status),
  counts: readCounts(page.counts),
  createdAt: parseTime(page.created_at),
  queueDeadline: parseTime(page.expires_at),
  resultsExpireAt: parseTime(page.results_expire_at),
  warnings: page.warnings ?? [],
});
