// One event of batchProgress: the batch as it is now, and what changed since the event before. Everything comes with the
// poll that caused it; reading it calls nobody.

import { Batch, type BatchShape } from './batch.ts';
import { builder } from './builder.ts';
import { Task, type TaskShape } from './task.ts';

export interface BatchProgressShape {
  readonly sequence: number;
  readonly batch: BatchShape;
  readonly changedTasks: readonly TaskShape[];
  readonly nextPollSeconds: number | null;
  readonly final: boolean;
}

export const BatchProgress = builder.objectRef<BatchProgressShape>('BatchProgress').implement({
  description: 'How far a batch is, told whenever its counts or its state change.',
  fields: (t) => ({
    sequence: t.exposeInt('sequence', {
      nullable: false,
      description:
        'Grows with every change, such as 7. A gap means that this client was slow and that the changes between are in this event.',
    }),
    batch: t.expose('batch', { type: Batch, nullable: false, description: 'The batch as it is now.' }),
    changedTasks: t.expose('changedTasks', {
      type: [Task],
      // An event may tell of every task.
      cost: { items: 100 },
      nullable: { list: false, items: false },
      description:
        'Just the tasks that changed since the event before, as they are now. In the first event: every task that has left the queue.',
    }),
    nextPollSeconds: t.exposeInt('nextPollSeconds', {
      description: 'Seconds until the upstream is asked again, such as 4; null in the last event.',
    }),
    final: t.exposeBoolean('final', {
      nullable: false,
      description: 'Whether this is the last event: no task is queued or running any more, by the counts.',
    }),
  }),
});
