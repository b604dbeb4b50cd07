// The Batch type. resolvers/folds/batch-record.ts has the fields that List answers.
import type { BatchAnswer } from '../upstream/folds/batch-reader.ts';
import { builder, keyedBy } from './builder.ts';

/** A batch by its id. `read` sends one List call in a request, however often it is called. */
export interface BatchShape {
  readonly batchId: string;
  read(): Promise<BatchAnswer>;
}

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
  }),
});
