// Resolvers of Batch: name and time from the ledger, tasks from List. Also finds a batch.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { Batch, type BatchShape, TaskState } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { Task } from '../../schema/task.ts';
import { type BatchRecord, readBatch, readCounts } from '../../upstream/folds/batch-states.ts';
import { selectedFields } from '../selection.ts';
import { firstPage, queuedPage, tasksPage } from './batch-tasks.ts';
import type { TaskPageArgs } from './task-cursor.ts';

/** The record of a batch that the upstream has deleted. */
const FORGOTTEN: BatchRecord = {
  state: 'UNKNOWN',
  counts: readCounts({}),
  createdAt: null,
  queueDeadline: null,
  resultsExpireAt: null,
  warnings: [],
};

/** A batch by its id, loaded when a field needs it. */
export const batchById = (ctx: GatewayContext, batchId: string): BatchShape => ({
  batchId,
  read: async () => {
    const page = await ctx.batches.batch(batchId);
    return page === null ? FORGOTTEN : readBatch(page);
  },
});

/** A batch of this caller; null when the upstream has none with this id. One List call. */
export async function loadBatch(ctx: GatewayContext, batchId: string): Promise<BatchShape | null> {
  return (await ctx.batches.batch(batchId)) === null ? null : batchById(ctx, batchId);
}

/** Reads the selected page of tasks first: the same call returns existence and counts. */
async function findBatch(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  batchId: string,
): Promise<BatchShape | null> {
  const tasks = selectedFields(info, 'Batch').find(({ name }) => name === 'tasks');
  if (tasks !== undefined) await ctx.batches.page(batchId, firstPage(tasks.args as TaskPageArgs));
  return loadBatch(ctx, batchId);
}

const BatchTasksConnection = builder.connectionObject(
  {
    type: Task,
    name: 'BatchTasksConnection',
    description: "Cursor pagination over the upstream's pages. totalCount is that of the filter.",
  },
  { name: 'BatchTasksEdge', description: 'A task and its cursor.' },
);

async function tasksOf(ctx: GatewayContext, { batchId, justQueued, read }: BatchShape, args: TaskPageArgs) {
  const page =
    justQueued !== undefined && args.after == null
      ? queuedPage(batchId, justQueued, await read(), args)
      : await tasksPage(ctx, batchId, args);
  const edges = page?.edges ?? [];
  return {
    totalCount: page?.total ?? 0,
    edges,
    pageInfo: {
      hasNextPage: page?.hasNextPage ?? false,
      hasPreviousPage: page?.hasPreviousPage ?? false,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

builder.objectFields(Batch, (t) => ({
  label: t.string({
    description: 'Your name for the batch; null for a batch that was not submitted through this gateway.',
    resolve: async ({ batchId }, _, ctx) => (await ctx.submissions.batch(batchId))?.label,
  }),
  submittedAt: t.field({
    cost: { shared: { list: 1 } },
    type: 'DateTime',
    description: 'When it was submitted.',
    resolve: async (batch, _, ctx) => {
      const kept = await ctx.submissions.batch(batch.batchId);
      return kept === null ? (await batch.read()).createdAt : new Date(kept.submittedAt);
    },
  }),
  tasks: t.field({
    type: BatchTasksConnection,
    nullable: false,
    // A cursor inside an upstream page takes a second call, and a filter one more to find the next
    // page.
    cost: ({ first }) => ({ calls: 3, items: first ?? 100 }),
    description: 'The tasks in order: repeat by repeat, and by item in each repeat. One List call a page.',
    args: {
      state: t.arg({ type: TaskState, description: 'Only tasks in this state, such as FAILED.' }),
      first: t.arg.int({ description: 'Return at most this many, 0 to 1000; 100 when left out.' }),
      after: t.arg.string({ description: 'Return only what follows this cursor.' }),
    },
    resolve: (batch, args, ctx) => tasksOf(ctx, batch, args),
  }),
}));

builder.queryFields((t) => ({
  batch: t.field({
    type: Batch,
    cost: 1,
    description:
      'A batch by its id; null when the upstream has none with this id for your token. One List call.',
    args: {
      batchId: t.arg.id({ required: true, description: 'The `batchId` from submitFold.' }),
    },
    resolve: (_, { batchId }, ctx, info) => findBatch(ctx, info, batchId),
  }),
}));
