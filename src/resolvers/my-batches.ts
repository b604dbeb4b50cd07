// myBatches: the caller's submissions out of the ledger, newest first. The upstream cannot list them.
import { z } from 'zod';
import { builder } from '../builder.ts';
import type { GatewayContext } from '../context.ts';
import { Batch } from '../schema/batch.ts';
import { badInput } from '../schema/scalars.ts';
import type { BatchPosition } from '../store/ledger.ts';
import { batchById } from './batch.ts';
import { pageCost } from './connection.ts';

const LARGEST_PAGE = 1000;
const DEFAULT_PAGE = 20;

const position = z.strictObject({ submittedAt: z.int(), batchId: z.string() });

const write = ({ submittedAt, batchId }: BatchPosition): string =>
  Buffer.from(JSON.stringify({ submittedAt, batchId })).toString('base64url');

function read(cursor: string): BatchPosition {
  try {
    return position.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch {
    throw badInput('`after` is no cursor of this connection. Use a cursor that it gave.');
  }
}

interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

async function myBatches(ctx: GatewayContext, { first, after }: PageArgs) {
  const size = first ?? DEFAULT_PAGE;
  if (size < 0 || size > LARGEST_PAGE) {
    throw badInput(`\`first\` must be between 0 and ${LARGEST_PAGE}; page on with the cursors.`);
  }
  const { ledger, principal } = ctx.submissions;
  const from = after == null ? null : read(after);
  // One more than is shown tells whether there is a next page.
  const { total, batches } = await ledger.batches(principal, { first: size + 1, after: from });
  const edges = batches
    .slice(0, size)
    .map((batch) => ({ cursor: write(batch), node: batchById(ctx, batch.batchId) }));
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
    description: 'Batches out of the ledger, newest first.',
  },
  { name: 'QueryMyBatchesEdge', description: 'A batch and its cursor.' },
);

builder.queryFields((t) => ({
  myBatches: t.field({
    type: QueryMyBatchesConnection,
    nullable: false,
    complexity: (page) => ({ ...pageCost(0)(page), field: 0 }),
    description:
      "Batches submitted through this gateway with the caller's token, newest first. The upstream cannot list them. Labels and times cost nothing; state and counts cost one List call for each batch.",
    args: {
      first: t.arg.int({ description: 'How many at most, 0 to 1000; 20 when left out.' }),
      after: t.arg.string({ description: 'Only what follows this cursor.' }),
    },
    resolve: (_, page, ctx) => myBatches(ctx, page),
  }),
}));
