// One event of batchProgress: the batch after a poll, and the tasks that changed since the previous
// event.

import { Batch, type BatchShape } from './batch.ts';
import { builder } from './builder.ts';
import { Task, type TaskShape } from './task.ts';

export interface BatchProgressShape {
  readonly sequence: number;
  readonly batch: BatchShape;
  readonly changedTasks: readonly TaskShape[];
  readonly nextPollSeconds: number | null;
  readonly estimatedSecondsLeft: number | null;
  readonly final: boolean;
}

export const BatchProgress = builder.objectRef<BatchProgressShape>('BatchProgress').implement({
  description: 'How far a batch is. An event is sent whenever its counts or its state change.',
  fields: (t) => ({
    sequence: t.exposeInt('sequence', {
      nullable: false,
      description:
        'Number of this event, such as 7. A gap means that your client was slow: this event includes the ' +
        'changes of those left out.',
    }),
    batch: t.expose('batch', { type: Batch, nullable: false, description: 'The batch as it is now.' }),
    changedTasks: t.expose('changedTasks', {
      type: [Task],
      // One event may list every task.
      cost: { items: 100 },
      nullable: { list: false, items: false },
      description:
        'The tasks that changed since the previous event. In the first event: every task that is no ' +
        'longer queued.',
    }),
    nextPollSeconds: t.exposeInt('nextPollSeconds', {
      description: 'Seconds until the gateway polls the upstream again, such as 4; null in the last event.',
    }),
    estimatedSecondsLeft: t.exposeInt('estimatedSecondsLeft', {
      description:
        'An estimate of the seconds until no task is queued or running, such as 340, at the pace of the tasks of ' +
        'this batch that finished while it was watched. Null until three polls saw at least five tasks finish. The ' +
        'service promises nothing: its queue may be faster or slower later.',
    }),
    final: t.exposeBoolean('final', {
      nullable: false,
      description: 'Whether this is the last event: the counts show no queued or running task.',
    }),
  }),
});
