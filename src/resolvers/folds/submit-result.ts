// The results of submitFold, and the service's refusals of a submission or
// cancellation as problems of the schema.
import type { GatewayContext } from '../../context.ts';
import { Batch, type BatchShape } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import {
  InputIssue,
  InvalidInput,
  type InvalidInputShape,
  type IssueShape,
  notSent,
  Problem,
  type ProblemBase,
  Refused,
  type RefusedShape,
  type ReportedProblem,
  UPSTREAM_REQUEST_ID,
} from '../../schema/problem.ts';
import { subjectOf429, UpstreamError } from '../../upstream/errors.ts';
import { loadBatch, toBatch } from './batch.ts';

/** The batch is queued, by this or an earlier request with the same key. */
interface FoldSubmittedShape {
  readonly kind: 'FoldSubmitted';
  readonly batch: BatchShape;
  readonly replayed: boolean;
  readonly message: string | null;
  readonly warnings: readonly IssueShape[];
}

/** The upstream may have queued tasks or not. */
interface OutcomeUnknownShape extends ReportedProblem<'OutcomeUnknown'> {
  readonly idempotencyKey: string | null;
}

/** The key was used with another input; `batchId` is the batch of that input where it is known. */
interface IdempotencyConflictShape extends ProblemBase<'IdempotencyConflict'> {
  readonly batchId: string | null;
}

export type SubmitFoldResultShape =
  | FoldSubmittedShape
  | InvalidInputShape
  | RefusedShape
  | OutcomeUnknownShape
  | IdempotencyConflictShape;

const FoldSubmitted = builder.objectRef<FoldSubmittedShape>('FoldSubmitted').implement({
  description: 'The folds are queued.',
  fields: (t) => ({
    batch: t.expose('batch', { type: Batch, nullable: false, description: 'The batch of the folds.' }),
    replayed: t.exposeBoolean('replayed', {
      nullable: false,
      description:
        'True when an earlier request with the same idempotency key queued them; nothing was spent again.',
    }),
    // Not null, so that a query can select it next to `message` of a problem, which is never null.
    message: t.string({
      ...nonNull('The message of the upstream; "The folds are queued." where it has none.'),
      resolve: ({ message }) => message ?? 'The folds are queued.',
    }),
    warnings: t.expose('warnings', {
      ...nonNull('What is allowed but probably not intended, and warnings of the upstream and the gateway.'),
      type: [InputIssue],
    }),
  }),
});

const OutcomeUnknown = builder.objectRef<OutcomeUnknownShape>('OutcomeUnknown').implement({
  description:
    'Some items may be queued and charged: the upstream failed (500), the connection broke, or an earlier ' +
    'request with this key has not ended or was cut off. The gateway never retries a submission.',
  interfaces: [Problem],
  fields: (t) => ({
    idempotencyKey: t.exposeString('idempotencyKey', {
      description:
        'The idempotency key, which is used up unless `hint` says to send the same again; null when you ' +
        'gave none.',
    }),
    upstreamRequestId: t.exposeString('upstreamRequestId', UPSTREAM_REQUEST_ID),
  }),
});

const IdempotencyConflict = builder.objectRef<IdempotencyConflictShape>('IdempotencyConflict').implement({
  description: 'The idempotency key was used before with another input. Nothing was sent.',
  interfaces: [Problem],
  fields: (t) => ({
    existingBatch: t.field({
      type: Batch,
      cost: 1,
      description: 'The batch of the first submission with this key; null when its outcome is unknown.',
      resolve: ({ batchId }, _, ctx) => (batchId === null ? null : loadBatch(ctx, batchId)),
    }),
  }),
});

export const SubmitFoldResult = builder.unionType('SubmitFoldResult', {
  description: 'Result of a submission.',
  types: [FoldSubmitted, InvalidInput, Refused, OutcomeUnknown, IdempotencyConflict],
  resolveType: ({ kind }) => kind,
});

export const invalidInput = (
  issues: readonly IssueShape[],
  hint = 'checkFold reports the same mistakes and sends nothing.',
): InvalidInputShape => ({
  kind: 'InvalidInput',
  message: issues.length === 1 ? 'The input has a mistake.' : `The input has ${issues.length} mistakes.`,
  hint,
  issues,
});

