// Resolvers of Batch: name and time from the ledger, tasks from List. Finds a batch, and lists the
// caller's submissions, which the upstream cannot.
import { GraphQLError, type GraphQLResolveInfo, locatedError, responsePathAsArray } from 'graphql';
import { z } from 'zod';
import type { GatewayContext } from '../../context.ts';
import { Batch, type BatchShape, TaskState } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import { Task, TaskOrder } from '../../schema/task.ts';
import type { BatchPosition } from '../../store/ledger/ledger.ts';
import type { BatchAnswer } from '../../upstream/folds/batch-reader.ts';
import type { ItemsRequest } from '../../upstream/folds/batch-states.ts';
import { parseTime } from '../../upstream/wire-values.ts';
import { connectionPage, type PageArgs, readCursor, sizeOf, writeCursor } from '../relay/connection.ts';
import { type Selected, selectedFields } from '../selection.ts';
import { firstPage, tasksPage } from './batch-tasks.ts';
import { LIST_CALLS, needsAllTasks, needsScores, SCORE_CALLS, type TaskListArgs } from './ranked-tasks.ts';

/** A batch that the upstream has deleted. */
const FORGOTTEN: BatchAnswer = { status: '', counts: {} };

export const batchById = (ctx: GatewayContext, batchId: string): BatchShape => ({
  batchId,
  read: async () => (await ctx.batches.batch(batchId)) ?? FORGOTTEN,
});

/** A batch of this caller; null when the upstream has none with this id. One List call. */
export async function loadBatch(ctx: GatewayContext, batchId: string): Promise<BatchShape | null> {
  return (await ctx.batches.batch(batchId)) === null ? null : batchById(ctx, batchId);
}

/** @throws GraphQLError at `tasks` where its arguments are wrong, before anything is asked */
function firstPageOf(info: GraphQLResolveInfo, { args, nodes }: Selected): ItemsRequest {
  try {
    return firstPage(args as TaskListArgs);
  } catch (error) {
    throw locatedError(error, nodes, [...responsePathAsArray(info.path), nodes[0]?.alias?.value ?? 'tasks']);
  }
}

/** Reads the selected page of tasks first: the same call returns existence and counts. */
async function findBatch(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  batchId: string,
): Promise<BatchShape | null> {
  const tasks = selectedFields(info, 'Batch').find(({ name }) => name === 'tasks');
  if (tasks !== undefined) await ctx.batches.page(batchId, firstPageOf(info, tasks));
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
          'Finished tasks of these states whose scores cannot be read, such as 2: the result has expired ' +
          'or is damaged; `scores` says why. They stand last in a ranking, and `minIptm` leaves them ' +
          'out. Null unless `orderBy` or `minIptm` needs scores.',
        resolve: ({ unscoredCount }) => unscoredCount,
      }),
    }),
  },
  { name: 'TaskEdge', description: 'A task and its cursor.' },
);

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
      return kept === null ? parseTime((await batch.read()).created_at) : new Date(kept.submittedAt);
    },
  }),
  resultsUrl: t.field({
    type: 'URL',
    nullable: false,
    description:
      'Address of one ZIP archive with result JSON and mmCIF of every finished task, scores.tsv and ' +
      'manifest.json, which lists all tasks and what could not be read. Needs your token.',
    resolve: ({ batchId }, _, ctx) => `${ctx.publicUrl}/batches/${encodeURIComponent(batchId)}/results.zip`,
  }),
  scoresUrl: t.field({
    ...nonNull('Address of a tab-separated table of all tasks, best ipTM first. Needs your token.'),
    type: 'URL',
    resolve: ({ batchId }, _, ctx) => `${ctx.publicUrl}/batches/${encodeURIComponent(batchId)}/scores.tsv`,
  }),
  tasks: t.field({
    type: TaskConnection,
    nullable: false,
    // A cursor inside an upstream page takes a second call, and a filter one more to find the next
    // page. Rankings of one batch share what they read.
    cost: (args) => ({
      items: args.first ?? 100,
      ...(needsAllTasks(args)
        ? { shared: { all: LIST_CALLS, ...(needsScores(args) ? { allScores: SCORE_CALLS } : {}) } }
        : { calls: 3 }),
    }),
    description:
      'The tasks, as submitted unless `orderBy` says otherwise. One List call a page; several `states`, ' +
      '`orderBy` and `minIptm` read all tasks, at most 2000, with three List calls. Orders by a score and ' +
      '`minIptm` need the scores of every finished task: one Status call and one download for each, once; ' +
      'the gateway stores scores, so a second ranking downloads nothing. When results cannot be read, the ' +
      'field is an error, and asking again goes on where it stopped. A task that finishes while you page ' +
      'never repeats or moves the tasks that you have seen.',
    args: {
      states: t.arg({
        type: [TaskState],
        description:
          'Only tasks in these states, such as [FAILED, CANCELLED]. One state alone pages fastest.',
      }),
      minIptm: t.arg.float({
        description:
          'Only finished tasks with at least this ipTM, 0 to 1, such as 0.8. Single chains have none.',
      }),
      orderBy: t.arg({
        type: TaskOrder,
        defaultValue: 'INDEX',
        description: 'The order, such as IPTM: the best complex first.',
      }),
      state: t.arg({
        type: TaskState,
        deprecationReason: 'Use `states`. Removed after 2027-05-31.',
        description: 'Only tasks in this state, such as FAILED.',
      }),
      first: t.arg.int({ description: 'Return at most this many, 0 to 1000; 100 when left out.' }),
      after: t.arg.string({ description: 'Return only what follows this cursor.' }),
    },
    resolve: async ({ batchId }, args, ctx) =>
      (await tasksPage(ctx, batchId, args)) ??
      connectionPage(0, [], { hasNextPage: false, hasPreviousPage: false }),
  }),
}));

