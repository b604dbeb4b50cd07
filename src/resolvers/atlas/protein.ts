// Resolvers of Protein and the queries that find one. The loader decides which upstream calls are
// made.

import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { Cluster } from '../../schema/cluster.ts';
import { publicNullable } from '../../schema/field-options.ts';
import { Plddt } from '../../schema/plddt.ts';
import { Protein, type ProteinRef, Provenance } from '../../schema/protein.ts';
import { LARGE_VALUE } from '../../schema/query-cost.ts';
import { badInput } from '../../schema/scalars.ts';
import { hashOfSequence } from '../../schema/uniprot.ts';
import type { PresentProtein, ProteinParts, Source } from '../../upstream/proteins/protein-data.ts';
import { type RequiredParts, unionParts } from '../../upstream/proteins/required-parts.ts';
import { bulkCalls, CLUSTER_OF_PROTEIN, countDistinct, RECORD } from '../costs.ts';
import { clusterOf, withRecord } from './cluster-links.ts';
import {
  clusterNeeds,
  fromProtein,
  loadList,
  loadStructure,
  type MaybePromise,
  mapMaybePromise,
  PARTS_OF_FIELD,
  plddtNeeds,
  requiredPartsOf,
  STRUCTURE,
  toRefs,
} from './load-protein.ts';

/** Largest number of hashes in a query; longer lists are for /export.tsv. */
const MAX_HASHES = 5000;

/** A key of a protein: from an earlier answer, otherwise by loading its part. */
function part<K extends keyof ProteinParts>(
  ctx: GatewayContext,
  { hash }: ProteinRef,
  key: K,
  needs: RequiredParts,
): MaybePromise<PresentProtein[K] | undefined> {
  const known = ctx.proteins.peek(hash)?.[key];
  return known === undefined ? fromProtein(ctx, hash, needs, (data) => data?.[key]) : known;
}

const ofPart = <K extends 'sequence' | 'length'>(key: K, description: string) => ({
  ...publicNullable('record', description),
  resolve: (protein: ProteinRef, _: object, ctx: GatewayContext) =>
    part(ctx, protein, key, PARTS_OF_FIELD[key]),
});

async function provenanceOf(ctx: GatewayContext, hash: string): Promise<Source> {
  if (ctx.proteins.peek(hash)?.from === undefined) await ctx.proteins.load(hash, {});
  const from = ctx.proteins.peek(hash)?.from;
  if (from === undefined) throw new Error('A protein was loaded without a note of where it came from.');
  return from;
}

builder.objectFields(Protein, (t) => ({
  accession: t.string({
    ...publicNullable('record', 'Accession in its source database, such as "P01308" or "MGYP000261684433".'),
    resolve: (protein, _, ctx) =>
      protein.represents?.info?.accession ?? part(ctx, protein, 'accession', PARTS_OF_FIELD.accession),
  }),
  source: t.string({
    ...publicNullable('record', 'Database of the accession: uniprotkb, uniparc, mgy, img_m, spire, ...'),
    resolve: (protein, _, ctx) =>
      protein.represents?.info?.source ?? part(ctx, protein, 'source', PARTS_OF_FIELD.source),
  }),
  sequence: t.string(ofPart('sequence', 'Amino acids in one-letter codes.')),
  length: t.int(ofPart('length', 'Number of residues, such as 110.')),
  ptm: t.float({
    public: 'record',
    cost: RECORD,
    description:
      'Predicted TM-score of the structure, 0 to 1, such as 0.87; null where there is no structure.',
    resolve: ({ hash, represents }, _, ctx) =>
      represents?.info?.ptm ??
      fromProtein(ctx, hash, PARTS_OF_FIELD.ptm, (data) => data?.structure?.ptm ?? data?.scores?.ptm),
  }),
  plddt: t.field({
    public: 'record',
    cost: RECORD,
    type: Plddt,
    description: 'Confidence of the structure, residue by residue; null where there is no structure.',
    resolve: ({ hash, represents }, _, ctx, info) => {
      const isMeanEnough = plddtNeeds(info).structure !== true;
      const mean = represents?.info?.mean_plddt;
      if (mean != null && isMeanEnough) return { unit: [], mean };
      return fromProtein(ctx, hash, isMeanEnough ? { meanPlddt: true } : STRUCTURE, (data) => {
        const { structure, scores } = data ?? {};
        if (structure == null && scores === undefined) return null;
        const known = structure?.meanPlddt ?? scores?.meanPlddt ?? null;
        if (isMeanEnough) return { unit: [], mean: known };
        return mapMaybePromise(loadStructure(ctx, hash), (checked) => ({
          unit: checked?.plddt() ?? [],
          mean: known,
        }));
      });
    },
  }),
  foldedOnDemand: t.boolean({
    ...publicNullable('record', 'Whether the structure was predicted on request and not with the Atlas.'),
    cost: RECORD,
    resolve: async (protein, _, ctx) =>
      (await ctx.proteins.load(protein.hash, PARTS_OF_FIELD.foldedOnDemand))?.record?.own.folded_on_demand,
  }),
  cluster: t.field({
    ...publicNullable('record', 'Its cluster. Null when it belongs to none.'),
    cost: CLUSTER_OF_PROTEIN,
    type: Cluster,
    resolve: (protein, _, ctx, info) =>
      mapMaybePromise(clusterOf(ctx, protein, clusterNeeds(info)), (cluster) =>
        cluster === null ? null : withRecord(ctx, info, cluster),
      ),
  }),
  isClusterRepresentative: t.boolean({
    ...publicNullable('record', 'Whether it represents its cluster; null when it belongs to none.'),
    cost: CLUSTER_OF_PROTEIN,
    resolve: (protein, _, ctx) =>
      mapMaybePromise(clusterOf(ctx, protein, PARTS_OF_FIELD.isClusterRepresentative), (cluster) =>
        cluster?.representative === undefined ? null : cluster.representative === protein.hash,
      ),
  }),
  provenance: t.field({
    ...publicNullable('record', 'The upstream answer that supplied the latest data of this protein.'),
    type: Provenance,
    resolve: ({ hash }, _, ctx) => provenanceOf(ctx, hash),
  }),
  raw: t.field({
    public: 'record',
    cost: { ...RECORD, ...LARGE_VALUE },
    type: 'JSON',
    description: 'The upstream record unchanged, for keys that this schema does not have yet.',
    resolve: async ({ hash }, _, ctx) =>
      (await ctx.proteins.load(hash, PARTS_OF_FIELD.raw))?.record?.raw.read(),
  }),
}));

