// How long the answer to a query may be kept by whoever stands between the gateway and its callers: as long as its least
// cacheable field, and not at all when it holds anything but public Atlas data. Pure; it knows no HTTP.
import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';

const DAY = 24 * 3600;

/** Types that change with releases only. */
const FOR_A_DAY = [
  'Feature',
  'FeatureStatistics',
  'FeatureExemplar',
  'QueryFeaturesConnection',
  'QueryFeaturesEdge',
  'UniprotEntry',
];

/** Types of the alpha Atlas, kept as long as the gateway itself keeps its records; and what is the same for everybody. */
const AS_RECORDS = [
  'Query',
  'Protein',
  'FeatureActivation',
  'ResidueRegion',
  'Cluster',
  'ClusterMembersConnection',
  'ClusterMembersEdge',
  'Taxonomy',
  'PfamDomain',
  'PhylumCount',
  'SimilaritySearch',
  'SimilarityHit',
  'SharedFeature',
  'Thumbnail',
  'Structure',
  'Plddt',
  'PlddtBand',
  'Provenance',
  'PageInfo',
  'ProteinLookup',
  'Problem',
  'NotFound',
  'InvalidInput',
  'InputIssue',
  'Limits',
];

/** Root fields that give a public type by an id which may as well be that of something private. */
const BY_ANY_ID = ['node', 'nodes'];

/** How long answers to a document may be kept. */
export interface CachePolicy {
  /** Seconds; null for not at all. */
  secondsFor(variables: Readonly<Record<string, unknown>>): number | null;
  /** Whether the same answer is true again: not where it tells whether the gateway had to ask for it. */
  readonly isRepeatable: boolean;
}

/** Whether a switch that was given is off. */
const isOff = (
  value: ValueNode,
  variables: Readonly<Record<string, unknown>>,
  defaults: ReadonlyMap<string, ValueNode | undefined>,
): boolean => {
  if (value.kind !== Kind.VARIABLE)
    return value.kind === Kind.NULL || (value.kind === Kind.BOOLEAN && !value.value);
  const given = variables[value.name.value];
  if (given !== undefined) return given === null || given === false;
  const usual = defaults.get(value.name.value);
  return usual === undefined || isOff(usual, {}, new Map());
};

const policies = new WeakMap<DocumentNode, CachePolicy>();

/**
 * How long the answer to a document may be kept; read from it once. Everything in the document counts, also what a directive or another
 * operation leaves out.
 *
 * @param recordSeconds - how long the gateway keeps records; the same for all documents of a process
 */
export function cachePolicy(
  schema: GraphQLSchema,
  document: DocumentNode,
  recordSeconds: number,
): CachePolicy {
  const known = policies.get(document) ?? readPolicy(schema, document, recordSeconds);
  policies.set(document, known);
  return known;
}

function readPolicy(schema: GraphQLSchema, document: DocumentNode, recordSeconds: number): CachePolicy {
  const rules = new Map<string, number>([
    ...FOR_A_DAY.map((name) => [name, DAY] as const),
    ...AS_RECORDS.map(
      (name) => [name, name === 'Query' || name === 'PageInfo' ? DAY : recordSeconds] as const,
    ),
  ]);
  const types = new TypeInfo(schema);
  let seconds: number | null = DAY;
  let isRepeatable = true;
  const keep = (most: number | null | undefined) => {
    seconds = seconds === null || most == null ? null : Math.min(seconds, most);
  };
  /** Arguments that change something upstream are no question. */
  const switches: ValueNode[] = [];
  const defaults = new Map<string, ValueNode | undefined>();
  visit(
    document,
    visitWithTypeInfo(types, {
      OperationDefinition: ({ operation }) => {
        if (operation !== 'query') keep(null);
      },
      VariableDefinition: ({ variable, defaultValue }) =>
        void defaults.set(variable.name.value, defaultValue),
      Argument: ({ name, value }) => {
        if (name.value === 'foldOnMiss') switches.push(value);
      },
      Field: ({ name }) => {
        const parent = types.getParentType();
        if (name.value.startsWith('__') && name.value !== '__typename') keep(null);
        if (BY_ANY_ID.includes(name.value) && parent?.name === 'Query') keep(null);
        if (name.value === 'fromCache' && parent?.name === 'Provenance') isRepeatable = false;
        keep(parent == null ? null : rules.get(parent.name));
        const type = types.getType();
        if (type != null && isCompositeType(getNamedType(type))) keep(rules.get(getNamedType(type).name));
      },
    }),
  );
  return {
    secondsFor: (variables) =>
      switches.every((value) => isOff(value, variables, defaults)) ? seconds : null,
    isRepeatable,
  };
}
