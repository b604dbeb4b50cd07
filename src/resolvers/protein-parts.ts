// Which parts of a protein each of its fields needs: the one table that both the look-ahead and the field resolvers read,
// so that what is fetched in one call and what is resolved cannot drift apart.
import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { badInput } from '../schema/scalars.ts';
import { joinNeeds, type ProteinNeeds } from '../upstream/protein-needs.ts';
import { type Selected, selectedFields } from './selection.ts';

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
export const FIXED = {
  accession: { sequence: true },
  source: { sequence: true },
  sequence: { sequence: true },
  length: { sequence: true },
  name: { cluster: true },
  ptm: { structure: true },
  plddt: { structure: true },
  cluster: { cluster: true },
  isClusterRepresentative: { cluster: true },
  foldedOnDemand: { record: true },
  raw: { record: true },
  similar: { sequence: true },
} as const satisfies Record<string, ProteinNeeds>;

const asksForRegions = (info: GraphQLResolveInfo, nodes: readonly FieldNode[]): boolean =>
  selectedFields(info, 'FeatureActivation', nodes).some((field) => field.name === 'regions');

/** Needs of `features`: nothing in advance for exact indices and raw values, which are calls of their own. */
export function featureNeeds(
  info: GraphQLResolveInfo,
  args: Readonly<Record<string, unknown>>,
  nodes: readonly FieldNode[],
): ProteinNeeds {
  if (args.indices != null || args.normalize === false) return {};
  // A number out of range is refused where the field itself is resolved, at its own path.
  const top = Math.min(Math.max(typeof args.top === 'number' ? args.top : 10, 1), MOST_FEATURES);
  return asksForRegions(info, nodes) ? { regions: top } : { features: top };
}

/** Whether the file itself is wanted, not only its address. */
export const wantsFile = (info: GraphQLResolveInfo, nodes: readonly FieldNode[] = info.fieldNodes): boolean =>
  selectedFields(info, 'Structure', nodes).some(
    (field) => field.name === 'text' || field.name === 'atomCount',
  );

function needsOf(info: GraphQLResolveInfo, field: Selected): ProteinNeeds {
  if (Object.hasOwn(FIXED, field.name)) return FIXED[field.name as keyof typeof FIXED];
  if (field.name === 'features') return featureNeeds(info, field.args, field.nodes);
  if (field.name === 'structure') return wantsFile(info, field.nodes) ? { structure: true } : {};
  return {};
}

/** Everything that a selection on a protein needs, to be asked for at once. @param nodes - the selection; that of the field being resolved when absent */
export const selectedNeeds = (info: GraphQLResolveInfo, nodes?: readonly FieldNode[]): ProteinNeeds =>
  joinNeeds(selectedFields(info, 'Protein', nodes).map((field) => needsOf(info, field)));
