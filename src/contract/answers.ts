// The contract of each operation beyond what its reader requires: the shape with every known key,
// the words of its states, and the GraphQL fields that it feeds.
import { z } from 'zod';
import * as wire from '../upstream/wire.ts';
import { maybe } from '../upstream/wire-values.ts';
import { ATLAS_RULES } from './atlas-rules.ts';
import { BATCH_RULES } from './batch-rules.ts';
import type { Promised } from './compare.ts';

const text = z.string();
const list = z.array(z.unknown());
/** Another type is drift, as another scale is. */
const score = z.number();

const TASK_STATES = ['queued', 'in_progress', 'done', 'failed', 'cancelled'];
const BATCH_STATES = ['in_progress', 'done', 'failed', 'cancelled'];
const JOB_STATES = ['pending', 'completed', 'complete', 'cancelled', 'failed', 'expired'];

/** Sparse activations; activations.ts and archive/bulk-record.ts read them. */
const sparse = z.object({ indices: maybe(list), values: maybe(list), shape: maybe(list) });

const envelope = <S extends z.ZodType>(data: S) =>
  z.object({
    status: maybe(text),
    data,
    request_id: maybe(text),
    warning_messages: maybe(z.array(text)),
  });

/** Envelope keys that often are not there. */
const BESIDE = ['warning_messages', 'data.warning_messages'];

