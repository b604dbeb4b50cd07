// Results of cancelBatch and cancelTask.
import { builder } from './builder.ts';
import {
  NotFound,
  type NotFoundShape,
  Problem,
  type ProblemBase,
  Refused,
  type RefusedShape,
} from './problem.ts';

/** The batch or task to cancel. */
export interface CancelTarget {
  readonly what: 'batch' | 'task';
  readonly id: string;
}

export interface CancelledShape {
  readonly kind: 'Cancelled';
  readonly target: CancelTarget;
  /** Each selected field that needs the count calls it. @throws where the service did not say */
  readonly cancelledCount: () => Promise<number>;
}

export interface NothingToCancelShape extends ProblemBase<'NothingToCancel'> {
  readonly target: CancelTarget;
}

export type CancelResultShape = CancelledShape | NothingToCancelShape | NotFoundShape | RefusedShape;

export const Cancelled = builder.objectRef<CancelledShape>('Cancelled').implement({
  description: 'Everything that could be cancelled is cancelled. Running tasks continue and are charged.',
  fields: (t) => ({
    cancelledCount: t.int({
      nullable: false,
      description: 'Tasks that were queued and are now cancelled, free of charge, such as 12.',
      resolve: (cancelled) => cancelled.cancelledCount(),
    }),
    alreadyCancelled: t.boolean({
      nullable: false,
      description: 'True when it was cancelled before and this call changed nothing.',
      resolve: async (cancelled) => (await cancelled.cancelledCount()) === 0,
    }),
  }),
});

export const NothingToCancel = builder.objectRef<NothingToCancelShape>('NothingToCancel').implement({
  description: 'Nothing could be cancelled: every task is running or has ended.',
  interfaces: [Problem],
});

export const CancelResult = builder.unionType('CancelResult', {
  description: 'Result of a cancellation.',
  types: [Cancelled, NothingToCancel, NotFound, Refused],
  resolveType: ({ kind }) => kind,
});
