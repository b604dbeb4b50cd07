// checkFold: a dry run of submitFold that also looks the input up in the ledger.
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { FoldCheck } from '../../schema/fold-check.ts';
import { SubmitFoldInput } from '../../schema/submit.ts';
import type { Issue, SubmissionCheck } from '../../submission/check.ts';
import type { SubmissionInput } from '../../submission/submission.ts';
import { checkCost, checkInput } from './submit.ts';

/** A warning when the same input was submitted before. */
async function earlierWarning(ctx: GatewayContext, hash: string): Promise<Issue[]> {
  const earlier = await ctx.submissions.ledger.earlier(ctx.submissions.principal, hash);
  if (earlier === null) return [];
  const at = new Date(earlier.at).toISOString();
  return [
    earlier.batchId === null
      ? {
          path: '',
          code: 'EARLIER_OUTCOME_UNKNOWN',
          message: `The same input was sent at ${at}, and its outcome is unknown.`,
          hint: 'Some of it may be queued and charged already.',
        }
      : {
          path: '',
          code: 'ALREADY_SUBMITTED',
          message: `The same input was sent at ${at} and is batch ${earlier.batchId}.`,
          hint: 'Read that batch instead of paying again.',
        },
  ];
}

async function checkFold(ctx: GatewayContext, input: SubmissionInput): Promise<SubmissionCheck> {
  const { check, hash } = await checkInput(ctx, input);
  if (check.issues.length > 0) return check;
  return { ...check, warnings: [...check.warnings, ...(await earlierWarning(ctx, hash))] };
}

builder.queryFields((t) => ({
  checkFold: t.field({
    type: FoldCheck,
    nullable: false,
    cost: ({ input }) => ({ calls: checkCost(input) }),
    description: 'A dry run of submitFold: reports all mistakes. Nothing is sent and nothing is spent.',
    args: {
      input: t.arg({ type: SubmitFoldInput, required: true, description: 'The input of submitFold.' }),
    },
    resolve: (_, { input }, ctx) => checkFold(ctx, input),
  }),
}));
