// The shapes of every answer of the service, each wire name spelled once. Read liberally: what the
// spec does not promise is optional, unknown keys are left alone, and no state word is refused.
import * as z from 'zod';
import { errorText } from './errors.ts';
import { boundedList, boundedMap, numberList } from './json/bounded-schemas.ts';
import { isFields } from './json/is-fields.ts';
import { hasPlainFields, hasPlainMembers, orMissing, withTest } from './json/plain-values.ts';
import {
  accession,
  count,
  featureIndex,
  featuresWith,
  hash,
  id,
  isCount,
  isFeatureIndex,
  isShare,
  isTrimmedName,
  lifetimeSeconds,
  maybe,
  maybeAccession,
  maybeCount,
  maybeFilled,
  maybeHash,
  maybeId,
  maybeName,
  meanPlddt,
  name,
  normalizeState,
  number,
  outside,
  percentage,
  residuesPlddt,
  sequence,
  share,
  state,
  text,
} from './wire-values.ts';

// ------------------------------------------------------------------ Batch API

export const submitted = z.object({
  message: maybe(text),
  batch_id: id,
  total_items: maybe(count),
  task_id: maybeId,
  expires_at: maybe(text),
  results_expire_at: maybe(text),
});
export type Submitted = z.output<typeof submitted>;

const UNKNOWN_FORM = 'The task failed; the upstream gave its reason in a form that is not known.';

export interface TaskErrorRecord {
  readonly code: string | undefined;
  readonly message: string;
  /** As it came. */
  readonly raw: unknown;
}

/**
 * `data.error` of a task: an object, or a plain sentence. The spec shows no field of it, so that
 * its reason may stand deeper or under other names. An empty one is none.
 */
const taskError = z
  .custom<NonNullable<unknown>>((raw) => raw != null)
  .transform((raw): TaskErrorRecord | undefined => {
    if (typeof raw === 'string')
      return raw.trim() === '' ? undefined : { code: undefined, message: raw, raw };
    if (!isFields(raw)) return { code: undefined, message: UNKNOWN_FORM, raw };
    if (Object.keys(raw).length === 0) return undefined;
    const { code } = raw;
    const isCode = typeof code === 'string' || typeof code === 'number';
    return { code: isCode ? String(code) : undefined, message: errorText(raw) ?? UNKNOWN_FORM, raw };
  });

export const listItem = z.object({
  task_id: id,
  batch_id: maybe(text),
  status: state,
  response: z.unknown().optional(),
  response_available: maybe(z.boolean()),
  error: maybe(taskError),
});
export type ListItem = z.output<typeof listItem>;

/** Counts under the contract's words; two spellings of one state are added up. */
function countsByState(counts: Readonly<Record<string, number>>): Record<string, number> {
  const byState = new Map<string, number>();
  for (const [word, items] of Object.entries(counts)) {
    const name = normalizeState(word);
    byState.set(name, (byState.get(name) ?? 0) + items);
  }
  return Object.fromEntries(byState);
}

/** The largest batch has so many tasks, should a service not page. */
const MAX_ITEMS = 2000;
/** States, under any words. */
const MAX_STATES = 100;
/** Whether a batch can have so many tasks. */
const isPossible = (counts: Readonly<Record<string, number>>): boolean =>
  Object.values(counts).reduce((sum, items) => sum + items, 0) <= MAX_ITEMS;

export const batchPage = z.object({
  batch_id: maybeId,
  status: state,
  counts: boundedMap(count, MAX_STATES)
    .transform(countsByState)
    .refine(isPossible, `expected at most ${MAX_ITEMS} tasks in a batch`),
  items: maybe(boundedList(listItem, MAX_ITEMS)),
  cursor: maybe(text),
  expires_at: maybe(text),
  results_expire_at: maybe(text),
  created_at: maybe(text),
});
export type BatchPage = z.output<typeof batchPage>;

/** The same with raw items, which are read one by one. */
export const itemPage = batchPage.extend({
  items: boundedList(z.unknown(), MAX_ITEMS),
  cursor: text.nullish(),
});

