// What a Protein costs: its fields by parts, its links, and the queries that find one. Policy on calls is the loader's.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { hasStreamDirective, withBackpressure } from '../../execution/backpressured-list.ts';
import { IncrementalList, supportsIncrementalLists } from '../../execution/incremental-list.ts';
import { builder } from '../../schema/builder.ts';
import { Cluster } from '../../schema/cluster.ts';
import { Plddt } from '../../schema/plddt.ts';
import { Protein, type ProteinRef } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { Provenance, Thumbnail, ThumbnailType } from '../../schema/thumbnail.ts';
import { hashOfSequence } from '../../schema/uniprot.ts';
import type { PresentProtein, ProteinParts, Source } from '../../upstream/proteins/protein-data.ts';
import type { LoadResult } from '../../upstream/proteins/protein-loader.ts';
import { type RequiredParts, unionParts } from '../../upstream/proteins/required-parts.ts';
import { bulkCalls, CLUSTER_OF_PROTEIN, countDistinct, RECORD } from '../costs.ts';
import { fromProtein, type MaybePromise, mapMaybePromise } from '../maybe-promise.ts';
import { clusterOf, withRecord } from './cluster-links.ts';
import { clusterNeeds, PARTS_OF_FIELD, plddtNeeds, requiredPartsOf } from './protein-parts.ts';

/** Hashes in one query at most; more are a job for startBulkLookup. */
const MAX_HASHES = 5000;

/** A key of what is known of a protein, from whatever has spoken of it, else by loading its part. */
function part<K extends keyof ProteinParts>(
  ctx: GatewayContext,
  { hash }: ProteinRef,
  key: K,
  needs: RequiredParts,
): MaybePromise<PresentProtein[K] | undefined> {
  const known = ctx.proteins.peek(hash)?.[key];
  return known === undefined ? fromProtein(ctx, hash, needs, (data) => data?.[key]) : known;
}

async function nameOf(ctx: GatewayContext, protein: ProteinRef): Promise<string | null> {
  const own = ctx.proteins.peek(protein.hash)?.name;
  if (own != null) return own;
  const cluster = await clusterOf(ctx, protein);
  if (cluster?.representative === undefined) return null;
  if (cluster.info?.protein_name !== undefined) return cluster.info.protein_name;
  return (await ctx.clusters.load(cluster.representative))?.record.protein_name ?? null;
}

async function provenanceOf(ctx: GatewayContext, hash: string): Promise<Source> {
  if (ctx.proteins.peek(hash)?.from === undefined) await ctx.proteins.load(hash, {});
  const from = ctx.proteins.peek(hash)?.from;
  if (from === undefined) throw new Error('A protein was loaded without a note of where it came from.');
  return from;
}

