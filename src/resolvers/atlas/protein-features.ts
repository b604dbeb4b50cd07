// Features of a protein: its top ranking, features by index, regions and activations. All proteins
// of a query share one bulk call for each 500, except for what only the single record has.

import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { type ActivationRef, FeatureActivation, ResidueRegion } from '../../schema/feature.ts';
import { rangeStart } from '../../schema/plddt.ts';
import { Protein, type ProteinRef } from '../../schema/protein.ts';
import { residueValues } from '../../schema/query-cost.ts';
import { badInput } from '../../schema/scalars.ts';
import { denseRow, type FeatureRow } from '../../upstream/proteins/activations.ts';
import type { PresentProtein } from '../../upstream/proteins/protein-data.ts';
import type { VariantData } from '../../upstream/proteins/single-record.ts';
import { CATALOGUE, countDistinct, RECORD } from '../costs.ts';
import {
  featureNeeds,
  fromProtein,
  type MaybePromise,
  mapMaybePromise,
  readTop,
  selectedOnFeatures,
} from './load-protein.ts';

/** Largest number of `feature_indices` in a call (spec, section Limits). */
const INDICES_PER_CALL = 100;
const MOST_INDICES = 1000;
const USUAL_TOP = 10;

/** Activations along the sequence: of the answer, otherwise a part of the protein. */
function rowOf(ctx: GatewayContext, { value, from, row }: ActivationRef): MaybePromise<FeatureRow | null> {
  const own = row?.();
  if (own !== undefined) return own;
  if (from === undefined) return null;
  const feature = value.feature_index;
  const read = (data: PresentProtein | null) => data?.rows?.rows.get(feature) ?? null;
  return fromProtein(ctx, from.hash, { rows: [feature], sequence: true }, read);
}

builder.objectFields(FeatureActivation, (t) => ({
  regions: t.field({
    public: 'record',
    type: [ResidueRegion],
    nullable: { list: true, items: false },
    cost: 0.01,
    description:
      'Where in the sequence it is active, one call for each protein. Null where the upstream does not say.',
    resolve: async ({ value, from }, _, ctx) => {
      if (value.residue_regions !== undefined || from?.top === undefined) return value.residue_regions;
      const data = await ctx.proteins.load(from.hash, { regions: from.top });
      return data?.features?.values.find((other) => other.feature_index === value.feature_index)
        ?.residue_regions;
    },
  }),
  residues: t.floatList({
    public: 'record',
    nullable: { list: true, items: false },
    cost: ({ start, end }) => ({ calls: 0.02, values: residueValues(start, end) }),
    description:
      'Activation at each residue from `start` to `end`, 0 where it is inactive; null where the upstream ' +
      'does not say. One bulk call for up to 500 proteins.',
    args: {
      start: t.arg.int({ defaultValue: 0, description: 'First residue, 0-based, such as 0.' }),
      end: t.arg.int({ description: 'Residue after the last one; the end of the sequence when left out.' }),
    },
    resolve: (activation, args, ctx) => {
      const start = rangeStart(args.start, args.end);
      const hash = activation.from?.hash;
      return mapMaybePromise(rowOf(ctx, activation), (row) => {
        if (row === null || hash === undefined) return null;
        return fromProtein(ctx, hash, { sequence: true }, (data) => {
          const length = data?.length ?? 0;
          return denseRow(row, Math.min(start, length), Math.min(args.end ?? length, length));
        });
      });
    },
  }),
}));

/** @param elsewhere - the row of an answer without one: null for raw values, which only records have */
const activationsOf = (
  hash: string,
  data: VariantData | null,
  elsewhere: null | undefined,
  top?: number,
): ActivationRef[] =>
  (data?.values ?? []).slice(0, top).map((value) => ({
    value,
    from: { hash },
    row: () => data?.row(value.feature_index) ?? elsewhere,
  }));

/** Features by index from single records, which leave out indices outside the catalogue. */
async function variantFeatures(
  ctx: GatewayContext,
  { hash }: ProteinRef,
  indices: readonly number[],
  normalize: boolean,
): Promise<Map<number, ActivationRef>> {
  const calls: Promise<VariantData | null>[] = [];
  for (let start = 0; start < indices.length; start += INDICES_PER_CALL) {
    const part = indices.slice(start, start + INDICES_PER_CALL);
    calls.push(ctx.proteins.variant(hash, { top: 1, normalize, indices: part }));
  }
  const elsewhere = normalize ? undefined : null;
  const found = (await Promise.all(calls)).flatMap((data) => activationsOf(hash, data, elsewhere));
  return new Map(found.map((activation) => [activation.value.feature_index, activation]));
}

