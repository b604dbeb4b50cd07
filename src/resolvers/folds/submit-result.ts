// The results of submitFold and resubmitFold.
import type { GatewayContext } from '../../context.ts';
import { Batch, type BatchShape } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import {
  InputIssue,
  InvalidInput,
  type InvalidInputShape,
  type IssueShape,
  NotFound,
  type NotFoundShape,
  Problem,
  type ProblemBase,
  Refused,
  type RefusedShape,
} from '../../schema/problem.ts';
import { batchById, loadBatch } from './batch.ts';

/** The batch is queued, by this or an earlier request with the same key. */
interface FoldSubmittedShape {
  readonly kind: 'FoldSubmitted';
  readonly batch: BatchShape;
  readonly replayed: boolean;
  readonly message: string | null;
  readonly warnings: readonly IssueShape[];
}

/** The upstream may have queued tasks or not. */
interface OutcomeUnknownShape extends ProblemBase<'OutcomeUnknown'> {
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
  | IdempotencyConflictShape
  | NotFoundShape;

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
      nullable: false,
      description: 'The message of the upstream; "The folds are queued." where it has none.',
      resolve: ({ message }) => message ?? 'The folds are queued.',
    }),
    warnings: t.expose('warnings', {
      type: [InputIssue],
      nullable: false,
      description: 'What is allowed but probably not intended.',
    }),
  }),
});

const OutcomeUnknown = builder.objectRef<OutcomeUnknownShape>('OutcomeUnknown').implement({
  description:
    'The upstream answered 500 or the connection broke: some items may be queued and charged. The ' +
    'gateway never retries a submission.',
  interfaces: [Problem],
  fields: (t) => ({
    idempotencyKey: t.exposeString('idempotencyKey', {
      description: 'The idempotency key, which is now used up; null when you gave none.',
    }),
  }),
});

const existingBatch = {
  type: Batch,
  cost: 1,
  description: 'The batch of the first submission with this key; null when its outcome is unknown.',
  resolve: ({ batchId }: IdempotencyConflictShape, _: object, ctx: GatewayContext) =>
    batchId === null ? null : loadBatch(ctx, batchId),
} as const;

const IdempotencyConflict = builder.objectRef<IdempotencyConflictShape>('IdempotencyConflict').implement({
  description: 'The idempotency key was used before with another input. Nothing was sent.',
  interfaces: [Problem],
  fields: (t) => ({
    existingBatch: t.field(existingBatch),
    batch: t.field({
      ...existingBatch,
      deprecationReason: 'Use `existingBatch`. Removed after 2027-05-31.',
      description:
        'The same; it cannot be selected beside the `batch` of FoldSubmitted, which is never null.',
    }),
  }),
});

export const SubmitFoldResult = builder.unionType('SubmitFoldResult', {
  description: 'Result of a submission. Only resubmitFold, which names a batch, gives NotFound.',
  types: [FoldSubmitted, InvalidInput, Refused, OutcomeUnknown, IdempotencyConflict, NotFound],
  resolveType: ({ kind }) => kind,
});

/** The result for an input with mistakes. */
export const invalidInput = (issues: readonly IssueShape[]): InvalidInputShape => ({
  kind: 'InvalidInput',
  message: issues.length === 1 ? 'The input has a mistake.' : `The input has ${issues.length} mistakes.`,
  hint: 'checkFold reports the same mistakes and sends nothing.',
  issues,
});

/** The result when the time of the request is up before anything is sent, or its client has left. */
export const tooLate: SubmitFoldResultShape = {
  kind: 'Refused',
  message: 'The request has taken longer than it may. Nothing was sent.',
  hint: 'Send the same again; of several submissions, each in a request of its own.',
  reason: 'UNREACHABLE',
  retryable: true,
};

/** The result for a batch that an earlier request submitted. */
export const submittedBefore = (ctx: GatewayContext, batchId: string): SubmitFoldResultShape => ({
  kind: 'FoldSubmitted',
  batch: batchById(ctx, batchId),
  replayed: true,
  message: null,
  warnings: [],
});

const NEVER_KNOWN =
  'Some items may be queued and charged, and the gateway cannot find out. Send again, with another ' +
  'idempotencyKey, only if you accept that you may pay twice.';

/** The result for a key whose outcome is unknown. @param hint - for one that may still become known */
export const unknownOutcome = (
  message: string,
  key: string | null,
  upstreamRequestId: string | null,
  hint = NEVER_KNOWN,
): SubmitFoldResultShape => ({
  kind: 'OutcomeUnknown',
  message,
  hint,
  upstreamRequestId,
  idempotencyKey: key,
});
