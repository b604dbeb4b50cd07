// A naive reference for read queries: graphql-js over the public schema, one single-record call at
// a time, no planner, no loader, no bulk archive. It imports nothing of src, so that it cannot
// share a mistake with the gateway.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buildSchema, type ExecutionResult, execute, type GraphQLFieldResolver, parse } from 'graphql';

const SCHEMA = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'), {
  assumeValidSDL: true,
});
const FEATURES = 16_384;

type Json = Record<string, unknown>;
type Args = Json;

/**
 * Reads one address of the service: the JSON of a 200, null for a 404. @throws Error for every
 * other answer
 */
export type ReadRecord = (path: string) => Promise<Json | null>;

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const toList = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const toTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
const toNumbers = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'number') : [];
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const int = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
const md5 = (value: string): string => createHash('md5').update(value).digest('hex');
const toNodeId = (type: string, key: unknown): string => Buffer.from(`${type}:${key}`).toString('base64');

/** pLDDT of 0 to 1 in the scale asked for; a percentage has 15 significant digits. */
const inScale = (value: unknown, scale: unknown): number | null => {
  if (typeof value !== 'number') return null;
  return scale === 'UNIT' ? value : Number((value * 100).toPrecision(15));
};

/** Rows `start` to `end` of a list. */
const cutSlice = <T>(values: readonly T[], { start, end }: Args): T[] =>
  values.slice(int(start, 0), int(end, values.length));

/** The first entries of a list as a connection without cursors. */
const cutPage = <T>(all: readonly T[], { first }: Args) => ({
  nodes: all.slice(0, int(first, 20)),
  totalCount: all.length,
});

/**
 * The reference answers a query from single records alone.
 *
 * @param isEndIncluded - whether the service sends the last residue as `end` of a region, and not
 *   the one after it
 */
