// resubmitFold: submits those tasks of a batch again that are in the given states, with their order
// and names.
import { createHash } from 'node:crypto';
import type { GatewayContext } from '../../context.ts';
import { TaskState } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { badInput } from '../../schema/scalars.ts';
import { SubmitFoldResult, type SubmitFoldResultShape } from '../../schema/submit.ts';
import { SubmitFoldInput } from '../../schema/submit-input.ts';
import { checkSubmission } from '../../submission/check.ts';
import { createPause, type Submission, type SubmissionInput } from '../../submission/submission.ts';
import { submissionHash } from '../../submission/wire-body.ts';
import { parseTaskState, type TaskStateName } from '../../upstream/folds/batch-states.ts';
import { readAllTasks } from './ranked-tasks.ts';
import { checkCost, checkInput, type Examined, invalidInput, submitOnce } from './submit.ts';

const fault = (path: string, code: string, message: string, hint: string): SubmitFoldResultShape =>
  invalidInput([{ path, code, message, hint }]);

/** The submission of the chosen tasks: one item for each, repeats expanded. */
const chosen = (submission: Submission, indexes: readonly number[]): Submission => ({
  ...submission,
  repeat: 1,
  items: indexes.flatMap((index) => submission.items[index % submission.items.length] ?? []),
});

interface Again extends Examined {
  readonly batchId: string;
  readonly states: readonly TaskStateName[];
}

/** The hash of the request, without the tasks: their states may change between two tries. */
const requestHashOf = ({ batchId, states, hash }: Again): string =>
  createHash('sha256')
    .update(JSON.stringify(['resubmit', batchId, [...new Set(states)].sort(), hash]))
    .digest('hex');

async function sendAgain(ctx: GatewayContext, again: Again): Promise<SubmitFoldResultShape> {
  const { batchId, states, submission } = again;
  const kept = await ctx.submissions.batch(batchId);
  const found = await readAllTasks(ctx, batchId);
  if (found === null) {
    return fault('batchId', 'UNKNOWN_BATCH', `There is no batch ${batchId} for this key.`, 'Check the id.');
  }
  // The label may differ; all else must equal the input of the batch.
  const same =
    kept === null || kept.inputHash === (await submissionHash({ ...submission, label: kept.label }));
  if (!same || found.tasks.length !== again.check.taskCount) {
    const hint = `Give its unchanged input: items, names, model and repeat (${found.tasks.length} tasks).`;
    return fault('input', 'OTHER_INPUT', `This is not the input that batch ${batchId} was made from.`, hint);
  }
  const indexes = found.tasks.filter(({ state }) => states.includes(state)).map(({ index }) => index);
  if (indexes.length === 0) {
    return fault(
      'states',
      'NOTHING_TO_RESUBMIT',
      `No task of the batch is ${states.join(' or ')}.`,
      'Nothing was sent.',
    );
  }
  const part = chosen(submission, indexes);
  const check = await checkSubmission(part, ctx.services.config.FOLD_MODELS, createPause());
  // Expanded repeats look like identical items.
  const warnings = check.warnings.filter(
    ({ code }) => code !== 'IDENTICAL_ITEM' && code !== 'DUPLICATE_NAME',
  );
  const sending = { submission: part, check: { ...check, warnings }, hash: await submissionHash(part) };
  return submitOnce(ctx, sending, requestHashOf(again));
}

async function resubmitFold(
  ctx: GatewayContext,
  batchId: string,
  input: SubmissionInput,
  states: readonly TaskStateName[],
): Promise<SubmitFoldResultShape> {
  if (states.length === 0) throw badInput('`states` is empty. Name at least one, such as FAILED.');
  if (states.some((state) => parseTaskState(state) === undefined))
    throw badInput('`states` cannot hold UNKNOWN.');
  const examined = await checkInput(ctx, input);
  const { issues } = examined.check;
  return issues.length > 0 ? invalidInput(issues) : sendAgain(ctx, { ...examined, batchId, states });
}

builder.mutationFields((t) => ({
  resubmitFold: t.field({
    type: SubmitFoldResult,
    nullable: false,
    cost: ({ input }) => ({ calls: 3 + checkCost(input) }),
    description:
      'Submits the tasks of a batch again that are in these states, as a new batch. Order and names ' +
      'stay the same.',
    args: {
      batchId: t.arg.id({ required: true, description: 'The batch whose tasks you want to submit again.' }),
      input: t.arg({
        type: SubmitFoldInput,
        required: true,
        description: 'The input of that batch, unchanged but for label and idempotencyKey.',
      }),
      states: t.arg({
        type: [TaskState],
        defaultValue: ['FAILED', 'CANCELLED'],
        description: 'States of the tasks to submit again, such as [FAILED].',
      }),
    },
    resolve: (_, { batchId, input, states }, ctx) =>
      resubmitFold(ctx, batchId, input, states ?? ['FAILED', 'CANCELLED']),
  }),
}));
