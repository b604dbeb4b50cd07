// batchProgress: an event is the batch after a poll, and the tasks that changed since the previous
// event. All subscribers of a batch share one poller.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../../context.ts';
import type { BatchProgressEvent } from '../../../progress/progress-events.ts';
import { Batch } from '../../../schema/batch.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import { notFoundError } from '../../../schema/problem.ts';
import { Task } from '../../../schema/task.ts';
import { UpstreamError } from '../../../upstream/errors.ts';
import { selectedFields } from '../../selection.ts';
import { toTasks } from '../tasks/task-shape.ts';

type BatchProgressShape = Extract<BatchProgressEvent, { readonly kind: 'progress' }> & {
  readonly batchId: string;
};

const BatchProgress = builder.objectRef<BatchProgressShape>('BatchProgress').implement({
  description: 'How far a batch is. An event is sent whenever its counts or its state change.',
  fields: (t) => ({
    sequence: t.exposeInt('sequence', {
      nullable: false,
      description:
        'Number of this event, such as 7. A gap means that your client was slow: this event includes the ' +
        'changes of those left out.',
    }),
    batch: t.field({
      ...nonNull('The batch as it is now.'),
      type: Batch,
      resolve: ({ batchId, page }) => ({ batchId, read: async () => page }),
    }),
    changedTasks: t.field({
      type: [Task],
      // One event may list every task.
      cost: { items: 100 },
      nullable: false,
      description:
        'The tasks that changed since the previous event. In the first event: every task that is no ' +
        'longer queued.',
      resolve: ({ batchId, page, changed }) => toTasks(batchId, page, changed),
    }),
    nextPollSeconds: t.exposeInt('nextPollSeconds', {
      description: 'Seconds until the gateway polls the upstream again, such as 4; null in the last event.',
    }),
    estimatedSecondsLeft: t.exposeInt('estimatedSecondsLeft', {
      description:
        'Estimated seconds until no task is queued or running, such as 340, at the pace of the tasks that ' +
        'finished while the batch was watched; 0 in the last event. Null until three polls saw tasks finish, ' +
        'at least five of them after the first of these polls.',
    }),
    final: t.exposeBoolean('final', {
      nullable: false,
      description: 'Whether this is the last event: the counts show no queued or running task.',
    }),
  }),
});

async function watch(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  batchId: string,
): Promise<AsyncIterable<BatchProgressEvent>> {
  if (!(await ctx.owned.batch(batchId))) throw notFoundError('batch', batchId);
  const { live } = ctx.services;
  return live.watch(ctx.principal, batchId, {
    // The poll outlives the request that started it.
    upstream: { ...ctx.upstream, signal: undefined },
    signal: ctx.clientSignal,
    hasTasks: selectedFields(info, 'BatchProgress').some(({ name }) => name === 'changedTasks'),
  });
}

/** @throws UpstreamError when reads failed several times in a row; the stream continues */
function toProgress(batchId: string, event: BatchProgressEvent): BatchProgressShape {
  if (event.kind === 'failure') throw new UpstreamError(event.message, event.failure);
  return { ...event, batchId };
}

builder.subscriptionField('batchProgress', (t) =>
  t.field({
    type: BatchProgress,
    nullable: false,
    cost: 1,
    description:
      'Progress of a batch: the present state, then every change, polled every 2 to 30 seconds; the stream ' +
      'ends after the event whose `final` is true. An event with errors means that reads failed three times ' +
      'in a row; polling continues.',
    args: { batchId: t.arg.id({ required: true, description: 'The `batchId` from submitFold.' }) },
    subscribe: (_, { batchId }, ctx, info) => watch(ctx, info, batchId),
    resolve: (event, { batchId }) => toProgress(batchId, event),
  }),
);
