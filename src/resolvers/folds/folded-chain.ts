// The chains of a folded complex, their proteins in the Atlas, and how sure the model is of their
// pairs.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { ChainKind } from '../../schema/input-chain.ts';
import { scaleArg, scalePlddt } from '../../schema/plddt.ts';
import { Protein } from '../../schema/protein.ts';
import type { FoldedChain as FoldedChainRecord } from '../../structure/fold/chains.ts';
import type { ChainPair } from '../../structure/fold/pae.ts';
import { findProtein } from '../atlas/protein.ts';
import { requiredPartsOf } from '../atlas/protein-parts.ts';
import { proteinLink } from '../costs.ts';

/** The field `protein` of a chain. */
export const proteinOfChain = {
  type: Protein,
  cost: proteinLink,
  description:
    'Its protein in the Atlas; null when the Atlas does not have it, and for other kinds of chains.',
  resolve: (
    { proteinHash }: { readonly proteinHash: string | null },
    _: object,
    ctx: GatewayContext,
    info: GraphQLResolveInfo,
  ) => (proteinHash === null ? null : findProtein(ctx, proteinHash, requiredPartsOf(info))),
} as const;

const KINDS = { protein: 'PROTEIN', rna: 'RNA', dna: 'DNA', ligand: 'LIGAND' } as const;

export const FoldedChain = builder.objectRef<FoldedChainRecord>('FoldedChain').implement({
  description:
    'One chain of the folded complex. A token is a residue, a nucleotide, or a component of a ligand.',
  fields: (t) => ({
    id: t.exposeString('id', { nullable: false, description: 'Chain id, such as "A".' }),
    kind: t.field({
      type: ChainKind,
      nullable: false,
      description: 'What it is made of.',
      resolve: ({ kind }) => KINDS[kind],
    }),
    tokenStart: t.exposeInt('tokenStart', {
      nullable: false,
      description: 'First token, 0-based over the whole complex.',
    }),
    tokenEnd: t.exposeInt('tokenEnd', { nullable: false, description: 'The token after the last one.' }),
    sequence: t.exposeString('sequence', {
      description: 'One-letter sequence of a polymer, modified residues as their parents; null for a ligand.',
    }),
    meanPlddt: t.float({
      description: 'Mean pLDDT over its tokens, 0 to 100 unless another scale is asked for.',
      args: { scale: t.arg(scaleArg) },
      resolve: ({ meanPlddt }, { scale }) => scalePlddt(meanPlddt, scale),
    }),
    proteinHash: t.expose('proteinHash', {
      type: 'ProteinHash',
      description: 'MD5 of the sequence of a protein, its id in the Atlas; null for other kinds.',
    }),
    protein: t.field(proteinOfChain),
  }),
});

export const ChainPairIptm = builder.objectRef<ChainPair>('ChainPairIptm').implement({
  description: 'How sure the model is of how two chains lie to each other.',
  fields: (t) => ({
    a: t.exposeString('a', { nullable: false, description: 'Id of the first chain, such as "A".' }),
    b: t.exposeString('b', { nullable: false, description: 'Id of the second chain, such as "B".' }),
    iptm: t.exposeFloat('value', { nullable: false, description: 'ipTM of the pair, 0 to 1, such as 0.62.' }),
    value: t.exposeFloat('value', {
      nullable: false,
      deprecationReason: 'Use `iptm`. Removed after 2027-05-31.',
      description: 'ipTM of the pair, 0 to 1.',
    }),
  }),
});
