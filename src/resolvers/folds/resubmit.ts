// resubmitFold: submits tasks of a batch again that failed or were cancelled, with the inputs that the
// caller gives, because neither the service nor the ledger keeps sequences. The ledger links the new
// batch to the first one, so that no task is submitted again twice.
import { createHash } from 'node:crypto';
import type { GatewayContext } from '../../context.ts';
import { Batch, TaskState } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import { type IssueShape, notFound } from '../../schema/problem.ts';
import { badInput } from '../../schema/scalars.ts';
import { SubmitFoldInput } from '../../schema/submit-input.ts';
import type { LedgerBatch } from '../../store/ledger/ledger.ts';
import { submissionHash } from '../../submission/wire-body.ts';
import { parseTaskState } from '../../upstream/folds/batch-states.ts';
import { batchById } from './batch.ts';
import { claimIdempotencyKey, hasUnknownOutcome } from './idempotency.ts';
import { readAllTasks } from './ranked-tasks.ts';
import { chosenTasks, inputsOf, partOf, type Resubmission, some } from './resubmission.ts';
import {
  checkCost,
  checkInput,
  type Examined,
  keepKeyPending,
  NOT_REMEMBERED,
  send,
  submitOnce,
} from './submit.ts';
import {
  invalidInput,
  SubmitFoldResult,
  type SubmitFoldResultShape,
  submittedBefore,
} from './submit-result.ts';

/** Mistakes in what is to be submitted again, which checkFold cannot see. */
const refused = (issues: readonly IssueShape[]) => invalidInput(issues, 'Nothing was sent.');

const alreadySent = (tasks: string, earlier: readonly LedgerBatch[]): IssueShape => ({
  path: 'batchId',
  code: 'ALREADY_RESUBMITTED',
  message: `${tasks} were submitted again before, as batch ${some(earlier.map(({ batchId }) => batchId))}.`,
  hint: 'If they failed there too, resubmit that batch.',
});

/** The result where all tasks were submitted again before: that batch, when its input is this one. */
async function resubmittedBefore(
  ctx: GatewayContext,
  earlier: readonly LedgerBatch[],
  part: Examined,
): Promise<SubmitFoldResultShape> {
  for (const { batchId, label, inputHash } of earlier) {
    if (inputHash !== (await submissionHash({ ...part.submission, label }))) continue;
    return submittedBefore(ctx, batchId);
  }
  return refused([alreadySent('These tasks', earlier)]);
}

const hashOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** The hash of a request with the caller's key, without the tasks: their states may change between tries. */
const requestHashOf = ({ batchId, states, taskIds }: Resubmission, { hash }: Examined): string =>
  hashOf('resubmit', batchId, [...new Set(states)].sort(), taskIds && [...new Set(taskIds)].sort(), hash);

/** What an earlier request with the caller's key came to; null when the key is free. */
async function standingResult(
  ctx: GatewayContext,
  key: string | null,
  requestHash: string,
): Promise<SubmitFoldResultShape | null> {
  const { ledger, principal } = ctx.submissions;
  if (key === null || (await ledger.entry(principal, key)) === null) return null;
  const standing = await claimIdempotencyKey(ctx, key, requestHash);
  // The other request was refused meanwhile and freed the key.
  if (standing === null) await ledger.release(principal, key);
  return standing;
}

/** What another resubmission of the batch came to, for a caller who knows nothing of its key. */
function resultOfTurn(result: SubmitFoldResultShape): SubmitFoldResultShape {
  if (result.kind === 'OutcomeUnknown') return { ...result, idempotencyKey: null };
  if (result.kind !== 'IdempotencyConflict') return result;
  return {
    ...result,
    message: 'Another resubmission of this batch has not ended, or its outcome is unknown. Nothing was sent.',
    hint:
      'Try again in a minute. If it stays so, some tasks may be queued and charged: give an ' +
      'idempotencyKey of your own only if you accept that you may pay twice.',
  };
}

