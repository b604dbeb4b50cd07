// The Batch type. resolvers/folds/batch-record.ts has the fields that List answers.
import type { BatchAnswer } from '../upstream/folds/batch-reader.ts';
import { builder, enumValues, keyedBy } from './builder.ts';

export const TaskState = builder.enumType('TaskState', {
  description: 'Where a task is.',
  values: enumValues({
    QUEUED: 'Waiting to start; can still be cancelled.',
    IN_PROGRESS: 'Being folded; it will be charged.',
    DONE: 'Folded.',
    FAILED: 'Folding failed; `error` says why.',
    CANCELLED: 'Cancelled before it started, by you or after 24 hours in the queue; not charged.',
    UNKNOWN: 'A state that this gateway does not know.',
  }),
});

/** A batch by its id. `read` sends one List call in a request, however often it is called. */
export interface BatchShape {
  readonly batchId: string;
  read(): Promise<BatchAnswer>;
}

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
  }),
});
