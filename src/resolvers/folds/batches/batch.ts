// Resolvers of Batch: name and time from the ledger, tasks from List.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../../context.ts';
import { Batch, type BatchShape, LIST } from '../../../schema/batch.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import { Task, TaskOrder, type TaskShape, TaskStatus } from '../../../schema/task.ts';
import { UpstreamError } from '../../../upstream/errors.ts';
import type { BatchAnswer } from '../../../upstream/folds/batch-reader.ts';
import type { ItemsRequest } from '../../../upstream/folds/list-items.ts';
import { parseTime } from '../../../upstream/wire-values.ts';
import { emptyPage } from '../../relay/connection.ts';
import { selectedFields } from '../../selection.ts';
import { SCORE_CALLS } from '../scores/batch-scores.ts';
import { needsAllTasks, needsScores, type TaskListArgs } from '../scores/ranked-tasks.ts';
import { LIST_CALLS } from '../tasks/all-tasks.ts';
import { firstRequest, tasksPage } from './batch-tasks.ts';

/** A batch that the upstream has deleted. */
const DELETED: BatchAnswer = { status: '', counts: {} };

/** A batch that exists. Its fields share one List call. */
export const toBatch = (ctx: GatewayContext, batchId: string): BatchShape => ({
  batchId,
  read: async () => (await ctx.batches.batch(batchId)) ?? DELETED,
});

/** A batch of this caller; null when the upstream has none with this id. One List call. */
export async function loadBatch(ctx: GatewayContext, batchId: string): Promise<BatchShape | null> {
  return (await ctx.batches.batch(batchId)) === null ? null : toBatch(ctx, batchId);
}

/** The first page of tasks that is selected; undefined without one, or for wrong arguments. */
function selectedPage(info: GraphQLResolveInfo): ItemsRequest | undefined {
  const tasks = selectedFields(info, 'Batch').find(({ name }) => name === 'tasks');
  try {
    return tasks && firstRequest(tasks.args as TaskListArgs);
  } catch {
    // The field itself says what is wrong.
    return undefined;
  }
}

/** Reads the selected page of tasks first: the same call returns existence and counts. */
async function findBatch(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  batchId: string,
): Promise<BatchShape | null> {
  const page = selectedPage(info);
  try {
    if (page !== undefined) await ctx.batches.page(batchId, page);
  } catch (error) {
    // Tasks that cannot be read hide neither state nor counts.
    if (!(error instanceof UpstreamError) || error.failure.code !== 'UPSTREAM_DRIFT') throw error;
  }
  return loadBatch(ctx, batchId);
}

const TaskConnection = builder.connectionObject(
  {
    type: Task,
    name: 'TaskConnection',
    description: 'A page of tasks. totalCount is that of the filter.',
    fields: (t) => ({
      unscoredCount: t.int({
        description:
          'Folded tasks of this list whose scores cannot be read, such as 2: they stand last in a ranking, and ' +
          '`minIptm` and `minIpsae` leave them out. Null unless one of these or `orderBy` needs scores.',
        resolve: ({ unscoredCount }) => unscoredCount,
      }),
    }),
  },
  { name: 'TaskEdge', description: 'A task and its cursor.' },
);

const batchFileUrl = (ctx: GatewayContext, batchId: string, file: string): string =>
  `${ctx.publicUrl}/batches/${encodeURIComponent(batchId)}/${file}`;

builder.objectFields(Batch, (t) => ({
  label: t.string({
    description: 'Your name for the batch; null for a batch that was not submitted through this gateway.',
    resolve: async ({ batchId }, _, ctx) => (await ctx.submissions.batch(batchId))?.label,
  }),
  submittedAt: t.field({
    cost: LIST,
    type: 'DateTime',
    description: 'When it was submitted.',
    resolve: async (batch, _, ctx) => {
      const submitted = await ctx.submissions.batch(batch.batchId);
      return submitted === null
        ? parseTime((await batch.read()).created_at)
        : new Date(submitted.submittedAt);
    },
  }),
  resultsUrl: t.field({
    type: 'URL',
    nullable: false,
    description:
      'Address of one ZIP archive with result JSON and mmCIF of every folded task, scores.tsv and ' +
      'manifest.json, which lists all tasks and what could not be read. Needs your token.',
    resolve: ({ batchId }, _, ctx) => batchFileUrl(ctx, batchId, 'results.zip'),
  }),
  scoresUrl: t.field({
    ...nonNull('Address of a tab-separated table of all tasks, best ipTM first. Needs your token.'),
    type: 'URL',
    resolve: ({ batchId }, _, ctx) => batchFileUrl(ctx, batchId, 'scores.tsv'),
  }),
  tasks: t.field({
    type: TaskConnection,
    // A cursor inside an upstream page takes a second call, an empty page one more. Rankings and
    // filters of one batch share what they read.
    cost: (args) => ({
      items: args.first ?? 100,
      ...(needsAllTasks(args)
        ? { shared: { all: LIST_CALLS, ...(needsScores(args) ? { allScores: SCORE_CALLS } : {}) } }
        : { calls: 3 }),
    }),
    semanticNonNull: true,
    description:
      'The tasks, as submitted unless `orderBy` says otherwise; null only with an error. One List call a page; ' +
      'with an order or a filter up to three that read all tasks, and for a first ranking by scores one Status ' +
      'call and one download for each folded task.',
    args: {
      statuses: t.arg({
        type: [TaskStatus],
        description: 'Only tasks of these, such as [FAILED, CANCELLED].',
      }),
      minIptm: t.arg.float({
        description:
          'Only folded tasks with at least this ipTM, 0 to 1, such as 0.8. Single chains have none.',
      }),
      minIpsae: t.arg.float({
        description:
          'Only folded tasks with two chains of at least this ipSAE, 0 to 1, such as 0.6. Needs includePae.',
      }),
      orderBy: t.arg({
        type: TaskOrder,
        defaultValue: 'INDEX',
        description: 'The order, such as IPTM: the best complex first.',
      }),
      first: t.arg.int({ description: 'Return at most this many, 0 to 1000; 100 when left out.' }),
      after: t.arg.string({ description: 'Return only what follows this cursor.' }),
    },
    resolve: async ({ batchId }, args, ctx) =>
      (await tasksPage(ctx, batchId, args)) ?? emptyPage<TaskShape>(),
  }),
}));

builder.queryField('batch', (t) =>
  t.field({
    type: Batch,
    cost: 1,
    description:
      'A batch by its id; null when the upstream has none with this id for your token. One List call.',
    args: { batchId: t.arg.id({ required: true, description: 'The `batchId` from submitFold.' }) },
    resolve: (_, { batchId }, ctx, info) => findBatch(ctx, info, batchId),
  }),
);
