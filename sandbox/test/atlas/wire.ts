// The answers of the Atlas as the wire contract has them, strict: a key too many is as wrong as one
// too few.
import { z } from 'zod';

const hash = z.string().regex(/^[0-9a-f]{32}$/);
const unit = z.number().min(0).max(1);
const index = z.int().min(0).max(16383);
const region = z.strictObject({
  start: z.int(),
  end: z.int(),
  peak_residue: z.int(),
  mean_activation: z.number(),
});
const entry = z.strictObject({
  feature_index: index,
  value: z.number().min(0),
  label: z.string(),
  description: z.string(),
  residue_regions: z.array(region),
});
const proteinLevel = z.strictObject({
  shape: z.tuple([z.literal(16384)]),
  indices: z.tuple([z.array(index)]),
  values: z.array(z.number()),
});
const perResidue = z.strictObject({
  shape: z.tuple([z.int(), z.literal(16384)]),
  indices: z.tuple([z.array(z.int()), z.array(index)]),
  values: z.array(z.number()),
});

export const catalogue = z.strictObject({
  data: z.array(z.strictObject({ feature_index: index, label: z.string(), description: z.string() })),
});

export const feature = z.strictObject({
  feature_index: index,
  label: z.string(),
  summary: z.string(),
  description: z.string(),
  activation_pattern: z.string(),
  category: z.string(),
  exemplar_protein_families: z.string(),
  uniref90_frequency: z.int(),
  uniref90_idf: z.number(),
  uniref90_max_activation: z.number(),
  top_100_uniref_ids: z
    .array(z.strictObject({ uniref_id: z.string().startsWith('UniRef90_'), activation: z.number() }))
    .max(100),
  top_swissprot_activations: z.array(z.strictObject({ uniprot_id: z.string(), activation: z.number() })),
  decoder_nearest_neighbors: z.array(index),
  threshold: z.number(),
});

export const protein = z.strictObject({
  protein_hash: hash,
  accession: z.string(),
  source: z.enum(['uniprotkb', 'uniparc', 'img_m', 'mgy', 'spire', 'user']),
  header: z.string(),
  sequence: z.string(),
  sequence_length: z.int(),
  ptm: unit.nullable(),
  mean_plddt: unit.nullable(),
  residues_plddt: z.array(unit).nullable(),
  pdb: z.string().nullable(),
  folded_on_demand: z.boolean(),
  cluster_rep_protein_hash: hash.nullable(),
  sae_features: z.array(entry),
  protein_activations: proteinLevel,
  per_residue_activations: perResidue,
});

const clusterFields = {
  protein_hash: hash,
  cluster_size: z.int().min(1),
  cluster_pct_characterized: z.number().min(0).max(100),
  cluster_mean_domain_coverage: unit,
  protein_name: z.string(),
  source: z.string(),
  accession: z.string(),
  cluster_top_pfam_domains: z.record(
    z.string().regex(/^PF\d{5}$/),
    z.strictObject({ name: z.string(), count: z.int() }),
  ),
  cluster_taxonomy_info: z.strictObject({ rank: z.string(), name: z.string() }),
  top_phyla: z.record(z.string(), z.int()),
  mean_plddt: unit.nullable(),
  ptm: unit.nullable(),
};

export const cluster = z.strictObject({
  ...clusterFields,
  member_protein_hashes: z.array(hash),
  cluster_representative_features: z.array(entry),
});

export const clusterInfo = z.strictObject({
  clusters: z.record(hash, z.strictObject(clusterFields)),
  proteins: z.record(hash, hash),
});

export const bulkFeatures = z.record(
  hash,
  z.strictObject({
    protein_level: proteinLevel.optional(),
    per_residue: perResidue.optional(),
    top_features: z.array(z.strictObject({ feature_index: index, value: z.number(), label: z.string() })),
  }),
);

export const uniprot = z.strictObject({
  accession: z.string(),
  entry_name: z.string(),
  protein_name: z.string(),
  gene: z.string().nullable(),
  organism: z.string(),
  function: z.string().nullable(),
  sequence: z.string(),
  sequence_length: z.int(),
  protein_hash: hash,
});

export const similarity = z.strictObject({
  query_sequence: z.string(),
  protein_hash: hash.optional(),
  restricted_count: z.int().min(0),
  similar_proteins: z.array(
    z.strictObject({
      protein_hash: hash,
      protein_accession: z.string(),
      sequence_length: z.int(),
      similarity_score: unit,
      ptm: unit.nullable(),
      mean_plddt: unit.nullable(),
      residues_plddt: z.array(unit).nullable(),
      pdb: z.string().nullable(),
      cluster_size: z.int().nullable().optional(),
      protein_name: z.string().nullable().optional(),
    }),
  ),
  top_features_across_results: z.array(
    z.strictObject({
      feature_index: index,
      occurrence_count: z.int().min(1),
      min_activation: z.number(),
      max_activation: z.number(),
      mean_activation: z.number(),
    }),
  ),
});

export const job = z.strictObject({
  status: z.enum(['pending', 'completed', 'cancelled']),
  job_id: z.string(),
  completed_count: z.int(),
  total_count: z.int(),
  download_url: z.url().optional(),
});

export const jobHandle = z.strictObject({
  status: z.literal('pending'),
  job_id: z.string(),
  poll_url: z.string(),
});

export const validation = z.strictObject({
  detail: z
    .array(
      z.strictObject({
        loc: z.array(z.string()).min(1),
        msg: z.string().min(1),
        type: z.string().min(1),
        input: z.unknown(),
        ctx: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .min(1),
});

export const refusal = z.strictObject({ detail: z.string().min(1) });