export function createReference(read: ReadRecord, isEndIncluded: boolean) {
  const protein = (hash: unknown, query = '') =>
    read(`/proteins/${hash}?fold_on_miss=false${query === '' ? '' : `&${query}`}`);
  const cluster = (hash: unknown, top = 10) => read(`/clusters/${hash}?topk_features=${top}`);
  const existing = async (hash: unknown) =>
    (await protein(hash)) === null ? null : { __typename: 'Protein', hash };
  const existingCluster = async (hash: unknown) =>
    (await cluster(hash)) === null ? null : { __typename: 'Cluster', hash };
  const existingFeature = async (index: unknown) => {
    if (typeof index !== 'number' || index < 0 || index >= FEATURES) return null;
    return { __typename: 'Feature', index };
  };
  const uniprot = (id: string) => read(`/uniprot/${encodeURIComponent(id.trim().toUpperCase())}`);
  const hashOfEntry = (entry: Json) =>
    text(entry.protein_hash) ?? md5((text(entry.sequence) ?? '').toUpperCase());

  /** The cluster of a protein: that of its representative, or its own. */
  const clusterOfProtein = async (hash: unknown) => {
    const record = await protein(hash);
    if (record === null) return null;
    const representative = text(record.cluster_rep_protein_hash);
    return representative === null ? existingCluster(hash) : { __typename: 'Cluster', hash: representative };
  };

  let catalogue: ReadonlyMap<unknown, Json> | undefined;
  const catalogueRow = async (index: unknown) => {
    catalogue ??= new Map(toList((await read('/features'))?.data).map((row) => [row.feature_index, row]));
    return catalogue.get(index);
  };
  const detail =
    (key: string) =>
    async ({ index }: Json) =>
      (await read(`/features/${index}`))?.[key] ?? null;
  const ofRecord =
    (key: string) =>
    async ({ hash }: Json) =>
      (await protein(hash))?.[key] ?? null;
  const ofHeader =
    (form: RegExp) =>
    async ({ hash }: Json) => {
      const [, one, other] = form.exec(String((await protein(hash))?.header)) ?? [];
      return one ?? other ?? null;
    };
  const ofCluster =
    (key: string) =>
    async ({ hash }: Json) =>
      (await cluster(hash))?.[key] ?? null;
  const as = (key: string) => (parent: Json) => parent[key] ?? null;

  const activations = (record: Json | null, top: unknown) =>
    toList(record?.sae_features)
      .slice(0, int(top, 10))
      .map((value) => ({ ...value, of: record }));

  const features = async ({ hash }: Json, { first: top, indices, normalize }: Args) => {
    const scale = `normalize_features=${normalize !== false}`;
    if (!Array.isArray(indices)) return activations(await protein(hash, `topk_features=100&${scale}`), top);
    const rows: (Json | null)[] = [];
    for (const index of toNumbers(indices)) {
      const known = index >= 0 && index < FEATURES;
      const record = known ? await protein(hash, `feature_indices=${index}&${scale}`) : null;
      const [row] = toList(record?.sae_features);
      rows.push(row === undefined ? null : { ...row, of: record });
    }
    return rows;
  };

  /** A feature's activation residue by residue, 0 where it is inactive. */
  const residues = ({ feature_index: feature, of }: Json, args: Args) => {
    if (!isJson(of) || !isJson(of.per_residue_activations)) return null;
    const { indices, values } = of.per_residue_activations;
    const [at = [], which = []] = Array.isArray(indices) ? indices.map(toNumbers) : [];
    const row = new Array<number>(int(of.sequence_length, 0)).fill(0);
    for (const [i, value] of toNumbers(values).entries()) if (which[i] === feature) row[at[i] ?? 0] = value;
    return cutSlice(row, args);
  };

  const plddt = async ({ hash }: Json) => {
    const record = await protein(hash);
    if (record?.pdb == null) return null;
    // B-factors have two digits, and so have the values, whichever way they came.
    const values = toNumbers(record.residues_plddt).map((value) => Number(value.toFixed(2)));
    return { values, mean: record.mean_plddt };
  };

  const search = async (sequence: string, { first, minSimilarity, maxPercentCharacterized }: Args) => {
    const query = new URLSearchParams({
      sequence,
      topk_results: String(int(first, 10)),
      topk_features: '100',
      include_cluster_info: 'true',
    });
    if (typeof minSimilarity === 'number') query.set('min_similarity', String(minSimilarity));
    if (typeof maxPercentCharacterized === 'number')
      query.set('cluster_pct_characterized_max', String(maxPercentCharacterized));
    return { sequence, ...(await read(`/similarity-search?${query}`)) };
  };

  const lookup = async (requested: string) => {
    const id = requested.trim();
    if (/^[0-9a-f]{32}$/i.test(id)) return { requested, hash: id.toLowerCase() };
    if (!/^[A-Z0-9_.-]{1,40}$/i.test(id)) return { requested, problem: 'InvalidInput' };
    const entry = await uniprot(id);
    return entry === null ? { requested, problem: 'NotFound' } : { requested, hash: hashOfEntry(entry) };
  };

  const entry = async (id: string) => {
    const found = await uniprot(id);
    return found === null ? null : { ...found, __typename: 'UniprotEntry' };
  };

  const node = async (id: string) => {
    const [type = '', key = ''] = Buffer.from(id, 'base64').toString().split(':');
    if (type === 'Protein') return existing(key);
    if (type === 'Cluster') return existingCluster(key);
    return existingFeature(Number(key));
  };

  /** How each field is found; a field that has no line here cannot be asked for. */
  const fields: Record<string, (parent: Json, args: Args) => unknown> = {
    'Query.protein': (_, { hash }) => existing(hash),
    'Query.proteins': async (_, { hashes }) => {
      const all: unknown[] = [];
      for (const hash of toTexts(hashes)) all.push(await existing(hash));
      return all;
    },
    'Query.proteinBySequence': (_, { sequence }) => existing(md5(String(sequence).toUpperCase())),
    'Query.cluster': async (_, { hash }) => (await existingCluster(hash)) ?? clusterOfProtein(hash),
    'Query.feature': (_, { index }) => existingFeature(index),
    'Query.features': async (_, { indices, ...page }) => {
      const all = Array.isArray(indices) ? toNumbers(indices) : [...Array(FEATURES).keys()];
      return cutPage(
        all.filter((i) => i >= 0 && i < FEATURES).map((index) => ({ index })),
        page,
      );
    },
    'Query.uniprotEntry': (_, { id }) => entry(String(id)),
    'Query.lookup': async (_, { ids }) => {
      const all: unknown[] = [];
      for (const id of toTexts(ids)) all.push(await lookup(id));
      return all;
    },
    'Query.node': (_, { id }) => node(String(id)),
    'Query.nodes': async (_, { ids }) => {
      const all: unknown[] = [];
      for (const id of toTexts(ids)) all.push(await node(id));
      return all;
    },
    'Query.similarProteins': (_, { sequence, ...args }) => search(String(sequence), args),

    'Protein.id': ({ hash }) => toNodeId('Protein', hash),
    'Protein.hash': as('hash'),
    'Protein.accession': ofRecord('accession'),
    'Protein.source': ofRecord('source'),
    'Protein.header': ofRecord('header'),
    'Protein.name': ofHeader(/^\S+ (.*?)(?: OS=.*| \[[^[]*\])?$/),
    'Protein.organism': ofHeader(/(?: OS=(.*?) OX=.*| \[([^[]*)\])$/),
    'Protein.gene': ofHeader(/ GN=(\S+)/),
    'Protein.uniprotEntry': async ({ hash }) => {
      const record = await protein(hash);
      return record?.source === 'uniprotkb' ? entry(String(record.accession)) : null;
    },
    'Protein.sequence': ofRecord('sequence'),
    'Protein.length': ofRecord('sequence_length'),
    'Protein.ptm': ofRecord('ptm'),
    'Protein.foldedOnDemand': ofRecord('folded_on_demand'),
    'Protein.plddt': plddt,
    'Protein.structure': async ({ hash }) => {
      const pdb = text((await protein(hash))?.pdb);
      return pdb === null
        ? null
        : { atomCount: pdb.split('\n').filter((l) => /^(ATOM|HETATM)/.test(l)).length };
    },
    'Protein.cluster': ({ hash }) => clusterOfProtein(hash),
    'Protein.isClusterRepresentative': async ({ hash }) => {
      const found = await clusterOfProtein(hash);
      return found === null ? null : found.hash === hash;
    },
    'Protein.features': features,
    'Protein.featureValues': features,
    'Protein.similar': async ({ hash }, args) => {
      const sequence = text((await protein(hash))?.sequence);
      return sequence === null ? null : search(sequence, args);
    },
    'Structure.atomCount': as('atomCount'),
    'Plddt.mean': ({ mean }, { scale }) => inScale(mean, scale),
    'Plddt.length': ({ values }) => (Array.isArray(values) ? values.length : 0),
    'Plddt.values': ({ values }, args) =>
      cutSlice(Array.isArray(values) ? values : [], args).map((v) => inScale(v, args.scale)),
    'FeatureActivation.value': as('value'),
    'FeatureActivation.feature': ({ feature_index: index }) => ({ index }),
    'FeatureActivation.regions': as('residue_regions'),
    'FeatureActivation.residues': residues,
    'ResidueRegion.start': as('start'),
    'ResidueRegion.end': ({ end }) => (isEndIncluded ? Number(end) + 1 : end),
    'ResidueRegion.peak': as('peak_residue'),
    'ResidueRegion.meanActivation': as('mean_activation'),

    'Cluster.id': ({ hash }) => toNodeId('Cluster', hash),
    'Cluster.representativeHash': as('hash'),
    'Cluster.representative': ({ hash }) => ({ hash }),
    'Cluster.name': ofCluster('protein_name'),
    'Cluster.size': ofCluster('cluster_size'),
    'Cluster.percentCharacterized': ofCluster('cluster_pct_characterized'),
    'Cluster.percentDomainCoverage': async ({ hash }) => {
      const share = (await cluster(hash))?.cluster_mean_domain_coverage;
      return typeof share === 'number' ? share * 100 : null;
    },
    'Cluster.taxonomy': ofCluster('cluster_taxonomy_info'),
    'Cluster.memberHashes': async ({ hash }) => toTexts((await cluster(hash))?.member_protein_hashes),
    'Cluster.members': async ({ hash }, page) =>
      cutPage(
        toTexts((await cluster(hash))?.member_protein_hashes).map((member) => ({ hash: member })),
        page,
      ),
    'ProteinConnection.nodes': as('nodes'),
    'ProteinConnection.totalCount': as('totalCount'),
    'Taxonomy.rank': as('rank'),
    'Taxonomy.name': as('name'),

    'Feature.id': ({ index }) => toNodeId('Feature', index),
    'Feature.index': as('index'),
    'Feature.label': async ({ index }) => (await catalogueRow(index))?.label,
    'Feature.description': async ({ index }) => (await catalogueRow(index))?.description,
    'Feature.summary': detail('summary'),
    'Feature.category': detail('category'),
    'Feature.threshold': detail('threshold'),
    'Feature.nearestNeighbors': async ({ index }, { first }) =>
      toNumbers((await read(`/features/${index}`))?.decoder_nearest_neighbors)
        .slice(0, int(first, 10))
        .map((neighbour) => ({ index: neighbour })),
    'FeatureConnection.nodes': as('nodes'),
    'FeatureConnection.totalCount': as('totalCount'),

    'UniprotEntry.accession': as('accession'),
    'UniprotEntry.name': as('protein_name'),
    'UniprotEntry.organism': as('organism'),
    'UniprotEntry.sequence': as('sequence'),
    'UniprotEntry.proteinHash': hashOfEntry,
    'UniprotEntry.protein': (found) => existing(hashOfEntry(found)),
    'ProteinLookup.requested': as('requested'),
    'ProteinLookup.problem': async ({ problem, hash }) => {
      if (typeof problem === 'string') return { __typename: problem };
      return (await existing(hash)) === null ? { __typename: 'NotFound' } : null;
    },
    'ProteinLookup.protein': ({ hash }) => (hash === undefined ? null : existing(hash)),

    'SimilaritySearch.queryHash': ({ sequence }) => md5(String(sequence)),
    'SimilaritySearch.restrictedCount': as('restricted_count'),
    'SimilaritySearch.queryProtein': ({ sequence }) => existing(md5(String(sequence))),
    'SimilaritySearch.hits': as('similar_proteins'),
    'SimilarityHit.score': as('similarity_score'),
    'SimilarityHit.protein': ({ protein_hash: hash }) => ({ hash }),
    'SimilarityHit.cluster': async ({ protein_hash: hash }) =>
      // A hit always has a cluster: a protein in none stands for itself.
      (await clusterOfProtein(hash)) ?? { hash },
  };

  const fieldResolver: GraphQLFieldResolver<Json, unknown> = (parent, args, _, { parentType, fieldName }) => {
    const resolve = fields[`${parentType.name}.${fieldName}`];
    if (resolve === undefined) throw new Error(`The reference has no ${parentType.name}.${fieldName}.`);
    return resolve(parent ?? {}, args);
  };

  return {
    /** Fields that a query may ask for, such as `Protein.hash`. */
    fields: Object.keys(fields),
    execute: async (query: string): Promise<ExecutionResult> =>
      execute({ schema: SCHEMA, document: parse(query), rootValue: {}, fieldResolver }),
  };
}