builder.objectFields(Protein, (t) => ({
  accession: t.string({
    public: 'record',
    description: 'Accession in its source database, such as "P01308" or "MGYP000261684433".',
    resolve: (protein, _, ctx) => part(ctx, protein, 'accession', PARTS_OF_FIELD.accession),
  }),
  source: t.string({
    public: 'record',
    description: 'Database the accession belongs to: uniprotkb, uniparc, mgy, img_m, spire, ...',
    resolve: (protein, _, ctx) => part(ctx, protein, 'source', PARTS_OF_FIELD.source),
  }),
  name: t.string({
    public: 'record',
    cost: CLUSTER_OF_PROTEIN,
    description:
      'The name of the protein where the Atlas has one; else that of its cluster. Such as "Insulin".',
    resolve: (protein, _, ctx) => nameOf(ctx, protein),
  }),
  sequence: t.string({
    public: 'record',
    description: 'Amino acids in one-letter codes.',
    resolve: (protein, _, ctx) => part(ctx, protein, 'sequence', PARTS_OF_FIELD.sequence),
  }),
  length: t.int({
    public: 'record',
    description: 'Number of residues, such as 110.',
    resolve: (protein, _, ctx) => part(ctx, protein, 'length', PARTS_OF_FIELD.length),
  }),
  ptm: t.float({
    public: 'record',
    cost: RECORD,
    description: 'Predicted TM-score of the structure, 0 to 1; null where there is no structure.',
    resolve: ({ hash }, _, ctx) =>
      fromProtein(ctx, hash, PARTS_OF_FIELD.ptm, (data) => (data?.structure ?? data?.scores)?.ptm),
  }),
  plddt: t.field({
    public: 'record',
    cost: RECORD,
    type: Plddt,
    description: 'Confidence of the structure, residue by residue; null where there is no structure.',
    resolve: ({ hash }, _, ctx, info) =>
      fromProtein(ctx, hash, plddtNeeds(info), (data) => {
        const scores = data?.structure ?? data?.scores;
        return scores == null ? null : { unit: data?.structure?.plddt ?? [], mean: scores.meanPlddt };
      }),
  }),
  foldedOnDemand: t.boolean({
    public: 'record',
    cost: RECORD,
    description: 'Whether the structure was made because somebody asked, rather than with the Atlas.',
    resolve: async (protein, _, ctx) =>
      (await ctx.proteins.load(protein.hash, PARTS_OF_FIELD.foldedOnDemand))?.record?.record.folded_on_demand,
  }),
  cluster: t.field({
    public: 'record',
    cost: CLUSTER_OF_PROTEIN,
    type: Cluster,
    description:
      'The cluster it belongs to; its own when it is the representative. Null when it belongs to none.',
    resolve: (protein, _, ctx, info) =>
      mapMaybePromise(clusterOf(ctx, protein, clusterNeeds(info)), (cluster) =>
        cluster === null ? null : withRecord(ctx, info, cluster),
      ),
  }),
  isClusterRepresentative: t.boolean({
    public: 'record',
    cost: CLUSTER_OF_PROTEIN,
    description: 'Whether it stands for its cluster; null when it belongs to none.',
    resolve: (protein, _, ctx) =>
      mapMaybePromise(clusterOf(ctx, protein, PARTS_OF_FIELD.isClusterRepresentative), (cluster) =>
        cluster?.representative === undefined ? null : cluster.representative === protein.hash,
      ),
  }),
  thumbnail: t.field({
    public: 'record',
    type: Thumbnail,
    nullable: false,
    description: 'A 512 x 512 picture of the structure.',
    args: { type: t.arg({ type: ThumbnailType, defaultValue: 'PLDDT', description: 'How it is coloured.' }) },
    resolve: ({ hash }, { type }) => ({ hash, type: type ?? 'PLDDT' }),
  }),
  provenance: t.field({
    public: 'record',
    type: Provenance,
    nullable: false,
    description: 'Which upstream answer spoke last of this protein.',
    resolve: ({ hash }, _, ctx) => provenanceOf(ctx, hash),
  }),
  raw: t.field({
    public: 'record',
    cost: RECORD,
    type: 'JSON',
    description: 'The upstream record as it came, for keys this schema does not know yet.',
    resolve: async ({ hash }, _, ctx) => (await ctx.proteins.load(hash, PARTS_OF_FIELD.raw))?.record?.raw,
  }),
}));

/** Finds a protein and everything that the query selects on it in one call; null when the Atlas does not hold it. */
export async function findProtein(
  ctx: GatewayContext,
  hash: string,
  needs: RequiredParts,
): Promise<ProteinRef | null> {
  const found = await ctx.proteins.load(hash, needs);
  return found === null ? null : { hash };
}

/** The same for a list, whose items need not be given as they come: one promise for all of them. An error stands where one could not be found out. */
export const loadProteins = (
  { proteins }: GatewayContext,
  hashes: readonly string[],
  needs: RequiredParts,
  onNext?: (found: readonly LoadResult[]) => void,
): Promise<LoadResult[]> => proteins.loadAll(hashes, needs, onNext);

/** Proteins for which it is worth to begin an answer before all of them are there, as their structures come. */
const MANY = 50;

/** Whether the answer to a query may begin before all of its proteins are there, and is large enough for that or asked for in parts. */
export const shouldRespondIncrementally = (
  info: GraphQLResolveInfo,
  { structure }: RequiredParts,
  count: number,
): boolean =>
  supportsIncrementalLists(info) && ((structure === true && count > MANY) || hasStreamDirective(info));

/** A list whose items are made of what is found, as it is found. @param load - gives on what is found before the rest, then all */
export function incrementalList<T>(
  load: (onNext: (found: readonly LoadResult[]) => void) => Promise<readonly LoadResult[]>,
  itemsOf: (found: readonly LoadResult[]) => readonly (T | Promise<T>)[],
): IncrementalList<T> {
  const list = new IncrementalList<T>();
  let count = 0;
  const add = (found: readonly LoadResult[]): void => {
    count += found.length;
    list.add(itemsOf(found));
  };
  load(add).then(
    (all) => {
      add(all.slice(count));
      list.end();
    },
    (error: unknown) => list.fail(error),
  );
  return list;
}

