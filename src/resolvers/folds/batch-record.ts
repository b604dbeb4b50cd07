// The fields of Batch that List answers: one call in a request, however many are selected.
import type { FieldCost } from '../../execution/query-cost.ts';
import { Batch, type BatchShape } from '../../schema/batch.ts';
import { builder, enumValues } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import { toPercent } from '../../schema/plddt.ts';
import type { BatchAnswer } from '../../upstream/folds/batch-reader.ts';
import {
  readCounts,
  type TaskCounts as TaskCountsShape,
  taskState,
} from '../../upstream/folds/batch-states.ts';
import { parseTime } from '../../upstream/wire-values.ts';

const BatchState = builder.enumType('BatchState', {
  description: 'The state of the whole batch, as the upstream reports it.',
  values: enumValues({
    IN_PROGRESS: 'Some tasks are queued or running.',
    DONE: 'No task will change any more; some or all may have failed: see `status`.',
    FAILED: 'The batch failed.',
    CANCELLED: 'The batch was cancelled; tasks that were running then continue.',
    UNKNOWN: 'A state that this gateway does not know.',
  }),
});

const BatchStatus = builder.enumType('BatchStatus', {
  description:
    'Where a batch is and how it ended. No task changes any more when it is SUCCEEDED, PARTLY_SUCCEEDED, ' +
    'FAILED or CANCELLED.',
  values: enumValues({
    QUEUED: 'No task has started.',
    RUNNING: 'Some tasks have started, and not all have ended.',
    SUCCEEDED: 'Every task is folded.',
    PARTLY_SUCCEEDED: 'Some tasks are folded; the others failed or were cancelled.',
    FAILED: 'No task is folded; at least one failed.',
    CANCELLED: 'Every task was cancelled.',
    UNKNOWN: 'The counts do not say: the upstream reports no tasks, or states of its own.',
  }),
});

const BatchOutcome = builder.enumType('BatchOutcome', {
  description:
    'How the batch ended, derived from the counts: the state DONE does not say whether tasks failed.',
  values: enumValues({
    PENDING: 'Some tasks are queued or running.',
    ALL_SUCCEEDED: 'Every task is done.',
    SOME_FAILED: 'Some tasks are done, the others failed.',
    ALL_FAILED: 'Every task failed.',
    CANCELLED_WITH_RESULTS: 'Some tasks were cancelled; some are done.',
    CANCELLED_EMPTY: 'Some tasks were cancelled; none is done.',
  }),
});

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
  const { total, queued, inProgress, done, failed, cancelled } = counts;
  // Only what has not started can be cancelled.
  if (queued + inProgress > 0) return queued + cancelled === total ? 'QUEUED' : 'RUNNING';
  if (!isSettled(counts)) return 'UNKNOWN';
  if (done > 0) return done === total ? 'SUCCEEDED' : 'PARTLY_SUCCEEDED';
  return failed > 0 ? 'FAILED' : 'CANCELLED';
}

const TaskCounts = builder.objectRef<TaskCountsShape>('TaskCounts').implement({
  description: 'How many tasks are in each state, over the whole batch.',
  fields: (t) => ({
    total: t.exposeInt('total', nonNull('All tasks.')),
    queued: t.exposeInt('queued', nonNull('Waiting to start.')),
    inProgress: t.exposeInt('inProgress', nonNull('Being folded.')),
    done: t.exposeInt('done', nonNull('Folded.')),
    failed: t.exposeInt('failed', nonNull('Failed.')),
    cancelled: t.exposeInt('cancelled', nonNull('Cancelled before they started.')),
    settled: t.int({
      ...nonNull('Done, failed or cancelled: tasks that will not change any more.'),
      resolve: settledOf,
    }),
    percentSettled: t.float({
      ...nonNull('Settled tasks as a share of all, 0 to 100, such as 62.5.'),
      resolve: (counts) => (counts.total === 0 ? 0 : toPercent(settledOf(counts) / counts.total)),
    }),
    settledFraction: t.float({
      ...nonNull('Settled tasks as a share of all, 0 to 1.'),
      deprecationReason: 'Use `percentSettled`. Removed after 2027-05-31.',
      resolve: (counts) => (counts.total === 0 ? 0 : settledOf(counts) / counts.total),
    }),
  }),
});

/** Fields that share one List call. */
const LIST: FieldCost = { shared: { list: 1 } };

const inList = <T>(description: string, read: (page: BatchAnswer) => T) => ({
  cost: LIST,
  description,
  resolve: async (batch: BatchShape): Promise<T> => read(await batch.read()),
});

/** A batch is never queued: its tasks are. */
function batchState({ status }: BatchAnswer): typeof BatchState.$inferType {
  const state = taskState(status);
  return state === 'QUEUED' ? 'UNKNOWN' : state;
}

builder.objectFields(Batch, (t) => ({
  status: t.field({
    ...inList('Where the batch is and how it ended, derived from the counts.', ({ counts }) =>
      statusOf(readCounts(counts)),
    ),
    type: BatchStatus,
    nullable: false,
  }),
  state: t.field({
    ...inList(
      'The state of the whole batch, as the upstream reports it. `status` also says how it ended.',
      batchState,
    ),
    type: BatchState,
    nullable: false,
  }),
  outcome: t.field({
    ...inList('How the batch ended, derived from the counts.', ({ counts }) => outcomeOf(readCounts(counts))),
    type: BatchOutcome,
    nullable: false,
    deprecationReason: 'Use `status`. Removed after 2027-05-31.',
  }),
  settled: t.boolean({
    ...inList('Whether no task is queued or running any more.', ({ counts }) =>
      isSettled(readCounts(counts)),
    ),
    nullable: false,
    deprecationReason: 'Use `status`. Removed after 2027-05-31.',
  }),
  counts: t.field({
    ...inList('How many tasks are in each state.', ({ counts }) => readCounts(counts)),
    type: TaskCounts,
    nullable: false,
  }),
  queueDeadline: t.field({
    ...inList(
      'When tasks that have not started are cancelled, free of charge, such as "2026-05-02T12:00:00.000Z".',
      ({ expires_at }) => parseTime(expires_at),
    ),
    type: 'DateTime',
  }),
  resultsExpireAt: t.field({
    ...inList(
      'When the upstream deletes the results, such as "2026-06-01T12:00:00.000Z".',
      ({ results_expire_at }) => parseTime(results_expire_at),
    ),
    type: 'DateTime',
  }),
  warnings: t.stringList({
    ...inList("The upstream's warnings about the batch.", ({ warnings = [] }) => warnings),
    nullable: false,
  }),
}));
