// The chains of a fold result, their proteins in the Atlas, and the ipTM of their pairs.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { nonNull } from '../../schema/field-options.ts';
import { scaleArg, scalePlddt } from '../../schema/plddt.ts';
import { Protein } from '../../schema/protein.ts';
import { ChainKind } from '../../schema/task.ts';
import type { FoldedChain as FoldedChainRecord } from '../../structure/fold/chains.ts';
import type { ChainPair } from '../../structure/fold/pae.ts';
import { checkPart } from '../../upstream/folds/fold-errors.ts';
import { findProtein } from '../atlas/load-protein.ts';
import { requiredParts } from '../atlas/look-ahead.ts';
import { proteinLink } from '../costs.ts';

export const chainProteinField = {
  type: Protein,
  cost: proteinLink,
  description:
    'Its protein in the Atlas; null when the Atlas does not have it, and for other kinds of chains.',
  resolve: (
    { proteinHash }: { readonly proteinHash: string | null },
    _: object,
    ctx: GatewayContext,
    info: GraphQLResolveInfo,
  ) => (proteinHash === null ? null : findProtein(ctx, proteinHash, requiredParts(info))),
} as const;

interface FoldedChainShape extends FoldedChainRecord {
  /** Why no pLDDT of the result can be trusted; null when it can. */
  readonly plddtMisfit: string | null;
}

const KINDS = { protein: 'PROTEIN', rna: 'RNA', dna: 'DNA', ligand: 'LIGAND' } as const;

export const FoldedChain = builder.objectRef<FoldedChainShape>('FoldedChain').implement({
  description:
    'One chain of the folded complex. A token is a residue, a nucleotide, or a component of a ligand.',
  fields: (t) => ({
    id: t.exposeString('id', nonNull('Chain id, such as "A".')),
    kind: t.field({
      ...nonNull('What it is made of.'),
      type: ChainKind,
      resolve: ({ kind }) => KINDS[kind],
    }),
    tokenStart: t.exposeInt('tokenStart', nonNull('First token, 0-based over the whole complex.')),
    tokenEnd: t.exposeInt('tokenEnd', nonNull('The token after the last one.')),
    sequence: t.exposeString('sequence', {
      description: 'One-letter sequence of a polymer, modified residues as their parents; null for a ligand.',
    }),
    meanPlddt: t.float({
      description: 'Mean pLDDT over its tokens, 0 to 100 unless another scale is asked for.',
      args: { scale: t.arg(scaleArg) },
      resolve: ({ meanPlddt, plddtMisfit }, { scale }) =>
        scalePlddt(checkPart(meanPlddt, plddtMisfit), scale),
    }),
    proteinHash: t.expose('proteinHash', {
      type: 'ProteinHash',
      description: 'MD5 of the sequence of a protein, its id in the Atlas; null for other kinds.',
    }),
    protein: t.field(chainProteinField),
  }),
});

export const ChainPairIptm = builder.objectRef<ChainPair>('ChainPairIptm').implement({
  description: 'How sure the model is of how two chains lie to each other.',
  fields: (t) => ({
    a: t.exposeString('a', nonNull('Id of the first chain, such as "A".')),
    b: t.exposeString('b', nonNull('Id of the second chain, such as "B".')),
    iptm: t.exposeFloat('value', nonNull('ipTM of the pair, 0 to 1, such as 0.62.')),
  }),
});
