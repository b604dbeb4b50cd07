// The fields of Batch that List answers. All of a request share one call.
import { Batch, type BatchShape } from '../../schema/batch.ts';
import { builder, enumValues } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import { toPercent } from '../../schema/plddt.ts';
import type { FieldCost } from '../../schema/query-cost.ts';
import type { BatchAnswer } from '../../upstream/folds/batch-reader.ts';
import {
  readCounts,
  type TaskCounts as TaskCountsShape,
  toTaskState,
} from '../../upstream/folds/batch-states.ts';
import { parseTime } from '../../upstream/wire-values.ts';

const BatchStatus = builder.enumType('BatchStatus', {
  description:
    'Where a batch is, in the words of the service, and how it ended by its counts. All but IN_PROGRESS and ' +
    'UNKNOWN are final, although running tasks of a cancelled batch continue.',
  values: enumValues({
    IN_PROGRESS: 'Some tasks are queued or running.',
    DONE: 'Every task is done.',
    PARTLY_FAILED: 'Every task has ended, and some are done; the others failed or were cancelled.',
    FAILED: 'Every task has ended, and none is done.',
    CANCELLED: 'The batch was cancelled; tasks that were running then continue.',
    UNKNOWN: 'A state that this gateway does not know, or no tasks; `upstreamState` is its word.',
  }),
});

const countSettled = ({ done, failed, cancelled }: TaskCountsShape): number => done + failed + cancelled;

/** No task is queued or running any more. */
const hasEnded = (counts: TaskCountsShape): boolean =>
  counts.total > 0 && countSettled(counts) === counts.total;

function toBatchStatus({ status, counts }: BatchAnswer): typeof BatchStatus.$inferType {
  const state = toTaskState(status);
  if (state === 'CANCELLED' || state === 'UNKNOWN') return state;
  const read = readCounts(counts);
  if (read.queued + read.inProgress > 0) return 'IN_PROGRESS';
  if (!hasEnded(read)) return state === 'QUEUED' || state === 'IN_PROGRESS' ? 'IN_PROGRESS' : 'UNKNOWN';
  if (read.done === read.total) return 'DONE';
  return read.done > 0 ? 'PARTLY_FAILED' : 'FAILED';
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
      resolve: countSettled,
    }),
    percentSettled: t.float({
      ...nonNull('Settled tasks as a share of all, 0 to 100, such as 62.5.'),
      resolve: (counts) => (counts.total === 0 ? 0 : toPercent(countSettled(counts) / counts.total)),
    }),
  }),
});

/** Fields that share one List call. */
const LIST: FieldCost = { shared: { list: 1 } };

const listField = <T>(description: string, read: (page: BatchAnswer) => T) => ({
  cost: LIST,
  description,
  resolve: async (batch: BatchShape): Promise<T> => read(await batch.read()),
});

builder.objectFields(Batch, (t) => ({
  status: t.field({
    semanticNonNull: true,
    ...listField('Where the batch is and how it ended. Null only with an error.', toBatchStatus),
    type: BatchStatus,
  }),
  upstreamState: t.string(
    listField('The word of the upstream for the state of the batch, such as "in_progress".', ({ status }) =>
      status === '' ? null : status,
    ),
  ),
  counts: t.field({
    semanticNonNull: true,
    ...listField('How many tasks are in each state. Null only with an error.', ({ counts }) =>
      readCounts(counts),
    ),
    type: TaskCounts,
  }),
  queueDeadline: t.field({
    ...listField(
      'When tasks that have not started are cancelled, free of charge, such as "2026-05-02T12:00:00.000Z".',
      ({ expires_at }) => parseTime(expires_at),
    ),
    type: 'DateTime',
  }),
  resultsExpireAt: t.field({
    ...listField(
      'When the upstream deletes the results, such as "2026-06-01T12:00:00.000Z".',
      ({ results_expire_at }) => parseTime(results_expire_at),
    ),
    type: 'DateTime',
  }),
  warnings: t.stringList({
    semanticNonNull: true,
    ...listField(
      "The upstream's warnings about the batch. Null only with an error.",
      ({ warnings = [] }) => warnings,
    ),
    nullable: { list: true, items: false },
  }),
}));