/** Features by index from all activations; null where no answer has them on the right scale. */
async function levelFeatures(
  ctx: GatewayContext,
  { hash }: ProteinRef,
  indices: readonly number[],
  info: GraphQLResolveInfo,
): Promise<Map<number, ActivationRef> | null> {
  const needs = featureNeeds(info, { indices }, info.fieldNodes);
  const level = (await ctx.proteins.load(hash, needs))?.level?.read();
  if (level == null) return null;
  const active = new Map(level.indices.map((index, i) => [index, level.values[i] ?? 0]));
  // An inactive feature is 0 if the catalogue has it, otherwise null.
  const catalogue = indices.every((index) => active.has(index))
    ? active
    : await ctx.services.catalogue.entries(ctx.upstream);
  const known = indices.filter((index) => active.has(index) || catalogue.has(index));
  return new Map(
    known.map((index) => [
      index,
      { value: { feature_index: index, value: active.get(index) ?? 0 }, from: { hash } },
    ]),
  );
}

/** Aligned with `indices`: 0.0 where inactive, null outside the catalogue. */
async function exactFeatures(
  ctx: GatewayContext,
  protein: ProteinRef,
  indices: readonly number[],
  normalize: boolean,
  info: GraphQLResolveInfo,
): Promise<(ActivationRef | null)[]> {
  if (indices.length > MOST_INDICES)
    throw badInput(`\`indices\` holds ${indices.length} entries; at most ${MOST_INDICES} fit.`);
  const wanted = [...new Set(indices)].filter((index) => index >= 0);
  const shared = normalize && !selectedOnFeatures(info).regions;
  const found =
    (shared ? await levelFeatures(ctx, protein, wanted, info) : null) ??
    (await variantFeatures(ctx, protein, wanted, normalize));
  return indices.map((index) => found.get(index) ?? null);
}

function topFeatures(
  ctx: GatewayContext,
  { hash, represents }: ProteinRef,
  top: number,
  info: GraphQLResolveInfo,
): MaybePromise<ActivationRef[]> {
  const from = { hash, top };
  const ranked = represents?.info?.cluster_representative_features;
  if (ranked != null && top <= (represents?.top ?? 0))
    return ranked.slice(0, top).map((value) => ({ value, from }));
  return fromProtein(ctx, hash, featureNeeds(info, { first: top }, info.fieldNodes), (data) =>
    (data?.features?.values ?? []).slice(0, top).map((value) => ({ value, from })),
  );
}

async function rawFeatures(ctx: GatewayContext, { hash }: ProteinRef, top: number): Promise<ActivationRef[]> {
  return activationsOf(hash, await ctx.proteins.variant(hash, { top, normalize: false }), null, top);
}

const normalizeArg = {
  type: 'Boolean',
  defaultValue: true,
  description:
    'Scale each feature so that proteins can be compared; false returns raw activations, at one call ' +
    'for each protein.',
} as const;

builder.objectFields(Protein, (t) => ({
  features: t.field({
    public: 'record',
    type: [FeatureActivation],
    cost: ({ normalize, first }) => ({
      calls: Number(normalize === false),
      ...RECORD,
      ...CATALOGUE,
      items: first ?? USUAL_TOP,
    }),
    semanticNonNull: true,
    description: 'The most active features, strongest first. Null only with an error.',
    args: {
      first: t.arg.int({ defaultValue: 10, description: 'Number of features, 1 to 100, such as 5.' }),
      normalize: t.arg(normalizeArg),
    },
    resolve: (protein, args, ctx, info) => {
      const top = readTop(args.first);
      return args.normalize === false ? rawFeatures(ctx, protein, top) : topFeatures(ctx, protein, top, info);
    },
  }),
  featureValues: t.field({
    public: 'record',
    type: [FeatureActivation],
    nullable: { list: true, items: true },
    cost: ({ indices }, { names }) => ({
      // Rows that records leave out are in the archive.
      calls: Math.ceil(countDistinct(indices) / INDICES_PER_CALL) + Number(names.has('residues')),
      ...RECORD,
      ...CATALOGUE,
      items: indices.length,
    }),
    semanticNonNull: true,
    description:
      'These features in your order: 0.0 where inactive, null where the index is not in the catalogue. ' +
      'Null as a whole only with an error.',
    args: {
      indices: t.arg.intList({
        required: true,
        description: 'Indices of features, such as [17, 4095]; at most 1000.',
      }),
      normalize: t.arg(normalizeArg),
    },
    resolve: (protein, { indices, normalize }, ctx, info) =>
      exactFeatures(ctx, protein, indices, normalize !== false, info),
  }),
}));
