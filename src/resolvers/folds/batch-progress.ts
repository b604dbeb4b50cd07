// batchProgress: a poll that many share, as events of one client.
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
    // The poll outlives the request that happened to open it.
    upstream: { ...ctx.upstream, signal: undefined },
    signal: ctx.clientSignal,
    tasks: selectedFields(info, 'BatchProgress').some(({ name }) => name === 'changedTasks'),
  });
}

/** @throws UpstreamError for reads that failed several times in a row; the stream goes on */
function progressOf(batchId: string, news: BatchProgressEvent): BatchProgressShape {
  if (news.kind === 'failure') throw new UpstreamError(news.message, news.failure);
  const { sequence, page, changed, nextPollSeconds, final } = news;
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
      'How far a batch is. Starts with the present state, then tells every change, and ends after the event whose `final` is true. All who watch a batch share one poll of the upstream, every 2 to 30 seconds. An event with errors says that reads failed three times in a row; polling goes on, and the next good event follows.',
    args: { batchId: t.arg.id({ required: true, description: 'As submitFold gave it.' }) },
    subscribe: (_, { batchId }, ctx, info) => watch(ctx, info, batchId),
    resolve: (news, { batchId }) => progressOf(batchId, news),
  }),
);