const isRemembered = (result: SubmitFoldResultShape): boolean =>
  result.kind !== 'FoldSubmitted' || !result.warnings.some(({ code }) => code === NOT_REMEMBERED);

/**
 * Sends a part under a key derived from how often the batch was resubmitted, so that the resubmissions
 * of a batch take turns, whatever keys of their own they have.
 *
 * @param earlier - resubmissions that the part was chosen by
 * @returns undefined when another one came first: the part has to be chosen again
 */
async function sendInTurn(
  ctx: GatewayContext,
  part: Examined,
  earlier: number,
  requestHash: string,
): Promise<SubmitFoldResultShape | undefined> {
  const { ledger, principal } = ctx.submissions;
  const { origin = null, submission, hash } = part;
  const batchId = origin?.batchId ?? '';
  const hasOwnKey = submission.idempotencyKey !== null;
  let turn = `resubmission ${earlier + 1} of ${batchId}`;
  // With a key of their own callers accept what unknown outcomes may have cost.
  if (hasOwnKey) while (hasUnknownOutcome(ctx, await ledger.entry(principal, turn))) turn += '+';
  const standing = await claimIdempotencyKey(ctx, turn, hash);
  if (standing !== null) return resultOfTurn(standing);
  if ((await ledger.resubmissions(principal, batchId)).length !== earlier) {
    await ledger.release(principal, turn);
    return undefined;
  }
  if (!hasOwnKey)
    return resultOfTurn(await send(ctx, { ...part, submission: { ...submission, idempotencyKey: turn } }));
  const result = await submitOnce(ctx, part, requestHash);
  if (result.kind === 'OutcomeUnknown')
    await ledger
      .recordUnknown(principal, turn, { inputHash: hash, upstreamRequestId: null })
      .catch(keepKeyPending);
  else if (isRemembered(result)) await ledger.release(principal, turn).catch(keepKeyPending);
  return result;
}

async function sendAgain(
  ctx: GatewayContext,
  asked: Resubmission,
  examined: Examined,
): Promise<SubmitFoldResultShape> {
  const { batchId, states } = asked;
  const { ledger, principal } = ctx.submissions;
  const key = examined.submission.idempotencyKey;
  const requestHash = requestHashOf(asked, examined);
  const standing = await standingResult(ctx, key, requestHash);
  if (standing !== null) return standing;
  const all = await readAllTasks(ctx, batchId);
  if (all === null) return notFound('batch', batchId);
  const issues: IssueShape[] = [];
  const inputs = await inputsOf(ctx, asked, examined, all.tasks.length, issues);
  const chosen = chosenTasks(all.tasks, asked, issues);
  if (issues.length > 0) return refused(issues);

  const itemCount = (await ctx.submissions.batch(batchId))?.itemCount ?? examined.submission.items.length;
  const withItem = chosen.flatMap(({ index, taskId }) => {
    const item = inputs.get(index % itemCount);
    return item === undefined ? [] : [{ index, taskId, item }];
  });
  if (withItem.length === 0) {
    const what = chosen.length === 0 ? 'the batch' : 'these items';
    const message = `No task of ${what} is ${states.join(' or ')}.`;
    return refused([{ path: 'states', code: 'NOTHING_TO_RESUBMIT', message, hint: null }]);
  }
  const earlier = await ledger.resubmissions(principal, batchId);
  const sentBefore = new Set(earlier.flatMap(({ origin }) => origin?.indexes ?? []));
  const left = withItem.filter(({ index }) => !sentBefore.has(index));
  if (left.length === 0) return resubmittedBefore(ctx, earlier, await partOf(ctx, asked, examined, withItem));

  const part = await partOf(ctx, asked, examined, left);
  const result = await sendInTurn(ctx, part, earlier.length, requestHash);
  if (result === undefined) return sendAgain(ctx, asked, examined);
  if (result.kind !== 'FoldSubmitted') return result;
  const warnings = leftOut(chosen.length - withItem.length, withItem.length - left.length, earlier);
  return { ...result, warnings: [...result.warnings, ...warnings] };
}