/** A failure in its place in a list. */
function failing(error: Error): Promise<never> {
  const failed = Promise.reject(error);
  // Nobody may look at it any more by the time that it is there.
  failed.catch(() => undefined);
  return failed;
}

/** A protein that stands in a list several times is one object, which is completed once. */
function openRefs(): (found: readonly LoadResult[]) => (ProteinRef | null | Promise<never>)[] {
  const refs = new Map<string, ProteinRef>();
  return (found) =>
    found.map((data) => {
      if (data instanceof Error) return failing(data);
      if (data === null) return null;
      const ref = refs.get(data.hash) ?? { hash: data.hash };
      refs.set(data.hash, ref);
      return ref;
    });
}

const FOLD: RequiredParts = { fold: true, structure: true };

const withFold = (needs: RequiredParts, fold: boolean | null | undefined): RequiredParts =>
  fold === true ? unionParts([needs, FOLD]) : needs;

/** Reads of a record until its structure is folded, at the longest patience. */
const FOLD_ON_MISS_CALLS = 25;

builder.queryFields((t) => ({
  protein: t.field({
    public: 'record',
    privateWith: ['foldOnMiss'],
    cost: ({ foldOnMiss }) => ({ calls: foldOnMiss === true ? FOLD_ON_MISS_CALLS : 1 }),
    type: Protein,
    description: 'A protein by the hash of its sequence; null when the Atlas does not hold it.',
    args: {
      hash: t.arg({
        type: 'ProteinHash',
        required: true,
        description: 'Such as "12e9c9e4e2835c302e8ba615115edda3".',
      }),
      foldOnMiss: t.arg.boolean({
        defaultValue: false,
        description:
          'Have the Atlas predict the structure now if it has none (up to 699 residues; takes seconds).',
      }),
    },
    resolve: (_, { hash, foldOnMiss: fold }, ctx, info) =>
      findProtein(ctx, hash, withFold(requiredPartsOf(info), fold)),
  }),
  proteins: t.field({
    public: 'record',
    cost: ({ hashes }) => {
      const items = countDistinct(hashes);
      return { calls: bulkCalls(items), items };
    },
    type: [Protein],
    nullable: { list: false, items: true },
    description: `Proteins in the order asked, duplicates kept, null where the Atlas has none. At most ${MAX_HASHES} hashes; one upstream call for each 500.`,
    args: {
      hashes: t.arg({
        type: ['ProteinHash'],
        required: true,
        description: 'Such as ["12e9c9e4e2835c302e8ba615115edda3"].',
      }),
    },
    resolve: (_, { hashes }, ctx, info) => {
      if (hashes.length > MAX_HASHES) {
        throw badInput(
          `\`hashes\` holds ${hashes.length} hashes; at most ${MAX_HASHES} fit in one query. Ask in several.`,
        );
      }
      const needs = requiredPartsOf(info);
      if (shouldRespondIncrementally(info, needs, hashes.length))
        return incrementalList((onNext) => loadProteins(ctx, hashes, needs, onNext), openRefs());
      if (!hasStreamDirective(info)) return loadProteins(ctx, hashes, needs).then(openRefs());
      return withBackpressure(
        ctx,
        info,
        hashes.map((hash) => findProtein(ctx, hash, needs)),
      );
    },
  }),
  proteinBySequence: t.field({
    public: 'record',
    privateWith: ['foldOnMiss'],
    cost: ({ foldOnMiss }) => ({ calls: foldOnMiss === true ? FOLD_ON_MISS_CALLS : 1 }),
    type: Protein,
    description:
      'A protein by its sequence, of which the gateway computes the hash; null when the Atlas does not hold it.',
    args: {
      sequence: t.arg({
        type: 'AminoAcidSequence',
        required: true,
        description: 'One-letter codes or FASTA.',
      }),
      foldOnMiss: t.arg.boolean({
        defaultValue: false,
        description:
          'Have the Atlas predict the structure now if it has none (up to 699 residues; takes seconds).',
      }),
    },
    resolve: (_, { sequence, foldOnMiss: fold }, ctx, info) =>
      findProtein(ctx, hashOfSequence(sequence), withFold(requiredPartsOf(info), fold)),
  }),
}));