/** Signed URLs of further outputs, by name. */
export const artifacts = boundedMap(text, 1000);

export const taskStatus = z.object({
  status: state,
  task_id: maybe(text),
  response: z.unknown().optional(),
  /** {@link artifacts}; the resolver reads them. */
  artifacts: z.unknown().optional(),
  artifacts_expire_in: maybe(lifetimeSeconds),
  error: maybe(taskError),
  expires_at: maybe(text),
  results_expire_at: maybe(text),
});
export type TaskStatus = z.output<typeof taskStatus>;

/** The spec shows no body of Cancel: an empty one or a list of tasks says what its status says. */
export const cancelled = z
  .object({
    message: maybe(text),
    batch_id: maybe(text),
    task_id: maybe(text),
    cancelled: maybe(count),
  })
  .catch({});
export type CancelAnswer = z.output<typeof cancelled>;

// ------------------------------------------------------------------ Atlas API

export const catalogueEntry = z.object({
  feature_index: featureIndex,
  /** The service sends null where it found no label; a missing one is drift. */
  label: name.nullable(),
  description: maybeName,
});
export type CatalogueEntry = z.output<typeof catalogueEntry>;

/** There are 16,384 features. */
const MAX_FEATURES = 20_000;
/** Regions of one feature, proteins at one feature, and annotations of one cluster. */
const MAX_DETAILS = 10_000;

const unreadRows = boundedList(z.unknown(), MAX_FEATURES);
/** `{data: [...]}`, or the bare array; the rows are read by {@link catalogueRows}. */
export const catalogue = z.union([unreadRows, z.object({ data: unreadRows }).transform((o) => o.data)]);
export const catalogueRows = boundedList(catalogueEntry, MAX_FEATURES);

export const featureDetail = z.object({
  feature_index: featureIndex,
  label: maybeName,
  summary: maybeName,
  description: maybeName,
  activation_pattern: maybeName,
  category: maybeName,
  exemplar_protein_families: maybeName,
  uniref90_frequency: maybe(number),
  uniref90_idf: maybe(number),
  uniref90_max_activation: maybe(number),
  top_100_uniref_ids: maybe(boundedList(z.object({ uniref_id: accession, activation: number }), MAX_DETAILS)),
  top_swissprot_activations: maybe(
    boundedList(z.object({ uniprot_id: accession, activation: number }), MAX_DETAILS),
  ),
  decoder_nearest_neighbors: maybe(
    numberList(isFeatureIndex, MAX_FEATURES).refine((list) => new Set(list).size === list.length),
  ),
  threshold: maybe(number),
});
export type FeatureDetail = z.output<typeof featureDetail>;

const region = z.object({
  start: count,
  end: count,
  peak_residue: count,
  mean_activation: maybe(number),
});

export const featureValue = z.object({
  feature_index: featureIndex,
  value: number,
  label: maybeName,
  description: maybeName,
  residue_regions: maybe(boundedList(region, MAX_DETAILS)),
});
export type FeatureValue = z.output<typeof featureValue>;

const featureValues = featuresWith(featureValue);

/** Whether a value is a feature without regions: this takes a tenth of the time of the schema. */
export const isPlainFeature = (value: unknown): value is FeatureValue =>
  typeof value === 'object' &&
  value !== null &&
  'feature_index' in value &&
  isFeatureIndex(value.feature_index) &&
  'value' in value &&
  Number.isFinite(value.value) &&
  !('residue_regions' in value) &&
  (!('label' in value) || isTrimmedName(value.label)) &&
  (!('description' in value) || isTrimmedName(value.description));

