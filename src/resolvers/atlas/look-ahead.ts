// The parts of proteins and clusters that a selection reads, so that the resolver of an object
// loads all of them in one call.
import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { badInput } from '../../schema/scalars.ts';
import type { RequiredParts } from '../../upstream/proteins/parts.ts';
import { unionParts } from '../../upstream/proteins/required-parts.ts';
import { type Selected, selectedFields } from '../selection.ts';

/** Largest number of features in a call (spec, section Limits: 1 to 100). */
const MAX_FEATURES = 100;
const DEFAULT_FEATURES = 10;

/** Parses `first`. @throws GraphQLError BAD_USER_INPUT outside 1 to 100 */
export function readTop(value: unknown): number {
  const top = typeof value === 'number' ? value : DEFAULT_FEATURES;
  if (top >= 1 && top <= MAX_FEATURES) return top;
  throw badInput(
    `\`first\` must be between 1 and ${MAX_FEATURES}; it is ${top}. Use \`featureValues\` to ask for ` +
      'certain features.',
  );
}

/**
 * The number of features to ask for; the resolver of the field refuses one that is out of range.
 */
const selectedTop = ({ args: { first } }: Selected): number =>
  Math.min(Math.max(typeof first === 'number' ? first : DEFAULT_FEATURES, 1), MAX_FEATURES);

const STRUCTURE: RequiredParts = { structure: true };

/** The parts that a field of Protein reads. A field that is not listed reads the single record. */
const PARTS: Readonly<
  Record<string, RequiredParts | ((info: GraphQLResolveInfo, field: Selected) => RequiredParts)>
> = {
  __typename: {},
  id: {},
  hash: {},
  thumbnail: {},
  accession: { accession: true },
  source: { source: true },
  sequence: { sequence: true },
  length: { length: true },
  similar: { sequence: true },
  uniprotEntry: { accession: true },
  name: { header: true },
  organism: { header: true },
  gene: { header: true },
  header: { header: true },
  ptm: { ptm: true },
  plddt: (info, { nodes }) => (selectsMeanOnly(info, nodes) ? { meanPlddt: true } : STRUCTURE),
  structure: (info, { nodes }) => (selectsFileText(info, nodes) ? STRUCTURE : {}),
  cluster: (info, { nodes }) => clusterParts(info, selectedFields(info, 'Cluster', nodes)),
  isClusterRepresentative: { link: true },
  features: featureParts,
  featureValues: featureParts,
  provenance: { provenance: true },
  foldedOnDemand: { record: true },
  raw: { record: true },
};

const RECORD: RequiredParts = { record: true };

/**
 * Reads each selection once, for all items of a list. A selection that depends on variables is a
 * new object for each execution.
 */
function onceForSelection<T extends object>(
  read: (info: GraphQLResolveInfo, selected: readonly Selected[]) => T,
): (info: GraphQLResolveInfo, selected: readonly Selected[]) => T {
  const known = new WeakMap<readonly Selected[], T>();
  return (info, selected) => {
    const value = known.get(selected) ?? read(info, selected);
    known.set(selected, value);
    return value;
  };
}

const readSelectedParts = onceForSelection((info, selected) =>
  unionParts(
    selected.map((field) => {
      const parts = Object.hasOwn(PARTS, field.name) ? (PARTS[field.name] ?? RECORD) : RECORD;
      return typeof parts === 'function' ? parts(info, field) : parts;
    }),
  ),
);

/** All parts that a selection on a protein needs; by default that of the current field. */
export const requiredParts = (info: GraphQLResolveInfo, nodes?: readonly FieldNode[]): RequiredParts =>
  readSelectedParts(info, selectedFields(info, 'Protein', nodes));

/** All parts that a selection needs of the proteins in a field of it, under all of its aliases. */
export const requiredPartsBelow = (
  info: GraphQLResolveInfo,
  selected: readonly Selected[],
  name: string,
): RequiredParts =>
  unionParts(selected.filter((field) => field.name === name).map(({ nodes }) => requiredParts(info, nodes)));

/** All parts that the selection on the members of a connection needs. */
export function readNodeParts(info: GraphQLResolveInfo): RequiredParts {
  const connection = selectedFields(info, 'ProteinConnection');
  const edges = selectedBelow(info, connection, 'edges', 'ProteinEdge');
  return unionParts([requiredPartsBelow(info, connection, 'nodes'), requiredPartsBelow(info, edges, 'node')]);
}

/**
 * The selection below a field, under all of its aliases. Each alias is read by itself, because the
 * same response name may be another field in each.
 */
export const selectedBelow = (
  info: GraphQLResolveInfo,
  selected: readonly Selected[],
  name: string,
  typeName: string,
): readonly Selected[] =>
  selected
    .filter((field) => field.name === name)
    .flatMap(({ nodes }) => selectedFields(info, typeName, nodes));

/** Needs of proteins that a UniProt entry led to: it names those whose accession is its own. */
export const withoutNames = ({ header, ...needs }: RequiredParts): RequiredParts =>
  header === true ? { ...needs, accession: true } : needs;

/** Whether the mean is enough, which does not need the structure. */
export const selectsMeanOnly = (info: GraphQLResolveInfo, nodes?: readonly FieldNode[]): boolean =>
  selectedFields(info, 'Plddt', nodes).every(({ name }) => name === 'mean' || name === '__typename');

