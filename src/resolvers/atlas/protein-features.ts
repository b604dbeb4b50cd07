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
import { isKnown, type Part, readPart, UNKNOWN } from '../../upstream/part.ts';
import { denseRow, type FeatureRow } from '../../upstream/proteins/activations.ts';
import type { FeatureAnswer } from '../../upstream/proteins/feature-values.ts';
import type { FeatureValue } from '../../upstream/wire.ts';
import { CATALOGUE, countDistinct, RECORD } from '../costs.ts';
import { loadNamed } from './load-protein.ts';
import { readTop, selectedOnFeatures } from './look-ahead.ts';

/** Largest number of `feature_indices` in a call (spec, section Limits). */
const INDICES_PER_CALL = 100;
const MAX_INDICES = 1000;
const USUAL_TOP = 10;

builder.objectFields(FeatureActivation, (t) => ({
  regions: t.field({
    public: 'record',
    type: [ResidueRegion],
    nullable: { list: true, items: false },
    cost: 0.01,
    description:
      'Where in the sequence it is active, one call for each protein. Null where the upstream does not say.',
    resolve: ({ regions }) => readPart(regions),
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
    resolve: ({ row, length }, args) => {
      const start = rangeStart(args.start, args.end);
      const known = readPart(row);
      if (known === null) return null;
      const end = readPart(length) ?? 0;
      return denseRow(known, Math.min(start, end), Math.min(args.end ?? end, end));
    },
  }),
}));

/** Activations of one feature along the sequence, of those that the record has. */
function findRow({ rows }: ProteinRef, feature: number): Part<FeatureRow> {
  if (!isKnown(rows)) return rows;
  return rows?.rows.find((row) => row.feature === feature) ?? null;
}

/** The regions in an answer that was asked for them. */
const ownRegions = ({ residue_regions: regions }: FeatureValue): ActivationRef['regions'] => regions ?? null;

/** The features of the ranking that came with the protein. */
function topFeatures(protein: ProteinRef, top: number): ActivationRef[] {
  const { values, regions } = readPart(protein.features) ?? { values: [], regions: 0 };
  const { length } = protein;
  return values.slice(0, top).map((value, i) => ({
    value,
    regions: i < regions ? ownRegions(value) : UNKNOWN,
    row: findRow(protein, value.feature_index),
    length,
  }));
}

const toActivations = ({ length }: ProteinRef, answers: readonly FeatureAnswer[] | null): ActivationRef[] =>
  (answers ?? []).map(({ value, row }) => ({
    value,
    regions: ownRegions(value),
    row: row === UNKNOWN ? null : row,
    length,
  }));

/**
 * Features as the autoencoder gave them, with the length of the sequence where rows are selected.
 */
async function rawFeatures(
  ctx: GatewayContext,
  protein: ProteinRef,
  top: number,
  info: GraphQLResolveInfo,
): Promise<ActivationRef[]> {
  const answers = await ctx.proteins.loadFeatures(protein.hash, { top, normalize: false });
  const measured = await withLength(ctx, protein, info);
  return toActivations(measured, answers).slice(0, top);
}

async function withLength(
  ctx: GatewayContext,
  protein: ProteinRef,
  info: GraphQLResolveInfo,
): Promise<ProteinRef> {
  if (protein.length !== UNKNOWN || !selectedOnFeatures(info).residues) return protein;
  const [{ length } = protein] = await loadNamed(ctx, [protein.hash], { length: true });
  return { ...protein, length };
}

/** Features by index from single records, which leave out indices outside the catalogue. */
async function recordFeatures(
  ctx: GatewayContext,
  protein: ProteinRef,
  indices: readonly number[],
  normalize: boolean,
  info: GraphQLResolveInfo,
): Promise<ActivationRef[]> {
  const calls: Promise<readonly FeatureAnswer[] | null>[] = [];
  for (let start = 0; start < indices.length; start += INDICES_PER_CALL) {
    const part = indices.slice(start, start + INDICES_PER_CALL);
    calls.push(ctx.proteins.loadFeatures(protein.hash, { top: 1, normalize, indices: part }));
  }
  const answers = (await Promise.all(calls)).flatMap((found) => found ?? []);
  const rows = answers.filter(({ row }) => row === UNKNOWN).map(({ value }) => value.feature_index);
  if (!normalize || rows.length === 0 || !selectedOnFeatures(info).residues)
    return toActivations(await withLength(ctx, protein, info), answers);
  // An archive may have the rows that records leave out, on the scale of normalised values only.
  const [archived = protein] = await loadNamed(ctx, [protein.hash], { rows, length: true });
  return answers.map(({ value, row }) => ({
    value,
    regions: ownRegions(value),
    row: row === UNKNOWN ? findRow(archived, value.feature_index) : row,
    length: archived.length,
  }));
}

/** Features by index from all activations; null where no answer has them on the right scale. */
async function levelFeatures(
  ctx: GatewayContext,
  protein: ProteinRef,
  indices: readonly number[],
): Promise<ActivationRef[] | null> {
  const level = readPart(protein.level);
  if (level === null) return null;
  const active = new Map(level.indices.map((index, i) => [index, level.values[i] ?? 0]));
  // An inactive feature is 0 if the catalogue has it, otherwise null.
  const catalogue = indices.every((index) => active.has(index))
    ? active
    : await ctx.services.catalogue.entries(ctx.upstream);
  return indices
    .filter((index) => active.has(index) || catalogue.has(index))
    .map((index) => ({
      value: { feature_index: index, value: active.get(index) ?? 0 },
      regions: UNKNOWN,
      row: findRow(protein, index),
      length: protein.length,
    }));
}

/** Aligned with `indices`: 0.0 where inactive, null outside the catalogue. */
async function exactFeatures(
  ctx: GatewayContext,
  protein: ProteinRef,
  indices: readonly number[],
  normalize: boolean,
  info: GraphQLResolveInfo,
): Promise<(ActivationRef | null)[]> {
  if (indices.length > MAX_INDICES)
    throw badInput(`\`indices\` holds ${indices.length} entries; at most ${MAX_INDICES} fit.`);
  const wanted = [...new Set(indices)].filter((index) => index >= 0);
  const isShared = normalize && !selectedOnFeatures(info).regions;
  const found =
    (isShared ? await levelFeatures(ctx, protein, wanted) : null) ??
    (await recordFeatures(ctx, protein, wanted, normalize, info));
  const byIndex = new Map(found.map((activation) => [activation.value.feature_index, activation]));
  return indices.map((index) => byIndex.get(index) ?? null);
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
      return args.normalize === false ? rawFeatures(ctx, protein, top, info) : topFeatures(protein, top);
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
