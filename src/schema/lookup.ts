// One answer of `lookup`: what was asked, and the protein or the reason why there is none.
import { builder } from '../builder.ts';
import { Problem, type ProblemShape } from './problem.ts';

/** `hash` is what the identifier came to; `failure` is an upstream failure, thrown where the protein is asked for. */
export interface LookupRef {
  readonly requested: string;
  readonly hash: string | null;
  readonly exists: boolean;
  readonly problem: ProblemShape | null;
  readonly failure: unknown;
}

export const ProteinLookup = builder.objectRef<LookupRef>('ProteinLookup').implement({
  description: 'One answer for each id asked for, in the order asked, duplicates kept.',
  fields: (t) => ({
    requested: t.exposeString('requested', {
      nullable: false,
      description: 'The id as it was asked, such as "P01308".',
    }),
    problem: t.expose('problem', {
      type: Problem,
      description:
        'Why there is no protein: NotFound when nobody knows it, InvalidInput when it is no identifier. Null when there is one, and when the upstream failed (an error then stands at `protein`).',
    }),
  }),
});
