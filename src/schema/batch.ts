// The Batch type, as List reports it. A batch of which only the id is known loads the rest when a
// field is selected.

import type { FieldCost } from '../execution/query-cost.ts';
import type { BatchRecord, TaskCounts as TaskCountsShape } from '../upstream/folds/batch-states.ts';
import { builder } from './builder.ts';
import { keyedBy } from './keys.ts';
import { toPercent } from './plddt.ts';

export const TaskState = builder.enumType('TaskState', {
  description: 'Where a task is.',
  values: {
    QUEUED: { description: 'Waiting to start; can still be cancelled.' },
    IN_PROGRESS: { description: 'Being folded; it will be charged.' },
    DONE: { description: 'Folded.' },
    FAILED: { description: 'Folding failed; `error` says why.' },
    CANCELLED: {
      description: 'Cancelled before it started, by you or after 24 hours in the queue; not charged.',
    },
    UNKNOWN: { description: 'A state that this gateway does not know.' },
  } as const,
});

const BatchState = builder.enumType('BatchState', {
  description: 'The state of the whole batch, as the upstream reports it.',
  values: {
    IN_PROGRESS: { description: 'Some tasks are queued or running.' },
    DONE: { description: 'No task will change any more; some or all may have failed: see `status`.' },
    FAILED: { description: 'The batch failed.' },
    CANCELLED: { description: 'The batch was cancelled; tasks that were running then continue.' },
    UNKNOWN: { description: 'A state that this gateway does not know.' },
  } as const,
});

const BatchStatus = builder.enumType('BatchStatus', {
  description:
    'Where a batch is and how it ended. No task changes any more when it is SUCCEEDED, PARTLY_SUCCEEDED, ' +
    'FAILED or CANCELLED.',
  values: {
    QUEUED: { description: 'No task has started.' },
    RUNNING: { description: 'Some tasks have started, and not all have ended.' },
    SUCCEEDED: { description: 'Every task is folded.' },
    PARTLY_SUCCEEDED: { description: 'Some tasks are folded; the others failed or were cancelled.' },
    FAILED: { description: 'No task is folded; at least one failed.' },
    CANCELLED: { description: 'Every task was cancelled.' },
    UNKNOWN: { description: 'The counts do not say: the upstream reports no tasks, or states of its own.' },
  } as const,
});

const BatchOutcome = builder.enumType('BatchOutcome', {
  description:
    'How the batch ended, derived from the counts: the state DONE does not say whether tasks failed.',
  values: {
    PENDING: { description: 'Some tasks are queued or running.' },
    ALL_SUCCEEDED: { description: 'Every task is done.' },
    SOME_FAILED: { description: 'Some tasks are done, the others failed.' },
    ALL_FAILED: { description: 'Every task failed.' },
    CANCELLED_WITH_RESULTS: { description: 'Some tasks were cancelled; some are done.' },
    CANCELLED_EMPTY: { description: 'Some tasks were cancelled; none is done.' },
  } as const,
});

/** A batch by its id. `read` sends one List call in a request, however often it is called. */
export interface BatchShape {
  readonly batchId: string;
  /** Task ids of a batch submitted a moment ago, in order: all are queued, so no call is needed. */
  readonly justQueued?: readonly string[];
  read(): Promise<BatchRecord>;
}

const settledOf = ({ done, failed, cancelled }: TaskCountsShape): number => done + failed + cancelled;

/** No task is queued or running any more. */
const isSettled = (counts: TaskCountsShape): boolean =>
  counts.total > 0 && settledOf(counts) === counts.total;

function outcomeOf(counts: TaskCountsShape): typeof BatchOutcome.$inferType {
  if (!isSettled(counts)) return 'PENDING';
  if (counts.cancelled > 0) return counts.done > 0 ? 'CANCELLED_WITH_RESULTS' : 'CANCELLED_EMPTY';
  if (counts.failed === 0) return 'ALL_SUCCEEDED';
  return counts.done > 0 ? 'SOME_FAILED' : 'ALL_FAILED';
}

function statusOf(counts: TaskCountsShape): typeof BatchStatus.$inferType {
  const { total, queued, inProgress, done, failed } = counts;
  if (queued + inProgress > 0) return queued === total ? 'QUEUED' : 'RUNNING';
  if (!isSettled(counts)) return 'UNKNOWN';
  if (done > 0) return done === total ? 'SUCCEEDED' : 'PARTLY_SUCCEEDED';
  return failed > 0 ? 'FAILED' : 'CANCELLED';
}