/** The result when the time of the request is up before anything is sent, or its client has left. */
export const tooLate = notSent(
  'The request has taken longer than it may. Nothing was sent.',
  'Send the same again; of several submissions, each in a request of its own.',
);

export const submittedBefore = (ctx: GatewayContext, batchId: string): SubmitFoldResultShape => ({
  kind: 'FoldSubmitted',
  batch: toBatch(ctx, batchId),
  replayed: true,
  message: null,
  warnings: [],
});

const UNKNOWN_HINT =
  'Some items may be queued and charged. Look whether myBatches has the batch, and whether the service charged ' +
  'your key for it. Send it again, with another idempotencyKey, only if neither is so.';

/** The result for a key whose outcome is unknown. @param hint - for one that may still become known */
export const unknownOutcome = (
  message: string,
  key: string | null,
  upstreamRequestId: string | null,
  hint = UNKNOWN_HINT,
): SubmitFoldResultShape => ({
  kind: 'OutcomeUnknown',
  message,
  hint,
  upstreamRequestId,
  idempotencyKey: key,
});

type Reason = RefusedShape['reason'];

const REASONS: Readonly<Record<number, Reason>> = {
  401: 'UNAUTHENTICATED',
  402: 'CREDITS',
  403: 'FORBIDDEN',
  422: 'MODEL_UNAVAILABLE',
};

/** Only its text says whether a 429 is about rates or credits (spec, section Errors). */
function toReason(status: number, text: string): Reason {
  if (status !== 429) return REASONS[status] ?? 'INVALID_REQUEST';
  const subject = subjectOf429(text);
  if (subject === undefined) return 'RATE_LIMIT_OR_CREDITS';
  return subject === 'credits' ? 'CREDITS' : 'RATE_LIMIT';
}

const HINTS: Readonly<Record<Reason, string>> = {
  RATE_LIMIT: 'Wait and send the same again.',
  CREDITS: 'Add credits to the key, or wait until they are renewed.',
  RATE_LIMIT_OR_CREDITS: 'Wait and send the same again; if it stays refused, look at the credits of the key.',
  MODEL_UNAVAILABLE: 'Ask the service whether the model is offered to this key.',
  UNAUTHENTICATED: 'Send a valid key of the service in the header `Authorization`, after the word `Bearer`.',
  FORBIDDEN: 'Ask the service for access, or disclose potentialSequenceOfConcern if you are approved for it.',
  INVALID_REQUEST: 'Mend the input as the message says.',
  UNREACHABLE: 'Send the same again in a moment.',
};

const TOO_LARGE_HINT =
  'The body was too large. Submit fewer items at once, each part with its own idempotencyKey.';

/** The hint where the input and the caller's key are not to blame. */
const OPERATOR_HINT = 'Nothing was done. Tell the operator of the gateway what the message says.';

/** Redirects that ask for the same request elsewhere: it was not carried out here. */
const NOT_CARRIED_OUT: ReadonlySet<number> = new Set([301, 307, 308]);

/**
 * A failed call as a refusal: a 4xx answer, a redirect of the request, or a request that was never
 * sent. Nothing was queued in all three cases.
 *
 * @returns null when the call may have had an effect, or did not fail at the service
 */
export function toRefusedProblem(error: unknown): RefusedShape | null {
  if (!(error instanceof UpstreamError)) return null;
  const { code, status, requestId, retryAfterSeconds, sent } = error.failure;
  const common = { kind: 'Refused', message: error.message, upstreamRequestId: requestId ?? null } as const;
  if (sent === false) {
    const wait = { retryAfterSeconds: retryAfterSeconds ?? null };
    return { ...common, hint: HINTS.UNREACHABLE, reason: 'UNREACHABLE', retryable: true, ...wait };
  }
  // 408 means that the service did not read the whole request in time; it may have queued a part.
  if (status === undefined || status === 408) return null;
  if (!NOT_CARRIED_OUT.has(status) && (status < 400 || status >= 500)) return null;
  const reason = toReason(status, error.message);
  return {
    ...common,
    hint: code === 'UPSTREAM_DRIFT' ? OPERATOR_HINT : status === 413 ? TOO_LARGE_HINT : HINTS[reason],
    reason,
    retryable:
      reason === 'RATE_LIMIT' || reason === 'RATE_LIMIT_OR_CREDITS' || retryAfterSeconds !== undefined,
    retryAfterSeconds: retryAfterSeconds ?? null,
  };
}
