// Which parts of a protein each of its fields needs: the one table that both the look-ahead and the field resolvers read,
// so that what is fetched in one call and what is resolved cannot drift apart.
import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { badInput } from '../../schema/scalars.ts';
import { type RequiredParts, unionParts } from '../../upstream/proteins/required-parts.ts';
import { type Selected, selectedFields } from '../selection.ts';

/** Features that one question may name (spec, section Limits: 1 to 100). */
const MOST_FEATURES = 100;

/** Reads a number of top features. @throws GraphQLError BAD_USER_INPUT outside 1 to 100 */
export function readTop(value: unknown): number {
  const top = typeof value === 'number' ? value : 10;
  if (top >= 1 && top <= MOST_FEATURES) return top;
  throw badInput(
    `\`top\` must be between 1 and ${MOST_FEATURES}; it is ${top}. Use \`indices\` to ask for certain features.`,
  );
}

/** Needs that do not depend on arguments or on what is selected below. */
export const PARTS_OF_FIELD = {
  accession: { sequence: true },
  source: { sequence: true },
  sequence: { sequence: true },
  length: { sequence: true },
  name: { cluster: true },
  ptm: { scores: true },
  isClusterRepresentative: { link: true },
  foldedOnDemand: { record: true },
  raw: { record: true },
  similar: { sequence: true },
} as const satisfies Record<string, RequiredParts>;

/** Fields of a cluster that the bulk answer may hold; a query for these alone needs no cluster record. */
const IN_BULK = new Set([
  '__typename',
  'id',
  'representativeHash',
  'representative',
  'name',
  'size',
  'percentCharacterized',
  'meanDomainCoverage',
  'pfamDomains',
]);

/** Fields of a cluster that knowing its representative is enough for. */
const IN_LINK = new Set(['__typename', 'id', 'representativeHash', 'representative']);

/** Whether what is selected on a cluster comes with the bulk answer. */
export const bulkIsEnough = (selected: readonly Selected[]): boolean =>
  selected.every((field) => IN_BULK.has(field.name));

/**
 * Needs of `cluster`: what the bulk answer says of it, unless nothing of that is selected, or the cluster's own record,
 * which says the same and more, is needed anyway.
 */
export function clusterNeeds(
  info: GraphQLResolveInfo,
  nodes: readonly FieldNode[] = info.fieldNodes,
): RequiredParts {
  const selected = selectedFields(info, 'Cluster', nodes);
  const link = selected.every((field) => IN_LINK.has(field.name)) || !bulkIsEnough(selected);
  return link ? { link: true } : { cluster: true };
}

/** What is selected on the activations of features that is more than their values. */
export function selectedOnFeatures(info: GraphQLResolveInfo, nodes: readonly FieldNode[] = info.fieldNodes) {
  const selected = selectedFields(info, 'FeatureActivation', nodes).map((field) => field.name);
  return { regions: selected.includes('regions'), residues: selected.includes('residues') };
}

/** Needs of `features`: nothing in advance for unscaled values and the regions of exact indices, which are calls of their own. */
export function featureNeeds(
  info: GraphQLResolveInfo,
  args: Readonly<Record<string, unknown>>,
  nodes: readonly FieldNode[],
): RequiredParts {
  if (args.normalize === false) return {};
  const { regions, residues } = selectedOnFeatures(info, nodes);
  if (Array.isArray(args.indices)) {
    if (regions) return {};
    const rows = args.indices.filter((index) => typeof index === 'number');
    return { level: true, ...(residues && rows.length > 0 ? { rows, sequence: true } : {}) };
  }
  // A number out of range is refused where the field itself is resolved, at its own path.
  const top = Math.min(Math.max(typeof args.top === 'number' ? args.top : 10, 1), MOST_FEATURES);
  return {
    ...(regions ? { regions: top } : { features: top }),
    ...(residues ? { residues: top, sequence: true } : {}),
  };
}

/** Whether the file itself is wanted, not only its address. */
export const selectsFileText = (
  info: GraphQLResolveInfo,
  nodes: readonly FieldNode[] = info.fieldNodes,
): boolean =>
  selectedFields(info, 'Structure', nodes).some(
    (field) => field.name === 'text' || field.name === 'atomCount',
  );

/** Needs of `plddt`: the mean alone does not need the structure. */
export const plddtNeeds = (
  info: GraphQLResolveInfo,
  nodes: readonly FieldNode[] = info.fieldNodes,
): RequiredParts =>
  selectedFields(info, 'Plddt', nodes).every(({ name }) => name === 'mean' || name === '__typename')
    ? { scores: true }
    : { structure: true };

function needsOf(info: GraphQLResolveInfo, field: Selected): RequiredParts {
  if (Object.hasOwn(PARTS_OF_FIELD, field.name))
    return PARTS_OF_FIELD[field.name as keyof typeof PARTS_OF_FIELD];
  if (field.name === 'plddt') return plddtNeeds(info, field.nodes);
  if (field.name === 'cluster') return clusterNeeds(info, field.nodes);
  if (field.name === 'features') return featureNeeds(info, field.args, field.nodes);
  if (field.name === 'structure') return selectsFileText(info, field.nodes) ? { structure: true } : {};
  return {};
}

/** What was worked out of a selection, which is another where its variables are. */
const known = new WeakMap<readonly Selected[], RequiredParts>();

/** Everything that a selection on a protein needs, to be asked for at once. @param nodes - the selection; that of the field being resolved when absent */
export function requiredPartsOf(info: GraphQLResolveInfo, nodes?: readonly FieldNode[]): RequiredParts {
  const selected = selectedFields(info, 'Protein', nodes);
  const before = known.get(selected);
  if (before !== undefined) return before;
  const needs = unionParts(selected.map((field) => needsOf(info, field)));
  known.set(selected, needs);
  return needs;
}
