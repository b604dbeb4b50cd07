// Every ending of a cancellation, as nouns. It calls nothing.
import { builder } from './builder.ts';
import {
  NotFound,
  type NotFoundShape,
  Problem,
  type ProblemBase,
  Refused,
  type RefusedShape,
} from './problem.ts';

/** What was asked to be cancelled. */
export type CancelTarget = { readonly batchId: string } | { readonly taskId: string };

export interface CancelledShape {
  readonly kind: 'Cancelled';
  readonly target: CancelTarget;
  /** Called by each field that needs it. @throws where the service did not say */
  readonly cancelledCount: () => Promise<number>;
}

export interface NothingToCancelShape extends ProblemBase<'NothingToCancel'> {
  readonly target: CancelTarget;
}

export type CancelResultShape = CancelledShape | NothingToCancelShape | NotFoundShape | RefusedShape;

export const Cancelled = builder.objectRef<CancelledShape>('Cancelled').implement({
  description: 'What could be cancelled is cancelled. Running tasks go on and are charged.',
  fields: (t) => ({
    cancelledCount: t.int({
      nullable: false,
      description: 'Tasks that were queued and are cancelled now, free of charge.',
      resolve: (cancelled) => cancelled.cancelledCount(),
    }),
    alreadyCancelled: t.boolean({
      nullable: false,
      description: 'True when it had been cancelled before and nothing was left to do.',
      resolve: async (cancelled) => (await cancelled.cancelledCount()) === 0,
    }),
  }),
});

export const NothingToCancel = builder.objectRef<NothingToCancelShape>('NothingToCancel').implement({
  description: 'No task is queued any more: all run, or have ended.',
  interfaces: [Problem],
});

export const CancelResult = builder.unionType('CancelResult', {
  description: 'Every ending of a cancellation.',
  types: [Cancelled, NothingToCancel, NotFound, Refused],
  resolveType: ({ kind }) => kind,
});
