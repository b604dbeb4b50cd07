// The results of submitFold.
import type { GatewayContext } from '../../../context.ts';
import { Batch, type BatchShape } from '../../../schema/batch.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import {
  InputIssue,
  InvalidInput,
  Problem,
  type ProblemShape,
  Refused,
  UPSTREAM_REQUEST_ID,
} from '../../../schema/problem.ts';
import type { Issue } from '../../../submission/issues.ts';
import { loadBatch, toBatch } from '../batches/batch.ts';

/** The batch is queued, by this or an earlier request with the same key. */
interface FoldSubmittedShape {
  readonly kind: 'FoldSubmitted';
  readonly batch: BatchShape;
  readonly replayed: boolean;
  readonly message: string | null;
  readonly warnings: readonly Issue[];
}

/** The upstream may have queued tasks or not. */
interface OutcomeUnknownShape extends ProblemShape<'OutcomeUnknown'> {
  readonly idempotencyKey: string | null;
  readonly upstreamRequestId: string | null;
}

/** The key was used with another input; `batchId` is the batch of that input where it is known. */
interface IdempotencyConflictShape extends ProblemShape<'IdempotencyConflict'> {
  readonly batchId: string | null;
}

const FoldSubmitted = builder.objectRef<FoldSubmittedShape>('FoldSubmitted').implement({
  description: 'The folds are queued.',
  fields: (t) => ({
    batch: t.expose('batch', { ...nonNull('The batch of the folds.'), type: Batch }),
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

export type SubmitFoldResultShape = typeof SubmitFoldResult.$inferType;

export const submittedBefore = (ctx: GatewayContext, batchId: string): FoldSubmittedShape => ({
  kind: 'FoldSubmitted',
  batch: toBatch(ctx, batchId),
  replayed: true,
  message: null,
  warnings: [],
});

const UNKNOWN_HINT =
  'Some items may be queued and charged. Look whether myBatches has the batch, and whether the service charged ' +
  'your key for it. Send it again, with another idempotencyKey, only if neither is so.';

/**
 * The result for a key whose outcome is unknown.
 *
 * @param hint - for one that may still become known
 */
export const unknownOutcome = (
  message: string,
  idempotencyKey: string | null,
  upstreamRequestId: string | null,
  hint = UNKNOWN_HINT,
): OutcomeUnknownShape => ({ kind: 'OutcomeUnknown', message, hint, upstreamRequestId, idempotencyKey });
