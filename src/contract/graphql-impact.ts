// Translates a difference in an upstream answer to its effect on GraphQL queries.
import type { Drift } from './compare.ts';
import type { Effect } from './rules.ts';

const FEEDS: Readonly<Record<string, string>> = {
  features: 'features, and label and description of every Feature',
  feature: 'feature(index:) and the details of a Feature',
  protein: 'protein(hash:) and Protein',
  cluster: 'cluster(hash:) and Cluster',
  thumbnail: 'Protein.thumbnail and /thumbnails',
  uniprot: 'uniprotEntry(id:) and lookup',
  similarity: 'similarProteins',
  bulk: 'proteins(hashes:), lookup and all links to proteins',
  bulkJob: 'proteins(hashes:) of many, and bulk look-ups',
  clusterInfo: 'Protein.cluster where it comes with the bulk answer',
  bulkFeatures: 'Protein.features where they come with the bulk answer',
  archive: 'proteins(hashes:), lookup and bulk look-ups',
  submit: 'submitFold',
  list: 'batch(batchId:) and batchProgress',
  status: 'task(taskId:) and Task.result',
  cancel: 'cancelBatch and cancelTask',
  result: 'FoldResult',
};

export const FIELD_BY_WIRE_KEY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  features: { description: 'Feature.description' },
  feature: {
    feature_index: 'Feature.summary',
    label: 'Feature.label',
    summary: 'Feature.summary',
    description: 'Feature.description',
    activation_pattern: 'Feature.activationPattern',
    category: 'Feature.category',
    exemplar_protein_families: 'Feature.exemplarProteinFamilies',
    uniref90_frequency: 'Feature.uniref90',
    uniref90_idf: 'Feature.uniref90',
    uniref90_max_activation: 'Feature.uniref90',
    top_100_uniref_ids: 'Feature.topProteins',
    top_swissprot_activations: 'Feature.topProteins',
    decoder_nearest_neighbors: 'Feature.nearestNeighbors',
    threshold: 'Feature.threshold',
  },
  protein: {
    accession: 'Protein.accession',
    source: 'Protein.source',
    header: 'Protein.header',
    protein_name: 'Protein.name',
    sequence: 'Protein.sequence',
    sequence_length: 'Protein.length',
    ptm: 'Protein.ptm',
    mean_plddt: 'Protein.plddt',
    residues_plddt: 'Protein.plddt',
    pdb: 'Protein.structure',
    folded_on_demand: 'Protein.foldedOnDemand',
    cluster_rep_protein_hash: 'Protein.cluster',
    sae_features: 'Protein.features',
    protein_activations: 'Protein.features',
    per_residue_activations: 'Protein.features',
  },
  cluster: {
    member_protein_hashes: 'Cluster.members',
    cluster_size: 'Cluster.size',
    cluster_pct_characterized: 'Cluster.percentCharacterized',
    cluster_mean_domain_coverage: 'Cluster.meanDomainCoverage',
    cluster_top_pfam_domains: 'Cluster.pfamDomains',
    protein_name: 'Cluster.name',
    source: 'Cluster.source',
    accession: 'Cluster.accession',
    cluster_taxonomy_info: 'Cluster.taxonomy',
    top_phyla: 'Cluster.phyla',
    mean_plddt: 'Cluster.meanPlddt',
    ptm: 'Cluster.ptm',
    cluster_representative_features: 'Cluster.features',
  },
  uniprot: {
    accession: 'UniprotEntry.accession',
    entry_name: 'UniprotEntry.entryName',
    protein_name: 'UniprotEntry.name',
    gene: 'UniprotEntry.gene',
    organism: 'UniprotEntry.organism',
    function: 'UniprotEntry.function',
    sequence: 'UniprotEntry.sequence',
    sequence_length: 'UniprotEntry.length',
    protein_hash: 'UniprotEntry.protein',
  },
  similarity: {
    query_sequence: 'SimilaritySearch.queryHash',
    protein_hash: 'SimilaritySearch.queryProtein',
    restricted_count: 'SimilaritySearch.restrictedCount',
    similar_proteins: 'SimilaritySearch.hits',
    top_features_across_results: 'SimilaritySearch.sharedFeatures',
  },
  thumbnail: { body: 'Protein.thumbnail' },
  archive: { structures: 'Protein.structure', 'sequences.fasta': 'Protein.sequence' },
  bulkFeatures: {
    protein_level: 'Protein.features',
    per_residue: 'Protein.features',
    top_features: 'Protein.features',
  },
  bulkJob: {
    status: 'BulkLookupPart.state',
    job_id: 'BulkLookupPart.jobId',
    poll_url: 'BulkLookupPart.state',
    completed_count: 'BulkLookupPart.completedCount',
    total_count: 'BulkLookupPart.requestedCount',
    download_url: 'BulkLookupPart.url',
  },
  list: {
    status: 'Batch.state',
    counts: 'Batch.counts',
    batch_id: 'Batch.batchId',
    'items[].status': 'Task.state',
    items: 'Batch.tasks',
    cursor: 'Batch.tasks',
    expires_at: 'Batch.queueDeadline',
    results_expire_at: 'Batch.resultsExpireAt',
    created_at: 'Batch.submittedAt',
    warning_messages: 'Batch.warnings',
  },
  status: {
    status: 'Task.state',
    response: 'Task.result',
    artifacts: 'Task.artifacts',
    artifacts_expire_in: 'Artifact.expiresAt',
    error: 'Task.error',
    expires_at: 'Task.queueDeadline',
    results_expire_at: 'Task.resultsExpireAt',
    warning_messages: 'Task.warnings',
  },
  result: {
    complex: 'FoldResult.structure',
    plddt: 'FoldResult.plddt',
    ptm: 'FoldResult.ptm',
    interface_ptm: 'FoldResult.iptm',
    pae: 'FoldResult.pae',
    pair_chains_iptm: 'FoldResult.chainPairs',
    output_embedding_sequence: 'FoldResult.embeddings',
    output_embedding_pair_pooled: 'FoldResult.embeddings',
    residue_index: 'FoldResult.raw',
    entity_id: 'FoldResult.raw',
    model: 'FoldResult.model',
    created: 'FoldResult.raw',
    tokens_used: 'FoldResult.raw',
    warning_messages: 'FoldResult.warnings',
  },
};