/** Warnings of tasks in the named states that were not sent. */
function leftOut(withoutItem: number, sentBefore: number, earlier: readonly LedgerBatch[]): IssueShape[] {
  const warnings: IssueShape[] = [];
  const unsent = `${withoutItem} more tasks of the batch are in these states`;
  if (withoutItem > 0)
    warnings.push({
      path: 'items',
      code: 'LEFT_OUT',
      message: `${unsent}; their items are not in the input.`,
      hint: 'Submit them with another call: the gateway keeps no sequences.',
    });
  if (sentBefore > 0) warnings.push(alreadySent(`${sentBefore} tasks`, earlier));
  return warnings;
}

async function resubmitFold(ctx: GatewayContext, asked: Resubmission): Promise<SubmitFoldResultShape> {
  const { batchId, input, states, taskIds } = asked;
  if (states.length === 0) throw badInput('`states` is empty. Name at least one, such as FAILED.');
  if (states.some((state) => parseTaskState(state) === undefined))
    throw badInput('`states` cannot hold UNKNOWN.');
  if (taskIds?.length === 0) throw badInput('`taskIds` is empty. Leave it out to submit all tasks again.');
  const examined = await checkInput(ctx, input, (await ctx.submissions.batch(batchId))?.model);
  const { issues } = examined.check;
  return issues.length > 0 ? invalidInput(issues) : sendAgain(ctx, asked, examined);
}

builder.mutationFields((t) => ({
  resubmitFold: t.field({
    type: SubmitFoldResult,
    cost: ({ input }) => ({ calls: 4 + checkCost(input) }),
    description:
      'Submits tasks of a batch again that failed or were cancelled, as a new batch, in their order and ' +
      'under their names. Neither the gateway nor the service keeps sequences, so `input` brings them. ' +
      'No task is submitted again twice, also without an idempotencyKey: the gateway remembers which ' +
      'ones were, and the same call gives the same batch. To fold tasks a third time, resubmit the ' +
      'second batch. Null only with an error.',
    args: {
      batchId: t.arg.id({ required: true, description: 'The batch whose tasks you want to submit again.' }),
      input: t.arg({
        type: SubmitFoldInput,
        required: true,
        description:
          'The unchanged input of that batch (label and idempotencyKey may differ), or only the items to ' +
          'submit again, mended or not, each under its name in the batch. `model` is that of the batch ' +
          'when left out.',
      }),
      states: t.arg({
        type: [TaskState],
        defaultValue: ['FAILED', 'CANCELLED'],
        description: 'States of the tasks to submit again, such as [FAILED].',
      }),
      taskIds: t.arg.idList({
        description: 'Only these tasks of the batch; every task in `states` when left out.',
      }),
    },
    resolve: (_, { batchId, input, states, taskIds }, ctx) =>
      resubmitFold(ctx, {
        batchId,
        input,
        states: states ?? ['FAILED', 'CANCELLED'],
        taskIds: taskIds?.map(String) ?? null,
      }),
  }),
}));

builder.objectFields(Batch, (t) => ({
  resubmissionOf: t.field({
    type: Batch,
    description: 'The batch whose tasks this one submits again (resubmitFold); null for a first one.',
    resolve: async ({ batchId }, _, ctx) => {
      const origin = (await ctx.submissions.batch(batchId))?.origin ?? null;
      return origin === null ? null : batchById(ctx, origin.batchId);
    },
  }),
  resubmissions: t.field({
    ...nonNull('The batches that submit tasks of this one again, oldest first.'),
    type: [Batch],
    resolve: async ({ batchId, isNew }, _, ctx) => {
      if (isNew === true) return [];
      const { ledger, principal } = ctx.submissions;
      return (await ledger.resubmissions(principal, batchId)).map((one) => batchById(ctx, one.batchId));
    },
  }),
}));
