// One answer of `lookup`: what was asked, and the protein or the reason why there is none.
import { builder } from './builder.ts';
import { Problem, type ProblemShape } from './problem.ts';

/** `hash` is what the identifier came to; `failure` is an upstream failure, thrown by the field that `failsAt` names. */
export interface LookupRef {
  readonly requested: string;
  readonly hash: string | null;
  readonly exists: boolean;
  readonly problem: ProblemShape | null;
  readonly failure: unknown;
  readonly failsAt: 'protein' | 'problem';
}

export const ProteinLookup = builder.objectRef<LookupRef>('ProteinLookup').implement({
  description: 'One answer for each id asked for, in the order asked, duplicates kept.',
  fields: (t) => ({
    requested: t.exposeString('requested', {
      public: 'record',
      nullable: false,
      description: 'The id as it was asked, such as "P01308".',
    }),
    problem: t.field({
      public: 'record',
      type: Problem,
      description:
        'Why there is no protein: NotFound when it does not exist, InvalidInput when the id is not an identifier. Null when there is a protein, and when the service failed: an error then stands at `protein`, or here where `protein` is not selected.',
      resolve: ({ problem, failure, failsAt }) => {
        if (failure !== undefined && failsAt === 'problem') throw failure;
        return problem;
      },
    }),
  }),
});
