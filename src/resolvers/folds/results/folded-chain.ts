// The chains of a fold result, their proteins in the Atlas, and the scores of their pairs.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../../context.ts';
import { builder } from '../../../schema/builder.ts';
import { nonNull } from '../../../schema/field-options.ts';
import { scaleArg, scalePlddt } from '../../../schema/plddt.ts';
import { Protein } from '../../../schema/protein.ts';
import { ChainKind } from '../../../schema/task.ts';
import type { FoldedChain as FoldedChainRecord } from '../../../structure/fold/chains.ts';
import type { ChainPairScores } from '../../../structure/fold/interface-scores.ts';
import { checkPart } from '../../../upstream/folds/fold-errors.ts';
import { findProtein } from '../../atlas/load-protein.ts';
import { requiredParts } from '../../atlas/look-ahead.ts';
import { proteinLink } from '../../costs.ts';

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

export interface ChainPairShape extends ChainPairScores {
  /** Why the PAE of the result cannot be trusted; null when it can. */
  readonly paeMisfit: string | null;
}

/** A score that needs the PAE. */
const paeScore = (
  score: 'ipsae' | 'ipsaeMax' | 'pDockQ2' | 'lis' | 'meanPae' | 'minPae',
  description: string,
) =>
  ({
    description,
    resolve: (pair: ChainPairShape) => checkPart(pair[score], pair.paeMisfit),
  }) as const;

export const ChainPair = builder.objectRef<ChainPairShape>('ChainPair').implement({
  description:
    'Scores of how two chains lie to each other, by their published formulas (docs/scores.md). All but ' +
    '`iptm` and `ipsae` are the same for `a`, `b` and `b`, `a`, and null for a chain with itself.',
  fields: (t) => ({
    a: t.exposeString('a', nonNull('Id of the first chain, on which `ipsae` is aligned, such as "A".')),
    b: t.exposeString('b', nonNull('Id of the second chain, whose error `ipsae` reads, such as "B".')),
    iptm: t.exposeFloat('iptm', {
      description: 'ipTM of the pair, 0 to 1, such as 0.62; null unless you set includePairChainsIptm.',
    }),
    ipsae: t.float(
      paeScore(
        'ipsae',
        'The ipSAE of `b` when aligned on `a`, 0 to 1, such as 0.71. Null for ligands and without includePae.',
      ),
    ),
    ipsaeMax: t.float(
      paeScore(
        'ipsaeMax',
        'The larger ipSAE of both directions, by which interfaces are ranked. Null as `ipsae` is.',
      ),
    ),
    pDockQ: t.exposeFloat('pDockQ', {
      description:
        'Predicted DockQ by contacts and their pLDDT, 0 to 0.742, such as 0.43; 0 without contacts. Null for ' +
        'ligands, and without coordinates or pLDDT.',
    }),
    pDockQ2: t.float(
      paeScore(
        'pDockQ2',
        'Predicted DockQ by contacts, their pLDDT and PAE, 0 to 1.315, such as 0.31; the larger one of both ' +
          'directions, 0 without contacts. Null as `pDockQ` is, and without includePae.',
      ),
    ),
    lis: t.float(
      paeScore(
        'lis',
        'Local interaction score, 0 to 1, such as 0.35: the mean of both directions. Null as `ipsae` is.',
      ),
    ),
    meanPae: t.float(
      paeScore(
        'meanPae',
        'Mean error between their tokens in ångström over both directions, such as 7.4, also of ligands. ' +
          'Null without includePae.',
      ),
    ),
    minPae: t.float(
      paeScore(
        'minPae',
        'Smallest error between them in ångström over both directions, such as 1.2, also of ligands. ' +
          'Null without includePae.',
      ),
    ),
  }),
});
