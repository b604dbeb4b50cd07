// How long the answer to a query may be kept by whoever stands between the gateway and its callers: as long as its least
// cacheable field, and not at all when it holds anything but public Atlas data. Pure; it knows no HTTP.
import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  TypeInfo,
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

/**
 * Seconds that the answer to a document may be kept; null for not at all. Everything in the document counts, also what a
 * directive or another operation leaves out.
 *
 * @param recordSeconds - how long the gateway keeps records
 */
export function cacheSeconds(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  recordSeconds: number,
): number | null {
  const rules = new Map<string, number>([
    ...FOR_A_DAY.map((name) => [name, DAY] as const),
    ...AS_RECORDS.map(
      (name) => [name, name === 'Query' || name === 'PageInfo' ? DAY : recordSeconds] as const,
    ),
  ]);
  const types = new TypeInfo(schema);
  let seconds: number | null = DAY;
  const keep = (most: number | null | undefined) => {
    seconds = seconds === null || most == null ? null : Math.min(seconds, most);
  };
  visit(
    document,
    visitWithTypeInfo(types, {
      OperationDefinition: ({ operation }) => {
        if (operation !== 'query') keep(null);
      },
      // Arguments that change something upstream are no question.
      Argument: ({ name, value }) => {
        if (name.value !== 'foldOnMiss') return;
        const given = value.kind === Kind.VARIABLE ? variables[value.name.value] : value;
        const off = given === undefined || given === false || given === null;
        if (!off && !(value.kind === Kind.BOOLEAN && !value.value)) keep(null);
      },
      Field: ({ name }) => {
        if (name.value.startsWith('__') && name.value !== '__typename') keep(null);
        if (BY_ANY_ID.includes(name.value) && types.getParentType()?.name === 'Query') keep(null);
        const parent = types.getParentType();
        keep(parent == null ? null : rules.get(parent.name));
        const type = types.getType();
        if (type != null && isCompositeType(getNamedType(type))) keep(rules.get(getNamedType(type).name));
      },
    }),
  );
  return seconds;
}
