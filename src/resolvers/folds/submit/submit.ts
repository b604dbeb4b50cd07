// submitFold checks the input, sends it once and records the outcome.
import type { GatewayContext } from '../../../context.ts';
import type { WebhookPlace } from '../../../progress/webhooks.ts';
import { builder } from '../../../schema/builder.ts';
import { type InvalidInputShape, invalidInput, notSent } from '../../../schema/problem.ts';
import { SubmitFoldInput } from '../../../schema/submit-input.ts';
import type { SubmissionCheck } from '../../../submission/check.ts';
import type { SubmissionInput } from '../../../submission/input.ts';
import type { Issue } from '../../../submission/issues.ts';
import { wireBody } from '../../../submission/wire-body.ts';
import { type Enveloped, submit } from '../../../upstream/batch.ts';
import { UpstreamError } from '../../../upstream/errors.ts';
import type { BatchAnswer } from '../../../upstream/folds/batch-reader.ts';
import { taskIdAt } from '../../../upstream/folds/list-items.ts';
import type { Submitted } from '../../../upstream/wire.ts';
import { parseTime } from '../../../upstream/wire-values.ts';
import { toBatch } from '../batches/batch.ts';
import { toRefusedProblem } from '../refusal.ts';
import { type CheckedInput, checkCost, checkInput, reserveWebhook, webhookOwner } from './check-input.ts';
import { checkLedger, claimIdempotencyKey, withClaim } from './idempotency.ts';
import { recordBatch } from './record-batch.ts';
import { SubmitFoldResult, type SubmitFoldResultShape, unknownOutcome } from './submit-result.ts';

const HOUR_MS = 3_600_000;

/**
 * A new batch as List would return it, by Submit's answer: all tasks queued. A List call could fail
 * and hide what was paid. Undefined where the ids of the tasks are not known: that of a single one
 * is opaque, and only List knows them when the number of tasks is not that which was sent.
 */
function toQueuedBatch(data: Submitted, sent: number, at: number): BatchAnswer | undefined {
  const { batch_id, task_id, total_items } = data;
  if ((total_items != null && total_items !== sent) || (sent === 1 && task_id == null)) return undefined;
  // The defaults of the specification, where the service does not say.
  const toTime = (text: string | null | undefined, hours: number): string =>
    (parseTime(text) ?? new Date(at + hours * HOUR_MS)).toISOString();
  return {
    status: 'in_progress',
    counts: { queued: sent },
    created_at: new Date(at).toISOString(),
    expires_at: toTime(data.expires_at, 24),
    results_expire_at: toTime(data.results_expire_at, 31 * 24),
    items: Array.from({ length: sent }, (_, index) => ({
      task_id: sent === 1 && task_id != null ? task_id : taskIdAt(batch_id, index),
      status: 'queued',
    })),
  };
}

/** Warns when the service queued another number of tasks than were sent: names go by positions. */
function findCountWarnings({ total_items }: Submitted, { taskCount }: SubmissionCheck): readonly string[] {
  if (total_items == null || total_items === taskCount) return [];
  return [
    `The upstream says that it queued ${total_items} tasks, and ${taskCount} were sent: names of ` +
      'tasks may be wrong.',
  ];
}

/** The batch is queued: a store that fails must not hide it. */
const NOTIFY_NOT_STORED: Issue = {
  path: 'notify',
  code: 'NOTIFY_NOT_STORED',
  message: 'The batch is queued, but the gateway could not store where to notify you: it will not.',
  hint: "Watch batchProgress instead. Tell the operator: the gateway's store fails.",
};

/** The first submission with a key decides where to notify. */
const NOTIFY_NOT_CHANGED: Issue = {
  path: 'notify',
  code: 'NOTIFY_NOT_CHANGED',
  message:
    'An earlier request with this idempotency key has submitted the batch, and nothing is waiting to be sent to this ' +
    'address: that request named none or another one, or its notification was sent already.',
  hint: 'Watch batchProgress, or read the batch.',
};

/** Stores where to notify when a batch ends. @returns a warning where that failed */
async function addWebhook(
  { services, upstream, requestId }: GatewayContext,
  place: WebhookPlace,
  url: string,
  batchId: string,
): Promise<readonly Issue[]> {
  try {
    await place.add({ url, batchId, token: upstream.token });
    return [];
  } catch (error) {
    services.storeFailed('documents', error, requestId);
    return [NOTIFY_NOT_STORED];
  }
}

/** The result of an earlier request, with a warning where this one names another address. */
async function withNotifyWarning(
  ctx: GatewayContext,
  result: SubmitFoldResultShape,
  url: string | null,
): Promise<SubmitFoldResultShape> {
  if (result.kind !== 'FoldSubmitted' || url === null) return result;
  const { services, requestId } = ctx;
  const isPending = await services.webhooks
    ?.isPending(webhookOwner(ctx), result.batch.batchId, url)
    .catch((error: unknown) => {
      services.storeFailed('documents', error, requestId);
      return false;
    });
  return isPending ? result : { ...result, warnings: [...result.warnings, NOTIFY_NOT_CHANGED] };
}

async function recordSuccess(
  ctx: GatewayContext,
  checked: CheckedInput,
  place: WebhookPlace | null,
  { data, warnings }: Enveloped<Submitted>,
): Promise<SubmitFoldResultShape> {
  const { check, submission } = checked;
  const { notifyUrl } = submission;
  const at = ctx.services.clock.now();
  const notRecorded = await recordBatch(ctx, checked, data, at);
  const notNotified =
    notifyUrl === null || place === null ? [] : await addWebhook(ctx, place, notifyUrl, data.batch_id);
  const queued = toQueuedBatch(data, check.taskCount, at);
  if (queued !== undefined) ctx.batches.prime(data.batch_id, queued);
  const fromUpstream = [...findCountWarnings(data, check), ...warnings].map(
    (message): Issue => ({ path: '', code: 'UPSTREAM_WARNING', message, hint: null }),
  );
  return {
    kind: 'FoldSubmitted',
    batch: toBatch(ctx, data.batch_id),
    replayed: false,
    message: data.message ?? null,
    warnings: [...check.warnings, ...fromUpstream, ...notRecorded, ...notNotified],
  };
}

