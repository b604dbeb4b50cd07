// One result of `lookup`: the id, and the protein or the reason why there is none.
import { builder } from './builder.ts';
import { Problem, type ProblemShape } from './problem.ts';
import type { UniprotRef } from './uniprot.ts';

/** `hash` is the protein of the identifier; the field that `failsAt` names throws `failure`. */
export interface LookupRef {
  readonly requested: string;
  readonly hash: string | null;
  /** The UniProt entry that led to the protein. */
  readonly entry?: UniprotRef | undefined;
  readonly exists: boolean;
  readonly problem: ProblemShape | null;
  readonly failure: unknown;
  readonly failsAt: 'protein' | 'problem';
}

export const ProteinLookup = builder.objectRef<LookupRef>('ProteinLookup').implement({
  description: 'One result for each id, in your order, duplicates included.',
  fields: (t) => ({
    requested: t.exposeString('requested', {
      public: 'record',
      nullable: false,
      description: 'The id that you gave, such as "P01308".',
    }),
    problem: t.field({
      public: 'record',
      type: Problem,
      description:
        'Why there is no protein: NotFound when it does not exist, InvalidInput when the id is not an ' +
        'identifier. Null when there is a protein, and when the service failed: an error then stands ' +
        'at `protein`, or here if you did not select `protein`.',
      resolve: ({ problem, failure, failsAt }) => {
        if (failure !== undefined && failsAt === 'problem') throw failure;
        return problem;
      },
    }),
  }),
});
