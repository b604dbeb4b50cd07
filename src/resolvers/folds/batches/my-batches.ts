// myBatches: the submissions of the caller, from the ledger, because the service cannot list them.
import { GraphQLError } from 'graphql';
import * as z from 'zod';
import type { GatewayContext } from '../../../context.ts';
import { Batch } from '../../../schema/batch.ts';
import { builder, pageArgs } from '../../../schema/builder.ts';
import type { BatchPosition } from '../../../store/ledger/ledger.ts';
import {
  connectionPage,
  type PageArgs,
  pageSize,
  readCursor,
  readPageSize,
  writeCursor,
} from '../../relay/connection.ts';
import { toBatch } from './batch.ts';

const position = z.strictObject({ submittedAt: z.int(), batchId: z.string() });

async function myBatchesPage(ctx: GatewayContext, page: PageArgs) {
  if (ctx.principal === null)
    throw new GraphQLError(
      'Send the token that the batches were submitted with in the header `Authorization`, after the word ' +
        '`Bearer`.',
      { extensions: { code: 'UNAUTHENTICATED', retryable: false } },
    );
  const size = readPageSize(page);
  const { ledger, principal } = ctx.submissions;
  const after: BatchPosition | null = page.after == null ? null : readCursor(position, page.after);
  // One more than the page, to know whether there is a next page.
  const { total, batches } = await ledger.batches(principal, { first: size + 1, after });
  const edges = batches.slice(0, size).map(({ submittedAt, batchId }) => ({
    cursor: writeCursor({ submittedAt, batchId }),
    node: toBatch(ctx, batchId),
  }));
  return connectionPage(total, edges, {
    hasNextPage: batches.length > size,
    hasPreviousPage: after !== null,
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

builder.queryField('myBatches', (t) =>
  t.field({
    type: BatchConnection,
    cost: (page) => ({ items: pageSize(page) }),
    semanticNonNull: true,
    description:
      'Batches submitted through this gateway with your token, newest first; null only with an error. Labels ' +
      'and times cost nothing, status and counts one List call for each batch.',
    args: pageArgs,
    resolve: (_, page, ctx) => myBatchesPage(ctx, page),
  }),
);