/**
 * Finds a protein and loads all its parts in one call; null when the Atlas does not have it. Fields
 * whose parts could not be loaded fail by themselves where it is known to exist.
 */
export async function findProtein(
  ctx: GatewayContext,
  hash: string,
  needs: RequiredParts,
): Promise<ProteinRef | null> {
  const [found] = await ctx.proteins.loadAll([hash], needs);
  if (found instanceof Error) throw found;
  return found == null ? null : { hash };
}

const FOLD: RequiredParts = { fold: true, structure: true };

const withFold = (needs: RequiredParts, fold: boolean | null | undefined): RequiredParts =>
  fold === true ? unionParts([needs, FOLD]) : needs;

/** Most reads of a record until its structure is folded. */
const FOLD_ON_MISS_CALLS = 25;

const foldOnMissArg = {
  type: 'Boolean',
  defaultValue: false,
  description: 'Have the Atlas predict the structure now if it has none (up to 699 residues; takes seconds).',
} as const;

builder.queryFields((t) => ({
  protein: t.field({
    public: 'record',
    privateWith: ['foldOnMiss'],
    cost: ({ foldOnMiss }) => ({ calls: foldOnMiss === true ? FOLD_ON_MISS_CALLS : 1 }),
    type: Protein,
    description: 'A protein by the hash of its sequence; null when the Atlas does not have it.',
    args: {
      hash: t.arg({
        type: 'ProteinHash',
        required: true,
        description: 'Hash of the protein, such as "12e9c9e4e2835c302e8ba615115edda3".',
      }),
      foldOnMiss: t.arg(foldOnMissArg),
    },
    resolve: (_, { hash, foldOnMiss: fold }, ctx, info) =>
      findProtein(ctx, hash, withFold(requiredPartsOf(info), fold)),
  }),
  proteins: t.field({
    public: 'record',
    cost: ({ hashes }) => {
      const items = countDistinct(hashes);
      return { calls: bulkCalls(items), items, length: hashes.length };
    },
    type: [Protein],
    nullable: { list: true, items: true },
    description:
      'Proteins in your order, duplicates included, null where the Atlas has none. ' +
      `At most ${MAX_HASHES} hashes; one upstream call for each 500.`,
    args: {
      hashes: t.arg({
        type: ['ProteinHash'],
        required: true,
        description: 'Hashes of proteins, such as ["12e9c9e4e2835c302e8ba615115edda3"].',
      }),
    },
    resolve: (_, { hashes }, ctx, info) => {
      if (hashes.length > MAX_HASHES) {
        throw badInput(
          `\`hashes\` holds ${hashes.length} hashes; at most ${MAX_HASHES} fit in one query. Ask in several.`,
        );
      }
      return loadList(ctx, hashes, requiredPartsOf(info), toRefs);
    },
  }),
  proteinBySequence: t.field({
    public: 'record',
    privateWith: ['foldOnMiss'],
    cost: ({ foldOnMiss }) => ({ calls: foldOnMiss === true ? FOLD_ON_MISS_CALLS : 1 }),
    type: Protein,
    description:
      'A protein by its sequence, from which the gateway computes the hash; null when the Atlas does ' +
      'not have it.',
    args: {
      sequence: t.arg({
        type: 'AminoAcidSequence',
        required: true,
        description: 'One-letter codes or FASTA, such as "GIVEQCCTSICSLYQLENYCN".',
      }),
      foldOnMiss: t.arg(foldOnMissArg),
    },
    resolve: (_, { sequence, foldOnMiss: fold }, ctx, info) =>
      findProtein(ctx, hashOfSequence(sequence), withFold(requiredPartsOf(info), fold)),
  }),
}));
