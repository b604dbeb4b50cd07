// The Batch type with the fields that List answers: all of a request share one call.
// resolvers/folds/batches/batch.ts has the others.
import type { BatchAnswer } from '../upstream/folds/batch-reader.ts';
import {
  countSettled,
  readCounts,
  type TaskCounts as TaskCountsShape,
  toBatchStatus,
} from '../upstream/folds/batch-states.ts';
import { parseTime } from '../upstream/wire-values.ts';
import { builder, enumValues, keyedBy } from './builder.ts';
import { nonNull } from './field-options.ts';
import { toPercent } from './plddt.ts';
import type { FieldCost } from './query-cost.ts';

/** A batch by its id. `read` sends one List call in a request, however often it is called. */
export interface BatchShape {
  readonly batchId: string;
  read(): Promise<BatchAnswer>;
}

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

/** The cost of fields that share one List call. */
export const LIST: FieldCost = { shared: { list: 1 } };

const listField = <T>(description: string, read: (page: BatchAnswer) => T) => ({
  cost: LIST,
  description,
  resolve: async (batch: BatchShape): Promise<T> => read(await batch.read()),
});

export const Batch = builder.objectRef<BatchShape>('Batch');

builder.node(Batch, {
  extensions: keyedBy('batchId', 'id'),
  description:
    'Folds that were submitted together. One List call reads all fields but its id, label and time.',
  id: { resolve: ({ batchId }) => batchId, description: 'Relay id: give it to `node(id:)`.' },
  fields: (t) => ({
    batchId: t.exposeID('batchId', {
      nullable: false,
      description: 'The upstream\'s id of the batch, such as "5b0c8c3e-6f0f-4d7a-9d5b-0d4b7f6f3c11".',
    }),
    status: t.field({
      semanticNonNull: true,
      ...listField('Where the batch is and how it ended. Null only with an error.', toBatchStatus),
      type: BatchStatus,
    }),
    upstreamState: t.string(
      listField(
        'The word of the upstream for the state of the batch, such as "in_progress".',
        ({ status }) => status || null,
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
  }),
});
