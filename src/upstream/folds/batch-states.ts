// Maps the service's words for states to those of the schema, and reads the counts of a batch.
import type { BatchPage } from '../wire.ts';

const TASK_WORDS = {
  QUEUED: 'queued',
  IN_PROGRESS: 'in_progress',
  DONE: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const;

type KnownState = keyof typeof TASK_WORDS;

/** Where a task is; UNKNOWN for a word that is none of the spec's. */
export type TaskStateName = KnownState | 'UNKNOWN';

const KNOWN_STATES = Object.keys(TASK_WORDS) as KnownState[];
const TASK_STATES: ReadonlyMap<string, TaskStateName> = new Map(
  KNOWN_STATES.map((state) => [TASK_WORDS[state], state]),
);

/** The state of a task by the service's word. */
export const toTaskState = (word: string): TaskStateName => TASK_STATES.get(word) ?? 'UNKNOWN';

export interface TaskCounts {
  readonly total: number;
  readonly queued: number;
  readonly inProgress: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** Reads counts, 0 where the service leaves one out; unknown states count in the total only. */
export function readCounts(counts: Readonly<Record<string, number>>): TaskCounts {
  return {
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    queued: counts[TASK_WORDS.QUEUED] ?? 0,
    inProgress: counts[TASK_WORDS.IN_PROGRESS] ?? 0,
    done: counts[TASK_WORDS.DONE] ?? 0,
    failed: counts[TASK_WORDS.FAILED] ?? 0,
    cancelled: counts[TASK_WORDS.CANCELLED] ?? 0,
  };
}

/** Tasks that will not change any more. */
export const countSettled = ({ done, failed, cancelled }: TaskCounts): number => done + failed + cancelled;

export type BatchStatusName = 'IN_PROGRESS' | 'DONE' | 'PARTLY_FAILED' | 'FAILED' | 'CANCELLED' | 'UNKNOWN';

/** Where a batch is by the service's word, and how it ended by its counts. */
export function toBatchStatus({ status, counts }: Pick<BatchPage, 'status' | 'counts'>): BatchStatusName {
  const state = toTaskState(status);
  if (state === 'CANCELLED' || state === 'UNKNOWN') return state;
  const read = readCounts(counts);
  if (read.queued + read.inProgress > 0) return 'IN_PROGRESS';
  if (read.total === 0 || countSettled(read) !== read.total)
    return state === 'QUEUED' || state === 'IN_PROGRESS' ? 'IN_PROGRESS' : 'UNKNOWN';
  if (read.done === read.total) return 'DONE';
  return read.done > 0 ? 'PARTLY_FAILED' : 'FAILED';
}