export const proteinRecord = z.object({
  protein_hash: hash,
  accession: maybeAccession,
  source: maybeName,
  header: maybeName,
  protein_name: maybeName,
  sequence: maybe(sequence),
  sequence_length: maybe(count),
  ptm: share,
  mean_plddt: meanPlddt,
  residues_plddt: residuesPlddt,
  pdb: maybe(text),
  folded_on_demand: maybe(z.boolean()),
  cluster_rep_protein_hash: maybeHash,
  /** Another type is drift: an empty list would say that nothing is active. */
  sae_features: featureValues.nullish(),
});
export type WireRecord = z.output<typeof proteinRecord>;

const pfamDomain = z.object({ name: maybeName, count: maybeCount });
const pfamDomains = boundedMap(
  z.union([pfamDomain, count.transform((n) => ({ name: undefined, count: n }))]),
  MAX_DETAILS,
);
const taxonomy = z.object({ rank: maybeName, name: maybeName });

/** A cluster in the bulk archive: a part of the cluster record, whichever keys it has. */
export const clusterInfo = z.object({
  cluster_size: maybeCount,
  cluster_pct_characterized: percentage,
  cluster_mean_domain_coverage: share,
  cluster_top_pfam_domains: withTest(
    maybe(pfamDomains),
    orMissing(hasPlainMembers(hasPlainFields(pfamDomain.shape), MAX_DETAILS)),
  ),
  protein_name: maybeName,
  source: maybeName,
  accession: maybeAccession,
  cluster_taxonomy_info: withTest(maybe(taxonomy), orMissing(hasPlainFields(taxonomy.shape))),
  top_phyla: withTest(
    maybe(boundedMap(count, MAX_DETAILS)),
    orMissing(hasPlainMembers(isCount, MAX_DETAILS)),
  ),
  mean_plddt: meanPlddt,
  ptm: share,
});
export type ClusterInfo = z.output<typeof clusterInfo>;

/** As many as the largest answer can hold; 8,431 were seen. */
const MAX_CLUSTER_MEMBERS = 500_000;

export const clusterRecord = clusterInfo.extend({
  protein_hash: hash,
  member_protein_hashes: boundedList(hash, MAX_CLUSTER_MEMBERS),
  cluster_representative_features: maybe(featureValues),
});
export type ClusterRecord = z.output<typeof clusterRecord>;

export const uniprotRecord = z.object({
  accession: maybeAccession,
  entry_name: maybeName,
  protein_name: maybeName,
  gene: maybeName,
  organism: maybeName,
  function: maybeName,
  sequence: maybeFilled(sequence),
  sequence_length: maybe(count),
  protein_hash: maybeHash,
});
export type UniprotRecord = z.output<typeof uniprotRecord>;

export const similarProtein = z.object({
  protein_hash: hash,
  protein_accession: maybeAccession,
  sequence_length: maybe(count),
  similarity_score: number.refine(isShare, outside(0, 1)),
  ptm: share,
  mean_plddt: meanPlddt,
  residues_plddt: residuesPlddt,
  pdb: maybe(text),
  cluster_size: maybe(count),
  protein_name: maybeName,
});
export type SimilarProtein = z.output<typeof similarProtein>;

/** A search asks for 100 at most; a service may send more. */
const MAX_SIMILAR = 1000;

export const similarityAnswer = z.object({
  query_sequence: maybe(text),
  protein_hash: maybeHash,
  restricted_count: maybe(count),
  similar_proteins: boundedList(similarProtein, MAX_SIMILAR, 0, (hit) => hit.protein_hash),
  top_features_across_results: maybe(
    boundedList(
      z.object({
        feature_index: featureIndex,
        occurrence_count: count,
        min_activation: maybe(number),
        max_activation: maybe(number),
        mean_activation: maybe(number),
      }),
      MAX_FEATURES,
      0,
      (feature) => feature.feature_index,
    ),
  ),
});
export type SimilarityAnswer = z.output<typeof similarityAnswer>;

export const bulkJob = z.object({
  status: maybe(state),
  job_id: maybeId,
  poll_url: maybe(text),
  completed_count: maybe(count),
  total_count: maybe(count),
  download_url: maybe(text),
  expires_at: maybe(text),
});
export type BulkJob = z.output<typeof bulkJob>;