const promised = {
  features: {
    rules: ATLAS_RULES.features,
    schema: z.union([wire.catalogueRows, z.object({ data: wire.catalogueRows })]),
  },
  feature: {
    rules: ATLAS_RULES.feature,
    lost: {
      decoder_nearest_neighbors: 'drift',
      top_100_uniref_ids: 'drift',
      top_swissprot_activations: 'drift',
    },
    schema: wire.featureDetail,
  },
  protein: {
    rules: ATLAS_RULES.protein,
    lost: {
      sae_features: 'drift',
      sequence: 'none',
      sequence_length: 'none',
      protein_activations: 'none',
      per_residue_activations: 'elsewhere',
      pdb: 'elsewhere',
      ptm: 'elsewhere',
      mean_plddt: 'elsewhere',
      residues_plddt: 'elsewhere',
    },
    schema: wire.proteinRecord.extend({
      protein_activations: maybe(sparse),
      per_residue_activations: maybe(sparse),
    }),
    // Names come with clusters; the header only with some sources.
    rare: ['protein_name', 'header'],
  },
  cluster: {
    rules: ATLAS_RULES.cluster,
    lost: {
      cluster_top_pfam_domains: 'drift',
      top_phyla: 'drift',
      cluster_representative_features: 'drift',
    },
    schema: wire.clusterRecord,
  },
  uniprot: {
    rules: ATLAS_RULES.uniprot,
    lost: { sequence_length: 'none', protein_hash: 'none' },
    schema: wire.uniprotRecord,
    rare: ['sequence_length', 'gene', 'entry_name'],
  },
  similarity: {
    rules: ATLAS_RULES.similarity,
    lost: { query_sequence: 'none', restricted_count: 'drift', top_features_across_results: 'drift' },
    schema: wire.similarityAnswer,
    rare: ['protein_hash', 'similar_proteins[].cluster_size', 'similar_proteins[].protein_name'],
  },
  bulkJob: {
    rules: ATLAS_RULES.bulkJob,
    schema: wire.bulkJob,
    rare: ['poll_url', 'completed_count', 'total_count', 'download_url', 'job_id', 'status', 'expires_at'],
    words: { status: JOB_STATES },
  },
  clusterInfo: {
    rules: ATLAS_RULES.clusterInfo,
    schema: z.object({
      clusters: z.record(text, wire.clusterInfo.extend({ protein_hash: maybe(text) })),
      proteins: maybe(z.record(text, text)),
    }),
    // The archive tells what it has; the records of the cluster and of its members have the rest.
    rare: ['protein_hash', 'source', 'accession', 'cluster_taxonomy_info', 'top_phyla', 'mean_plddt', 'ptm']
      .map((key) => `clusters.*.${key}`)
      .concat('proteins'),
  },
  bulkFeatures: {
    rules: ATLAS_RULES.bulkFeatures,
    schema: z.record(
      text,
      z.object({
        protein_level: maybe(sparse),
        per_residue: maybe(sparse),
        top_features: maybe(z.array(wire.featureValue)),
      }),
    ),
    rare: ['*.top_features', '*.top_features[].residue_regions', '*.top_features[].description'],
  },
  submit: {
    rules: BATCH_RULES.submit,
    schema: envelope(wire.submitted),
    rare: [...BESIDE, 'data.task_id', 'data.expires_at', 'data.results_expire_at'],
  },
  list: {
    rules: BATCH_RULES.list,
    lost: { 'data.items': 'drift', 'data.cursor': 'drift', 'data.batch_id': 'none' },
    schema: envelope(wire.batchPage),
    rare: [
      ...BESIDE,
      'data.batch_id',
      'data.created_at',
      ...['response', 'response_available', 'error'].map((key) => `data.items[].${key}`),
    ],
    words: { 'data.status': BATCH_STATES, 'data.items[].status': TASK_STATES },
  },
  status: {
    rules: BATCH_RULES.status,
    lost: { 'data.response': 'drift' },
    schema: envelope(wire.taskStatus.extend({ artifacts: wire.artifacts.nullish() })),
    rare: [
      ...BESIDE,
      ...['response', 'artifacts', 'artifacts_expire_in', 'error'].map((key) => `data.${key}`),
    ],
    words: { 'data.status': TASK_STATES },
  },
  cancel: {
    rules: BATCH_RULES.cancel,
    // The states before and after tell, at one call more or two.
    lost: { 'data.cancelled': 'elsewhere' },
    schema: envelope(wire.cancelled),
    rare: [...BESIDE, 'data.message', 'data.cancelled', 'data.batch_id', 'data.task_id'],
  },
  batchError: {
    schema: z.object({ status: maybe(text), message: text, request_id: maybe(text) }),
    words: { status: ['error'] },
  },
  atlasError: { schema: z.object({ detail: z.union([text, z.array(z.unknown())]) }) },
  validationError: {
    schema: z.object({
      detail: z.array(
        z.object({
          loc: z.array(z.union([text, z.number()])),
          msg: text,
          type: text,
          input: z.unknown().optional(),
          ctx: z.unknown().optional(),
        }),
      ),
    }),
    rare: ['detail[].input', 'detail[].ctx'],
  },
  /** The folding result behind a finished task. */
  result: {
    rules: BATCH_RULES.result,
    schema: z.object({
      complex: maybe(
        z.object({
          id: maybe(text),
          sequence: z.array(text),
          atom_positions: z.array(z.array(z.number())),
          atom_elements: z.array(text),
          atom_names: z.array(text),
          atom_hetero: maybe(z.array(z.boolean())),
          token_to_atoms: z.array(z.array(z.int())),
          chain_id: z.array(z.union([z.int(), text])),
          plddt: maybe(z.array(z.number().nullable())),
          metadata: maybe(
            z.object({
              entity_lookup: maybe(z.record(text, z.unknown())),
              chain_lookup: maybe(z.record(text, text)),
              assembly_composition: z.unknown().optional(),
            }),
          ),
        }),
      ),
      plddt: maybe(z.array(z.number().nullable())),
      ptm: score.nullish(),
      interface_ptm: score.nullish(),
      pae: maybe(z.array(z.array(z.number().nullable()))),
      pair_chains_iptm: z.array(z.array(score.nullable())).nullish(),
      output_embedding_sequence: maybe(list),
      output_embedding_pair_pooled: maybe(list),
      residue_index: maybe(list),
      entity_id: maybe(list),
      model: maybe(text),
      created: maybe(text),
      tokens_used: maybe(z.int()),
      warning_messages: maybe(z.array(text)),
    }),
    rare: ['warning_messages'],
  },
} satisfies Record<string, Promised>;

/** Names of what is compared: an operation, or a file within its answer. */
export type AnswerName = keyof typeof promised;

export const PROMISED: Readonly<Record<AnswerName, Promised>> = promised;

export const isAnswerName = (name: string): name is AnswerName => Object.hasOwn(promised, name);
