// myBatches: the caller's submissions in the ledger, newest first. The upstream cannot list them.
import { GraphQLError } from 'graphql';
import { z } from 'zod';
import type { GatewayContext } from '../../context.ts';
import { Batch } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import type { BatchPosition } from '../../store/ledger/ledger.ts';
import { sizeOf } from '../relay/connection.ts';
import { readCursor, writeCursor } from '../relay/cursor.ts';
import { batchById } from './batch.ts';

const DEFAULT_PAGE = 20;

const position = z.strictObject({ submittedAt: z.int(), batchId: z.string() });

interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

const unauthenticated = (): GraphQLError =>
  new GraphQLError(
    'Send the token that the batches were submitted with, as `Authorization: Bearer <token>`.',
    {
      extensions: { code: 'UNAUTHENTICATED', retryable: false },
    },
  );

async function myBatches(ctx: GatewayContext, { first, after }: PageArgs) {
  if (ctx.principal === null) throw unauthenticated();
  const size = sizeOf(first, 'first') ?? DEFAULT_PAGE;
  const { ledger, principal } = ctx.submissions;
  const from: BatchPosition | null = after == null ? null : readCursor(position, after);
  // One more than the page, to know whether there is a next page.
  const { total, batches } = await ledger.batches(principal, { first: size + 1, after: from });
  const edges = batches.slice(0, size).map((batch) => ({
    cursor: writeCursor({ submittedAt: batch.submittedAt, batchId: batch.batchId }),
    node: batchById(ctx, batch.batchId),
  }));
  return {
    totalCount: total,
    edges,
    pageInfo: {
      hasNextPage: batches.length > size,
      hasPreviousPage: from !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

const QueryMyBatchesConnection = builder.connectionObject(
  {
    type: Batch,
    name: 'QueryMyBatchesConnection',
    description: 'A page of your batches, newest first.',
  },
  { name: 'QueryMyBatchesEdge', description: 'A batch and its cursor.' },
);

builder.queryFields((t) => ({
  myBatches: t.field({
    type: QueryMyBatchesConnection,
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