const TaskCounts = builder.objectRef<TaskCountsShape>('TaskCounts').implement({
  description: 'How many tasks are in each state, over the whole batch.',
  fields: (t) => ({
    total: t.exposeInt('total', { nullable: false, description: 'All tasks.' }),
    queued: t.exposeInt('queued', { nullable: false, description: 'Waiting to start.' }),
    inProgress: t.exposeInt('inProgress', { nullable: false, description: 'Being folded.' }),
    done: t.exposeInt('done', { nullable: false, description: 'Folded.' }),
    failed: t.exposeInt('failed', { nullable: false, description: 'Failed.' }),
    cancelled: t.exposeInt('cancelled', { nullable: false, description: 'Cancelled before they started.' }),
    settled: t.int({
      nullable: false,
      description: 'Done, failed or cancelled: tasks that will not change any more.',
      resolve: settledOf,
    }),
    percentSettled: t.float({
      nullable: false,
      description: 'Settled tasks as a share of all, 0 to 100, such as 62.5.',
      resolve: (counts) => (counts.total === 0 ? 0 : toPercent(settledOf(counts) / counts.total)),
    }),
    settledFraction: t.float({
      nullable: false,
      deprecationReason: 'Use `percentSettled`. Removed after 2027-05-31.',
      description: 'Settled tasks as a share of all, 0 to 1.',
      resolve: (counts) => (counts.total === 0 ? 0 : settledOf(counts) / counts.total),
    }),
  }),
});

/** Fields that share one List call. */
const LIST: FieldCost = { shared: { list: 1 } };

export const Batch = builder.objectRef<BatchShape>('Batch');

builder.node(Batch, {
  extensions: keyedBy('batchId', 'id'),
  description:
    'Folds that were submitted together. All fields but its id, label and time are read with one List call.',
  id: { resolve: ({ batchId }) => batchId, description: 'Relay id: give it to `node(id:)`.' },
  fields: (t) => ({
    batchId: t.exposeID('batchId', {
      nullable: false,
      description: 'The upstream\'s id of the batch, such as "5b0c8c3e-6f0f-4d7a-9d5b-0d4b7f6f3c11".',
    }),
    status: t.field({
      cost: LIST,
      type: BatchStatus,
      nullable: false,
      description: 'Where the batch is and how it ended, derived from the counts.',
      resolve: async (batch) => statusOf((await batch.read()).counts),
    }),
    state: t.field({
      cost: LIST,
      type: BatchState,
      nullable: false,
      description:
        'The state of the whole batch, as the upstream reports it. `status` also says how it ended.',
      resolve: async (batch) => (await batch.read()).state,
    }),
    outcome: t.field({
      cost: LIST,
      type: BatchOutcome,
      nullable: false,
      deprecationReason: 'Use `status`. Removed after 2027-05-31.',
      description: 'How the batch ended, derived from the counts.',
      resolve: async (batch) => outcomeOf((await batch.read()).counts),
    }),
    settled: t.boolean({
      cost: LIST,
      nullable: false,
      deprecationReason: 'Use `status`. Removed after 2027-05-31.',
      description: 'Whether no task is queued or running any more.',
      resolve: async (batch) => isSettled((await batch.read()).counts),
    }),
    counts: t.field({
      cost: LIST,
      type: TaskCounts,
      nullable: false,
      description: 'How many tasks are in each state.',
      resolve: async (batch) => (await batch.read()).counts,
    }),
    queueDeadline: t.field({
      cost: LIST,
      type: 'DateTime',
      description:
        'When tasks that have not started are cancelled, free of charge, such as "2026-05-02T12:00:00.000Z".',
      resolve: async (batch) => (await batch.read()).queueDeadline,
    }),
    resultsExpireAt: t.field({
      cost: LIST,
      type: 'DateTime',
      description: 'When the upstream deletes the results, such as "2026-06-01T12:00:00.000Z".',
      resolve: async (batch) => (await batch.read()).resultsExpireAt,
    }),
    warnings: t.stringList({
      cost: LIST,
      nullable: { list: false, items: false },
      description: "The upstream's warnings about the batch.",
      resolve: async (batch) => [...(await batch.read()).warnings],
    }),
  }),
});
