// Translates a difference in an upstream answer to its effect on GraphQL queries.
import { toCamelCase } from '../upstream/renames.ts';
import type { Drift } from './compare.ts';
import type { Effect } from './rules.ts';

/** The GraphQL fields that an answer supplies. */
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

/**
 * The GraphQL fields of wire keys.
 *
 * @param keys - each alone where its field has the same name in camel case, else as `key:field`
 */
const fieldsOf = (type: string, ...keys: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    keys
      .flatMap((words) => words.split(' '))
      .map((word) => {
        const [key = '', field = toCamelCase(key)] = word.split(':');
        return [key, field.includes('.') ? field : `${type}.${field}`];
      }),
  );

/** The GraphQL field of each optional key, by answer. */
export const FIELD_BY_WIRE_KEY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  features: fieldsOf('Feature', 'description'),
  feature: fieldsOf(
    'Feature',
    'feature_index:summary label summary description activation_pattern category exemplar_protein_families',
    'uniref90_frequency:uniref90 uniref90_idf:uniref90 uniref90_max_activation:uniref90 threshold',
    'top_100_uniref_ids:topProteins top_swissprot_activations:topProteins',
    'decoder_nearest_neighbors:nearestNeighbors',
  ),
  protein: fieldsOf(
    'Protein',
    'accession source header protein_name:name sequence sequence_length:length ptm mean_plddt:plddt',
    'residues_plddt:plddt pdb:structure folded_on_demand cluster_rep_protein_hash:cluster',
    'sae_features:features protein_activations:features per_residue_activations:features',
  ),
  cluster: fieldsOf(
    'Cluster',
    'member_protein_hashes:members cluster_size:size cluster_pct_characterized:percentCharacterized',
    'cluster_mean_domain_coverage:meanDomainCoverage cluster_top_pfam_domains:pfamDomains',
    'protein_name:name source accession cluster_taxonomy_info:taxonomy top_phyla:phyla mean_plddt ptm',
    'cluster_representative_features:features',
  ),
  uniprot: fieldsOf(
    'UniprotEntry',
    'accession entry_name protein_name:name gene organism function sequence sequence_length:length',
    'protein_hash:protein',
  ),
  similarity: fieldsOf(
    'SimilaritySearch',
    'query_sequence:queryHash protein_hash:queryProtein restricted_count similar_proteins:hits',
    'top_features_across_results:sharedFeatures',
  ),
  thumbnail: fieldsOf('Protein', 'body:thumbnail'),
  archive: fieldsOf('Protein', 'structures:structure sequences.fasta:sequence'),
  bulkFeatures: fieldsOf('Protein', 'protein_level:features per_residue:features top_features:features'),
  bulkJob: fieldsOf(
    'BulkLookupPart',
    'status:state job_id poll_url:state completed_count total_count:requestedCount download_url:url expires_at',
  ),
  list: fieldsOf(
    'Batch',
    'status:state counts batch_id items[].status:Task.state items:tasks cursor:tasks',
    'expires_at:queueDeadline results_expire_at created_at:submittedAt warning_messages:warnings',
  ),
  status: fieldsOf(
    'Task',
    'status:state response:result artifacts artifacts_expire_in:Artifact.expiresAt error',
    'expires_at:queueDeadline results_expire_at warning_messages:warnings',
  ),
  result: fieldsOf(
    'FoldResult',
    'complex:structure plddt ptm interface_ptm:iptm pae pair_chains_iptm:chainPairs',
    'output_embedding_sequence:embeddings output_embedding_pair_pooled:embeddings residue_index:raw',
    'entity_id:raw model created:raw tokens_used:raw warning_messages:warnings',
  ),
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