const DEFAULT_PAGE = 20;

const position = z.strictObject({ submittedAt: z.int(), batchId: z.string() });

async function myBatches(ctx: GatewayContext, { first, after }: Pick<PageArgs, 'first' | 'after'>) {
  if (ctx.principal === null)
    throw new GraphQLError(
      'Send the token that the batches were submitted with in the header `Authorization`, after the word ' +
        '`Bearer`.',
      { extensions: { code: 'UNAUTHENTICATED', retryable: false } },
    );
  const size = sizeOf(first, 'first') ?? DEFAULT_PAGE;
  const { ledger, principal } = ctx.submissions;
  const from: BatchPosition | null = after == null ? null : readCursor(position, after);
  // One more than the page, to know whether there is a next page.
  const { total, batches } = await ledger.batches(principal, { first: size + 1, after: from });
  const edges = batches.slice(0, size).map((batch) => ({
    cursor: writeCursor({ submittedAt: batch.submittedAt, batchId: batch.batchId }),
    node: batchById(ctx, batch.batchId),
  }));
  return connectionPage(total, edges, {
    hasNextPage: batches.length > size,
    hasPreviousPage: from !== null,
  });
}

const BatchConnection = builder.connectionObject(
  {
    type: Batch,
    name: 'BatchConnection',
    description: 'A page of your batches, newest first.',
  },
  { name: 'BatchEdge', description: 'A batch and its cursor.' },
);

builder.queryFields((t) => ({
  batch: t.field({
    type: Batch,
    cost: 1,
    description:
      'A batch by its id; null when the upstream has none with this id for your token. One List call.',
    args: { batchId: t.arg.id({ required: true, description: 'The `batchId` from submitFold.' }) },
    resolve: (_, { batchId }, ctx, info) => findBatch(ctx, info, batchId),
  }),
  myBatches: t.field({
    type: BatchConnection,
    cost: ({ first }) => ({ items: first ?? DEFAULT_PAGE }),
    description:
      'Batches submitted through this gateway with your token, newest first. Labels and times cost ' +
      'nothing; state and counts cost one List call for each batch. Null only with an error.',
    args: {
      first: t.arg.int({ description: 'Return at most this many, 0 to 1000; 20 when left out.' }),
      after: t.arg.string({ description: 'Return only what follows this cursor.' }),
    },
    resolve: (_, page, ctx) => myBatches(ctx, page),
  }),
}));
