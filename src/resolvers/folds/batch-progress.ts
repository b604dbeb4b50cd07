// batchProgress: the events of a shared poll, for one client.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { BatchProgressEvent } from '../../progress/progress-events.ts';
import { BatchProgress, type BatchProgressShape } from '../../schema/batch-progress.ts';
import { builder } from '../../schema/builder.ts';
import { badInput } from '../../schema/scalars.ts';
import { UpstreamError } from '../../upstream/errors.ts';
import { readBatch } from '../../upstream/folds/batch-states.ts';
import { selectedFields } from '../selection.ts';
import { taskFromItem } from './task-shape.ts';

async function watch(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  batchId: string,
): Promise<AsyncIterable<BatchProgressEvent>> {
  if (!(await ctx.owned.batch(batchId)))
    throw badInput(`There is no batch ${batchId.slice(0, 60)} of this caller.`);
  const { live } = ctx.services;
  return live.watch(ctx.principal, batchId, {
    // The poll outlives the request that started it.
    upstream: { ...ctx.upstream, signal: undefined },
    signal: ctx.clientSignal,
    tasks: selectedFields(info, 'BatchProgress').some(({ name }) => name === 'changedTasks'),
  });
}

/** @throws UpstreamError when reads failed several times in a row; the stream continues */
function progressOf(batchId: string, event: BatchProgressEvent): BatchProgressShape {
  if (event.kind === 'failure') throw new UpstreamError(event.message, event.failure);
  const { sequence, page, changed, nextPollSeconds, final } = event;
  return {
    sequence,
    batch: { batchId, read: async () => readBatch(page) },
    changedTasks: changed.map((item) => taskFromItem(batchId, page, item)),
    nextPollSeconds,
    final,
  };
}

builder.subscriptionField('batchProgress', (t) =>
  t.field({
    type: BatchProgress,
    nullable: false,
    cost: 1,
    description:
      'Progress of a batch: the present state, then every change; the stream ends after the event ' +
      'whose `final` is true. All clients that watch a batch share one poll of the upstream, every 2 ' +
      'to 30 seconds. An event with errors means that reads failed three times in a row; polling ' +
      'continues, and the next successful read sends an event.',
    args: { batchId: t.arg.id({ required: true, description: 'The `batchId` from submitFold.' }) },
    subscribe: (_, { batchId }, ctx, info) => watch(ctx, info, batchId),
    resolve: (event, { batchId }) => progressOf(batchId, event),
  }),
);