/** Whether the file itself is selected and not only its address. */
export const selectsFileText = (info: GraphQLResolveInfo, nodes?: readonly FieldNode[]): boolean =>
  selectedFields(info, 'Structure', nodes).some(({ name }) => name === 'text' || name === 'atomCount');

/** Whether regions or activations along the sequence are selected on features. */
export function selectedOnFeatures(info: GraphQLResolveInfo, nodes?: readonly FieldNode[]) {
  const selected = selectedFields(info, 'FeatureActivation', nodes).map((field) => field.name);
  return { regions: selected.includes('regions'), residues: selected.includes('residues') };
}

/** Raw values and regions of features by index have calls of their own. */
function featureParts(info: GraphQLResolveInfo, field: Selected): RequiredParts {
  const { args, nodes } = field;
  if (args.normalize === false) return {};
  const { regions, residues } = selectedOnFeatures(info, nodes);
  if (Array.isArray(args.indices)) {
    if (regions) return {};
    const rows = args.indices.filter((index) => typeof index === 'number');
    return { level: true, ...(residues && rows.length > 0 ? { rows, length: true } : {}) };
  }
  const top = selectedTop(field);
  return {
    ...(regions ? { regions: top } : { features: top }),
    ...(residues ? { residues: top, length: true } : {}),
  };
}

/** Where an answer about a cluster has what a field of it reads. */
export const CLUSTER_KEYS = {
  name: 'protein_name',
  size: 'cluster_size',
  percentCharacterized: 'cluster_pct_characterized',
  percentDomainCoverage: 'cluster_mean_domain_coverage',
  taxonomy: 'cluster_taxonomy_info',
  pfamDomains: 'cluster_top_pfam_domains',
  phyla: 'top_phyla',
} as const;

/** Fields of a cluster that need only the hash of its representative. */
const IN_LINK = new Set(['__typename', 'id', 'representativeHash', 'representative']);

/** Fields of a cluster in the bulk answer: a query for these alone needs no cluster record. */
const IN_BULK = new Set([
  ...IN_LINK,
  'name',
  'size',
  'percentCharacterized',
  'percentDomainCoverage',
  'pfamDomains',
]);

/** Fields of the representative that the cluster's record has. */
const OF_REPRESENTATIVE = new Set(['accession', 'source', 'ptm', 'plddt', 'features']);

/** Whether it is a ranking of features, which the record of a cluster has of its representative. */
const isRanking = ({ name, args }: Selected): boolean => name === 'features' && args.normalize !== false;

const selectedOnRepresentative = (
  info: GraphQLResolveInfo,
  selected: readonly Selected[],
): readonly Selected[] => selectedBelow(info, selected, 'representative', 'Protein');

/** Whether the bulk answer has everything that is selected on a cluster. */
const isBulkEnough = (info: GraphQLResolveInfo, selected: readonly Selected[]): boolean =>
  selected.every((field) => IN_BULK.has(field.name)) &&
  !selectedOnRepresentative(info, selected).some(isRanking);

/** Needs of a cluster: the bulk answer, unless the cluster's record is needed, which has more. */
function clusterParts(info: GraphQLResolveInfo, selected: readonly Selected[]): RequiredParts {
  const isInLink = selected.every((field) => IN_LINK.has(field.name));
  return isInLink || !isBulkEnough(info, selected) ? { link: true } : { cluster: true };
}

/** The selection on a cluster. */
export interface ClusterSelection {
  readonly needs: RequiredParts;
  /** The fields that need more than the hash of its representative. */
  readonly fields: readonly string[];
  /** Whether the hash of its representative is needed. */
  readonly needsLink: boolean;
  /** Whether the bulk answer has everything. */
  readonly isBulkEnough: boolean;
  /** Whether the cluster's record is to be loaded for what is selected on the representative. */
  readonly describesRepresentative: boolean;
  /** Whether its record says what is selected on the representative. */
  readonly scoresRepresentative: boolean;
  /** The most features selected on the representative: one call returns them all. */
  readonly top: number | undefined;
}

const readClusterSelection = onceForSelection((info, selected): ClusterSelection => {
  const representative = selectedOnRepresentative(info, selected);
  const described = representative.filter(({ name }) => OF_REPRESENTATIVE.has(name));
  const tops = representative.filter(isRanking).map(selectedTop);
  const isEnough = isBulkEnough(info, selected);
  const isRaw = selected.some(({ name }) => name === 'raw');
  return {
    needs: clusterParts(info, selected),
    fields: selected.map(({ name }) => name).filter((name) => !IN_LINK.has(name)),
    needsLink: selected.some(({ name }) => name !== '__typename' && IN_LINK.has(name)),
    isBulkEnough: isEnough,
    describesRepresentative: !isEnough && described.length > 0,
    scoresRepresentative: described.length > 0,
    // The record as it came has all of them, so that it is the same whatever else is selected.
    top: isRaw ? MAX_FEATURES : tops.length === 0 ? undefined : Math.max(...tops),
  };
});

export const clusterSelection = (info: GraphQLResolveInfo): ClusterSelection =>
  readClusterSelection(info, selectedFields(info, 'Cluster'));
