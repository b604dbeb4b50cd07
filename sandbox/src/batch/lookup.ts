// The common ground of Submit, List, Status and Cancel: the parts they work with, finding a
// caller's batch or task, and the times of a batch.
import type { Clock } from '../clock.ts';
import type { Limits } from '../limits.ts';
import type { Signer } from '../signing.ts';
import type { ConventionName } from '../wire/conventions.ts';
import type { WireSettings } from '../wire/settings.ts';
import type { Folder } from './folder.ts';
import type { Queue } from './queue.ts';
import { Refusal } from './refusal.ts';
import { aggregateState } from './states.ts';
import type { BatchRow, BatchStore, TaskRow } from './store.ts';
import type { Caller } from './tokens.ts';

export interface BatchParts {
  readonly store: BatchStore;
  readonly queue: Queue;
  readonly folder: Folder;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly limits: Limits;
  /** The conventions of the dialect. */
  readonly conventions: ReadonlySet<ConventionName>;
  readonly wire: WireSettings;
  /**
   * How many items the next Submit queues before it breaks off with a 500; undefined: all of them,
   * no 500.
   */
  readonly breakOff: () => number | undefined;
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** @throws Refusal 404 for an unknown batch, and alike for one of another token */
export function findBatch(store: BatchStore, { owner }: Caller, batchId: string): BatchRow {
  const batch = store.batch(batchId);
  if (batch === undefined || batch.owner !== owner)
    throw new Refusal(404, `Batch ${shown(batchId)} was not found; check the batch_id that Submit answered.`);
  return batch;
}

/** @throws Refusal 404 for an unknown task; a batch id is told apart */
export function findTask(
  store: BatchStore,
  caller: Caller,
  taskId: string,
): { task: TaskRow; batch: BatchRow } {
  const task = store.task(taskId);
  const batch = store.batch(task?.batchId ?? taskId);
  if (task !== undefined && batch?.owner === caller.owner) return { task, batch };
  throw batch !== undefined && batch.owner === caller.owner
    ? new Refusal(
        404,
        `${shown(taskId)} is a batch id; read the batch with List, or send the task_id of one of its items.`,
      )
    : new Refusal(
        404,
        `Task ${shown(taskId)} was not found; List shows the task_id of every item of a batch.`,
      );
}

const shown = (id: string): string => JSON.stringify(id.slice(0, 80));

export function readState(store: BatchStore, { batchId, cancelled, brokenOff }: BatchRow) {
  const counts = store.counts(batchId);
  return { counts, status: aggregateState(counts, { cancelled, brokenOff }) };
}

export const times = ({ submittedAt }: BatchRow, limits: Limits) => ({
  expires_at: iso(submittedAt + limits.queueDeadlineMs),
  results_expire_at: iso(submittedAt + limits.retentionMs),
});

export const expired = ({ submittedAt }: BatchRow, { clock, limits }: BatchParts): boolean =>
  clock.now() >= submittedAt + limits.retentionMs;

/** A task's error as the wire has it: an object, a sentence, or undefined. */
export function toError({ error }: TaskRow, { conventions }: BatchParts): unknown {
  if (error === null) return undefined;
  const told: { code: string; message: string } | string = JSON.parse(error);
  return typeof told === 'string' || conventions.has('taskErrorObject') ? told : told.message;
}