const feeds = (answer: string): string => FEEDS[answer] ?? 'whatever needs it';

/** The field that a path supplies; all fields of its answer where none is known. */
function fieldOf(answer: string, path: string): string {
  const steps = path.split('.').map((step) => step.replaceAll('[]', ''));
  const [first = ''] = steps.filter((step) => step !== 'data' && step !== '*' && step !== '');
  // Archives and records of clusters have the same keys.
  const fields = FIELD_BY_WIRE_KEY[answer === 'clusterInfo' ? 'cluster' : answer];
  const last = steps.at(-1) ?? '';
  const keys = answer === 'clusterInfo' ? [last] : [path.replace(/^data\./, ''), first];
  const known = keys.find((key) => fields !== undefined && Object.hasOwn(fields, key));
  return (known === undefined ? undefined : fields?.[known]) ?? feeds(answer);
}

/** Answers that are read for their text alone. */
const TEXTS: ReadonlySet<string> = new Set(['batchError', 'atlasError', 'validationError']);

const EFFECTS: Readonly<Record<Effect, (place: string) => string>> = {
  drift: (place) => `${place} fails with UPSTREAM_DRIFT`,
  shown: (place) => `${place} cannot be trusted: it is shown as it came`,
  null: (place) => `${place} is null or incomplete`,
  elsewhere: (place) => `${place} is read from elsewhere: at one call more, or rounded`,
  none: (place) => `nothing is lost: ${place} is right all the same`,
};

/** What a difference means for GraphQL users, in a sentence without its full stop. */
export function graphqlImpactOf(answer: string, { kind, path, loses, effect }: Drift): string {
  if (kind === 'added') return 'nothing is lost; it may be worth a field';
  if (kind === 'word') return `${fieldOf(answer, path)} is UNKNOWN`;
  if (kind === 'prefix') return 'every query over this API fails until the setting is changed';
  if (kind === 'member')
    return `${feeds(answer)}: read from single records instead, at one call each, or null`;
  if (TEXTS.has(answer) && kind !== 'status' && kind !== 'content')
    return 'messages and hints of problems lose their text';
  if (effect === 'drift' && loses === undefined) return `${feeds(answer)} fail with UPSTREAM_DRIFT`;
  if (effect !== undefined) return EFFECTS[effect](fieldOf(answer, path));
  if (kind === 'status' || kind === 'content' || path.startsWith('request.'))
    return `${feeds(answer)} fail with errors`;
  if (loses === undefined) return `${feeds(answer)} fail with UPSTREAM_DRIFT`;
  return `${fieldOf(answer, loses)} is null or incomplete`;
}
