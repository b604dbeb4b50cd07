// Every ending of a submission, as nouns. It calls nothing and must not know how an ending comes about.

import { Batch, type BatchShape } from './batch.ts';
import { builder } from './builder.ts';
import {
  InputIssue,
  InvalidInput,
  type InvalidInputShape,
  type IssueShape,
  Problem,
  type ProblemBase,
  Refused,
  type RefusedShape,
} from './problem.ts';

/** The batch is queued, now or by an earlier request with the same key. */
export interface FoldSubmittedShape {
  readonly kind: 'FoldSubmitted';
  readonly batch: BatchShape;
  readonly replayed: boolean;
  readonly message: string | null;
  readonly warnings: readonly IssueShape[];
}

/** Nobody knows whether something was queued. */
export interface OutcomeUnknownShape extends ProblemBase<'OutcomeUnknown'> {
  readonly idempotencyKey: string | null;
}

/** The key was used for something else; `batchId` is what became of that, where it is known. */
export interface IdempotencyConflictShape extends ProblemBase<'IdempotencyConflict'> {
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
    batch: t.expose('batch', { type: Batch, nullable: false, description: 'The batch they are in.' }),
    replayed: t.exposeBoolean('replayed', {
      nullable: false,
      description:
        'True when an earlier request with the same idempotency key had queued them; nothing was spent again.',
    }),
    // Not null, so that a query may ask for it beside the message of a problem, which never is.
    message: t.string({
      nullable: false,
      description: 'The upstream\'s words, "The folds are queued." where it has none.',
      resolve: ({ message }) => message ?? 'The folds are queued.',
    }),
    warnings: t.field({
      type: [InputIssue],
      nullable: { list: false, items: false },
      description: 'What was allowed but likely not meant.',
      resolve: ({ warnings }) => warnings,
    }),
  }),
});

const OutcomeUnknown = builder.objectRef<OutcomeUnknownShape>('OutcomeUnknown').implement({
  description:
    'The upstream answered 500 or the connection died: some items may be queued and charged. The gateway never retries it.',
  interfaces: [Problem],
  fields: (t) => ({
    idempotencyKey: t.exposeString('idempotencyKey', {
      description: 'The key that is spent by it; null when none was given.',
    }),
  }),
});

export const IdempotencyConflict = builder
  .objectRef<IdempotencyConflictShape>('IdempotencyConflict')
  .implement({
    description: 'The idempotency key was used before, for another input. Nothing was sent.',
    interfaces: [Problem],
  });

export const SubmitFoldResult = builder.unionType('SubmitFoldResult', {
  description: 'Every ending of a submission.',
  types: [FoldSubmitted, InvalidInput, Refused, OutcomeUnknown, IdempotencyConflict],
  resolveType: ({ kind }) => kind,
});