/** After a failed write the key stays pending, in time an unknown outcome: never sent twice. */
const keepKeyPending = (): void => undefined;

/**
 * The mistakes that the service found, with their places (spec: 422 with `detail`): nothing was
 * queued.
 */
function toInvalidInput(error: unknown): InvalidInputShape | null {
  if (!(error instanceof UpstreamError)) return null;
  const { status, issues = [] } = error.failure;
  if ((status !== 422 && status !== 400) || issues.length === 0) return null;
  return invalidInput(
    issues.map(({ path, code, message }) => ({
      path,
      code: 'REFUSED_BY_UPSTREAM',
      message,
      hint: `The upstream calls this ${code}.`,
    })),
    'The upstream found mistakes in the input; nothing was queued.',
  );
}

/**
 * The result when the time of the request is up before anything is sent, or its client has left.
 */
const TOO_LATE = notSent(
  'The request has taken longer than it may. Nothing was sent.',
  'Send the same again; of several submissions, each in a request of its own.',
);

/** Describes a Submit that may have had an effect. The messages of reads would say to try again. */
function describeUnknown({ failure: { code, status }, message }: UpstreamError): string {
  if (status === undefined && code === 'UPSTREAM_TIMEOUT')
    return 'The upstream did not answer the submission in time.';
  if (status === undefined && code === 'UPSTREAM_UNAVAILABLE')
    return 'The connection broke before the upstream had answered the submission.';
  return message;
}

/** Records a failed Submit: a refusal releases the key, everything else uses it up. */
async function recordFailure(
  ctx: GatewayContext,
  { submission, hash }: CheckedInput,
  error: unknown,
): Promise<SubmitFoldResultShape> {
  const { ledger, principal } = ctx.submissions;
  const key = submission.idempotencyKey;
  const { signal, onFailure } = ctx.upstream;
  if (error instanceof UpstreamError) onFailure?.(error);
  const isUnsent = signal?.aborted === true && error === signal.reason;
  const refused = isUnsent ? TOO_LATE : (toInvalidInput(error) ?? toRefusedProblem(error));
  if (refused !== null) {
    if (key !== null) await ledger.release(principal, key);
    return refused;
  }
  const upstreamRequestId = error instanceof UpstreamError ? (error.failure.requestId ?? null) : null;
  await ledger.recordUnknown(principal, key, { inputHash: hash, upstreamRequestId }).catch(keepKeyPending);
  if (!(error instanceof UpstreamError)) throw error;
  return unknownOutcome(describeUnknown(error), key, upstreamRequestId);
}

async function sendAndRecord(
  ctx: GatewayContext,
  checked: CheckedInput,
  place: WebhookPlace | null,
): Promise<SubmitFoldResultShape> {
  let answer: Enveloped<Submitted>;
  try {
    // A client that leaves cancels only what is not sent yet.
    ctx.upstream.signal?.throwIfAborted();
    answer = await submit({ ...ctx.upstream, signal: undefined }, wireBody(checked.submission));
  } catch (error) {
    return recordFailure(ctx, checked, error);
  }
  return recordSuccess(ctx, checked, place, answer);
}

/** Sends it with a place for its webhook, or refuses it where the caller has no place left. */
async function sendWithPlace(ctx: GatewayContext, checked: CheckedInput): Promise<SubmitFoldResultShape> {
  if (checked.submission.notifyUrl === null) return sendAndRecord(ctx, checked, null);
  const place = await reserveWebhook(ctx);
  if ('code' in place) {
    const { ledger, principal } = ctx.submissions;
    const key = checked.submission.idempotencyKey;
    if (key !== null) await ledger.release(principal, key);
    return invalidInput([place], 'You wait for too many batches.', 'Nothing was sent.');
  }
  return sendAndRecord(ctx, checked, place).finally(place.release);
}

/**
 * Sends a submission once for its idempotency key. It completes also when the client disconnects.
 */
async function submitFold(ctx: GatewayContext, input: SubmissionInput): Promise<SubmitFoldResultShape> {
  const checked = await checkInput(ctx, input);
  const { issues } = checked.check;
  if (issues.length > 0) {
    const message =
      issues.length === 1 ? 'The input has a mistake.' : `The input has ${issues.length} mistakes.`;
    return invalidInput(issues, message, 'checkFold reports the same mistakes and sends nothing.');
  }
  const key = checked.submission.idempotencyKey;
  const earlier = key === null ? await checkLedger(ctx) : await claimIdempotencyKey(ctx, key, checked.hash);
  if (earlier !== null) return withNotifyWarning(ctx, earlier, checked.submission.notifyUrl);
  // The gateway does not stop before the outcome is recorded.
  return ctx.services.submitting.run(() => withClaim(ctx, key, () => sendWithPlace(ctx, checked)));
}

builder.mutationField('submitFold', (t) =>
  t.field({
    type: SubmitFoldResult,
    cost: ({ input }) => ({ calls: 1 + checkCost(input) }),
    semanticNonNull: true,
    description:
      'Checks the input and sends it once, without retries; null only with an error. Give an idempotencyKey ' +
      'to be able to send it again safely.',
    args: { input: t.arg({ type: SubmitFoldInput, required: true, description: 'The complexes to fold.' }) },
    resolve: (_, { input }, ctx) => submitFold(ctx, input),
  }),
);
