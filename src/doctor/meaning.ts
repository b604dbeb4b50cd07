// What a difference on the wire means for those who ask in GraphQL: which field becomes null, which query fails. It makes no
// call.
import type { Drift } from '../upstream/contract/compare.ts';

/** The places of GraphQL that an answer feeds. */
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

/** Fields of GraphQL by the key on the wire, where their names differ by more than their case. */
const FIELDS: Readonly<Record<string, string>> = {
  protein_hash: 'hash',
  sequence_length: 'length',
  mean_plddt: 'plddt.mean',
  residues_plddt: 'plddt.values',
  pdb: 'structure',
  sae_features: 'features',
  cluster_rep_protein_hash: 'cluster',
  cluster_representative_features: 'representativeFeatures',
  member_protein_hashes: 'members',
  cluster_size: 'size',
  cluster_pct_characterized: 'percentCharacterized',
  cluster_mean_domain_coverage: 'meanDomainCoverage',
  cluster_top_pfam_domains: 'pfamDomains',
  cluster_taxonomy_info: 'taxonomy',
  similarity_score: 'similarity',
  similar_proteins: 'hits',
  feature_index: 'index',
  interface_ptm: 'iptm',
  pair_chains_iptm: 'iptm of each pair of chains',
  complex: 'structure',
};

const camel = (key: string): string => key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A place of an answer in the words of GraphQL, as near as its names tell. */
function fieldOf(path: string): string {
  const steps = path.split('.').map((step) => step.replaceAll('[]', ''));
  return steps
    .filter((step) => step !== '*' && step !== 'data' && step !== '')
    .map((step) => FIELDS[step] ?? camel(step))
    .join('.');
}

/** What stands in GraphQL where an answer cannot be used. */
const feeds = (answer: string): string => FEEDS[answer] ?? 'whatever needs it';

const EMPTIED: Readonly<Record<string, string>> = {
  batchError: 'messages and hints of problems lose their text',
  atlasError: 'messages and hints of problems lose their text',
  validationError: 'messages and hints of problems lose their text',
};

/** What a difference means for GraphQL users, in a sentence without its full stop. */
export function meaningOf(answer: string, { kind, path, loses }: Drift): string {
  if (kind === 'added') return 'nothing is lost; it may be worth a field';
  if (kind === 'word') return `${fieldOf(path)} is UNKNOWN`;
  if (kind === 'prefix') return 'every query over this API fails until the setting is changed';
  if (kind === 'member')
    return `${feeds(answer)}: read from single records instead, at one call each, or null`;
  if (kind === 'status' || kind === 'content' || path.startsWith('request.'))
    return `${feeds(answer)} fail with errors`;
  const emptied = EMPTIED[answer];
  if (emptied !== undefined) return emptied;
  if (loses === undefined) return `${feeds(answer)} fail with UPSTREAM_DRIFT`;
  return `${fieldOf(loses)} is null or empty in ${feeds(answer)}`;
}
