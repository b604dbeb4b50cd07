// Loads proteins: the parts that the selected fields need, one protein, or a list. Look-ahead and
// field resolvers read the same table, so that a field never needs a part that was not loaded with
// the others.
import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { ProteinRef } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { type CheckedStructure, checkStructure } from '../../upstream/proteins/checked-structure.ts';
import type { PresentProtein } from '../../upstream/proteins/protein-data.ts';
import type { LoadResult } from '../../upstream/proteins/protein-loader.ts';
import { type RequiredParts, unionParts } from '../../upstream/proteins/required-parts.ts';
import { type Selected, selectedFields } from '../selection.ts';

export type MaybePromise<T> = T | Promise<T>;

/** Maps a value, synchronously unless it is a promise. */
export const mapMaybePromise = <T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> => (value instanceof Promise ? value.then(next) : next(value));

/** Reads from a protein, loaded where parts are missing; null where the Atlas does not have it. */
export function fromProtein<R>(
  { proteins }: GatewayContext,
  hash: string,
  needs: RequiredParts,
  read: (data: PresentProtein | null) => MaybePromise<R>,
): MaybePromise<R> {
  const here = proteins.getSync(hash, needs);
  return here === undefined ? proteins.load(hash, needs).then(read) : read(here);
}

const SEQUENCE: RequiredParts = { sequence: true };
export const STRUCTURE: RequiredParts = { structure: true };

/**
 * Loads the structure of a protein; null where there is none.
 *
 * @throws UpstreamError UPSTREAM_DRIFT for one that is not that of its sequence
 */
export const loadStructure = (ctx: GatewayContext, hash: string): MaybePromise<CheckedStructure | null> =>
  fromProtein(ctx, hash, STRUCTURE, (data) => {
    const structure = data?.structure;
    if (data === null || structure == null) return null;
    return (
      checkStructure(data, structure) ??
      fromProtein(ctx, hash, SEQUENCE, (whole) =>
        whole?.sequence === undefined ? null : (checkStructure(whole, structure) ?? null),
      )
    );
  });

/**
 * Loads a list of proteins, with one promise for all.
 *
 * @param toItems - makes the items of the proteins; an Error is one that could not be loaded
 */
export const loadList = async <T>(
  { proteins }: GatewayContext,
  hashes: readonly string[],
  needs: RequiredParts,
  toItems: (found: readonly LoadResult[]) => readonly (T | Promise<T>)[],
): Promise<readonly (T | Promise<T>)[]> => toItems(await proteins.loadAll(hashes, needs));

/** A rejected promise as an entry of a list. */
function failing(error: Error): Promise<never> {
  const failed = Promise.reject(error);
  // The list may be abandoned before anything awaits this promise.
  failed.catch(() => undefined);
  return failed;
}

/** One object for each protein, also when a list repeats it, so that it is completed once. */
export function toRefs(found: readonly LoadResult[]): (ProteinRef | null | Promise<never>)[] {
  const refs = new Map<string, ProteinRef>();
  return found.map((data) => {
    if (data instanceof Error) return failing(data);
    if (data === null) return null;
    const ref = refs.get(data.hash) ?? { hash: data.hash };
    refs.set(data.hash, ref);
    return ref;
  });
}

/** Largest number of features in a call (spec, section Limits: 1 to 100). */
const MAX_FEATURES = 100;

/** Parses `first`. @throws GraphQLError BAD_USER_INPUT outside 1 to 100 */
export function readTop(value: unknown): number {
  const top = typeof value === 'number' ? value : 10;
  if (top >= 1 && top <= MAX_FEATURES) return top;
  throw badInput(
    `\`first\` must be between 1 and ${MAX_FEATURES}; it is ${top}. Use \`featureValues\` to ask for ` +
      'certain features.',
  );
}

/** Needs that depend neither on arguments nor on the selection. */
export const PARTS_OF_FIELD = {
  accession: { sequence: true },
  source: { sequence: true },
  sequence: { sequence: true },
  length: { sequence: true },
  name: { header: true },
  organism: { header: true },
  gene: { header: true },
  header: { header: true },
  uniprotEntry: { sequence: true },
  ptm: { ptm: true },
  isClusterRepresentative: { link: true },
  foldedOnDemand: { record: true },
  raw: { record: true },
  similar: { sequence: true },
} as const satisfies Record<string, RequiredParts>;

/** Fields of a cluster in the bulk answer: a query for these alone needs no cluster record. */
const IN_BULK = new Set([
  '__typename',
  'id',
  'representativeHash',
  'representative',
  'name',
  'size',
  'percentCharacterized',
  'percentDomainCoverage',
  'pfamDomains',
]);

