// One result of `lookup`: the id, and the protein or the reason why there is none.
import { builder } from './builder.ts';
import { Problem, type ProblemShape } from './problem.ts';
import { publicNonNull } from './public-fields-plugin.ts';
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

const LookupStatus = builder.enumType('LookupStatus', {
  description: 'Whether an identifier led to a protein, or why not; also the column `status` of tables.',
  values: {
    FOUND: { description: 'The Atlas has the protein.' },
    NOT_IN_ATLAS: { description: 'The identifier is right, and the Atlas does not have its protein.' },
    NO_SUCH_ENTRY: {
      description: 'There is no UniProt entry with this accession or name; a sandbox lacks most of them.',
    },
    NOT_AN_IDENTIFIER: { description: 'The text names no protein; `problem` says what to type.' },
    UNAVAILABLE: { description: 'The upstream failed, so that nothing is known; ask again.' },
  } as const,
});

function statusOf({ exists, failure, problem, hash }: LookupRef): typeof LookupStatus.$inferType {
  if (exists) return 'FOUND';
  if (failure !== undefined) return 'UNAVAILABLE';
  if (problem?.kind === 'InvalidInput') return 'NOT_AN_IDENTIFIER';
  return hash === null ? 'NO_SUCH_ENTRY' : 'NOT_IN_ATLAS';
}

export const ProteinLookup = builder.objectRef<LookupRef>('ProteinLookup').implement({
  description: 'One result for each id, in your order, duplicates included.',
  fields: (t) => ({
    requested: t.exposeString(
      'requested',
      publicNonNull('record', 'The id that you gave, such as "P01308".'),
    ),
    status: t.field({
      ...publicNonNull('record', 'Whether there is a protein, or why not.'),
      type: LookupStatus,
      resolve: statusOf,
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