/** Fields of a cluster that need only the hash of its representative. */
const IN_LINK = new Set(['__typename', 'id', 'representativeHash', 'representative']);

/** What is selected on the representative of a cluster. */
export const selectedOnRepresentative = (
  info: GraphQLResolveInfo,
  selected: readonly Selected[],
): readonly Selected[] =>
  selected
    .filter(({ name }) => name === 'representative')
    .flatMap(({ nodes }) => selectedFields(info, 'Protein', nodes));

/** Whether it is a ranking of features, which the record of a cluster has of its representative. */
export const isRanking = ({ name, args }: Selected): boolean =>
  name === 'features' && args.normalize !== false;

/** Whether the bulk answer has everything that is selected on a cluster. */
export const bulkIsEnough = (info: GraphQLResolveInfo, selected: readonly Selected[]): boolean =>
  selected.every((field) => IN_BULK.has(field.name)) &&
  !selectedOnRepresentative(info, selected).some(isRanking);

/** Needs of `cluster`: the bulk answer, unless the cluster's record is needed, which has more. */
export function clusterNeeds(
  info: GraphQLResolveInfo,
  nodes: readonly FieldNode[] = info.fieldNodes,
): RequiredParts {
  const selected = selectedFields(info, 'Cluster', nodes);
  const isInLink =
    selected.every((field) => IN_LINK.has(field.name)) &&
    !selectedOnRepresentative(info, selected).some(({ name }) => name === 'name');
  const link = isInLink || !bulkIsEnough(info, selected);
  return link ? { link: true } : { cluster: true };
}

/** The fields selected on activations of features besides their values. */
export function selectedOnFeatures(info: GraphQLResolveInfo, nodes: readonly FieldNode[] = info.fieldNodes) {
  const selected = selectedFields(info, 'FeatureActivation', nodes).map((field) => field.name);
  return { regions: selected.includes('regions'), residues: selected.includes('residues') };
}

/** Needs of `features`. Raw values and regions of features by index have calls of their own. */
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
  // The field's resolver rejects a number out of range, at the field's path.
  const top = Math.min(Math.max(typeof args.first === 'number' ? args.first : 10, 1), MAX_FEATURES);
  return {
    ...(regions ? { regions: top } : { features: top }),
    ...(residues ? { residues: top, sequence: true } : {}),
  };
}

export const selectsFileText = (
  info: GraphQLResolveInfo,
  nodes: readonly FieldNode[] = info.fieldNodes,
): boolean =>
  selectedFields(info, 'Structure', nodes).some(
    (field) => field.name === 'text' || field.name === 'atomCount',
  );

/** A structure is checked against its sequence. */
const WITH_SEQUENCE: RequiredParts = { structure: true, sequence: true };

/** Needs of `plddt`: the mean alone does not need the structure. */
export const plddtNeeds = (
  info: GraphQLResolveInfo,
  nodes: readonly FieldNode[] = info.fieldNodes,
): RequiredParts =>
  selectedFields(info, 'Plddt', nodes).every(({ name }) => name === 'mean' || name === '__typename')
    ? { meanPlddt: true }
    : WITH_SEQUENCE;

function needsOf(info: GraphQLResolveInfo, field: Selected): RequiredParts {
  if (Object.hasOwn(PARTS_OF_FIELD, field.name))
    return PARTS_OF_FIELD[field.name as keyof typeof PARTS_OF_FIELD];
  if (field.name === 'plddt') return plddtNeeds(info, field.nodes);
  if (field.name === 'cluster') return clusterNeeds(info, field.nodes);
  if (field.name === 'features' || field.name === 'featureValues')
    return featureNeeds(info, field.args, field.nodes);
  if (field.name === 'structure') return selectsFileText(info, field.nodes) ? WITH_SEQUENCE : {};
  return {};
}

/** The needs of proteins that a UniProt entry led to: it names those whose accession is its own. */
export const withoutNames = ({ header, ...needs }: RequiredParts): RequiredParts =>
  header === true ? { ...needs, ...SEQUENCE } : needs;

/** Needs by selection. A selection that depends on variables is a new object for each execution. */
const known = new WeakMap<readonly Selected[], RequiredParts>();

/** All parts that a selection on a protein needs; by default that of the current field. */
export function requiredPartsOf(info: GraphQLResolveInfo, nodes?: readonly FieldNode[]): RequiredParts {
  const selected = selectedFields(info, 'Protein', nodes);
  const before = known.get(selected);
  if (before !== undefined) return before;
  const needs = unionParts(selected.map((field) => needsOf(info, field)));
  known.set(selected, needs);
  return needs;
}
