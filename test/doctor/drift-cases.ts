// Drifts with consequences, by what they do to an answer on its way: the doctor has to notice each, and what it says of
// each is what the gateway then does.
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import type { runChecks } from '../../src/contract/checks/run-checks.ts';
import { type Change, inJson, renamedKey } from './proxy.ts';

const MODEL = 'foldmodel2-2026-05-cutoff-2025';

const PROTEIN = /\/proteins\/[0-9a-f]{32}\?/;
const CLUSTER = /\/clusters\//;
const UNIPROT = /\/uniprot\/P/;
const SEARCH = /similarity-search/;
const FEATURE = /\/features\/7$/;
const CATALOGUE = /\/features$/;
const LIST = /\/batch\/list$/;
export const STATUS = /\/batch\/status$/;
export const SUBMIT = /\/batch\/submit$/;
export const CANCEL = /\/batch\/cancel$/;
export const JOB = /\/batch\/jobs\//;
const RESULT = /\/results?\//;

/** Edits the objects of an answer that have a key. */
const edit = (paths: RegExp, key: string, change: (value: unknown) => unknown): Change =>
  inJson(paths, (fields) => {
    if (Object.hasOwn(fields, key)) fields[key] = change(fields[key]);
  });
const scaled = (factor: number) => (value: unknown) => {
  if (Array.isArray(value)) return value.map((one) => (typeof one === 'number' ? one * factor : one));
  return typeof value === 'number' ? value * factor : value;
};
const shortened = (value: unknown) => (Array.isArray(value) ? value.slice(0, -1) : value);
const halved = (value: unknown) => (Array.isArray(value) ? value.slice(0, value.length >> 1) : value);
const reversed = (value: unknown) => (Array.isArray(value) ? value.toReversed() : value);
/** Those that are equal keep their order. */
const weakestFirst = (value: unknown) =>
  Array.isArray(value) ? value.toSorted((a, b) => a.activation - b.activation) : value;

/** Edits a file of every bulk archive. */
const inArchive =
  (name: RegExp, change: (text: string) => string): Change =>
  (answer) => {
    if (answer.body.subarray(0, 2).toString() !== 'PK') return;
    const files = Object.entries(unzipSync(answer.body)).map(
      ([file, bytes]) => [file, name.test(file) ? strToU8(change(strFromU8(bytes))) : bytes] as const,
    );
    answer.body = Buffer.from(zipSync(Object.fromEntries(files)));
  };

/** One drift. */
export interface Drifted {
  readonly change: Change;
  /** Answer and path of one of the findings. */
  readonly found: string;
  /** What has to be asked for to see it. */
  readonly options?: Partial<Parameters<typeof runChecks>[1]>;
}

export const FOLD = { submit: { model: MODEL } };

/** Drifts of the Atlas, and of what is asked for without spending. */
export const FREE: Readonly<Record<string, Drifted>> = {
  'a sequence that is not that of the hash': {
    change: edit(PROTEIN, 'sequence', () => 'MQIFVKTLTG'.repeat(11)),
    found: 'protein sequence',
  },
  'a length that is not that of the sequence': {
    change: edit(PROTEIN, 'sequence_length', scaled(2)),
    found: 'protein sequence_length',
  },
  'pLDDT of 0 to 100': {
    change: edit(PROTEIN, 'residues_plddt', scaled(100)),
    found: 'protein residues_plddt[]',
  },
  'pLDDT above 100': {
    change: edit(PROTEIN, 'residues_plddt', scaled(1000)),
    found: 'protein residues_plddt[]',
  },
  'a mean pLDDT of 0 to 100': {
    change: edit(PROTEIN, 'mean_plddt', scaled(100)),
    found: 'protein mean_plddt',
  },
  'a pTM of 0 to 100': { change: edit(PROTEIN, 'ptm', scaled(100)), found: 'protein ptm' },
  'a pLDDT too few': { change: edit(PROTEIN, 'residues_plddt', shortened), found: 'protein residues_plddt' },
  'a structure without its last residues': {
    change: edit(PROTEIN, 'pdb', (pdb) => String(pdb).split('\n').slice(0, 40).join('\n')),
    found: 'protein pdb',
  },
  'B-factors of 0 to 100': {
    change: edit(PROTEIN, 'pdb', (pdb) => String(pdb).replace(/(^ATOM.{56}) {2}0\.(\d\d)/gm, '$1 $2.00')),
    found: 'protein pdb',
  },
  'features in another order': {
    change: edit(PROTEIN, 'sae_features', reversed),
    found: 'protein sae_features',
  },
  'no features': { change: edit(PROTEIN, 'sae_features', () => []), found: 'protein sae_features' },
  'features outside the catalogue': {
    change: edit(PROTEIN, 'feature_index', (index) => Number(index) + 20_000),
    found: 'protein sae_features[].feature_index',
  },
  'regions that end before they start': {
    change: edit(PROTEIN, 'end', (end) => Number(end) - 100),
    found: 'protein sae_features[].residue_regions[].end',
  },
  'activations without a part of their values': {
    change: edit(PROTEIN, 'values', shortened),
    found: 'protein per_residue_activations.indices',
  },
  'another protein': {
    change: edit(PROTEIN, 'protein_hash', () => 'f'.repeat(32)),
    found: 'protein protein_hash',
  },
  'a member too few': {
    change: edit(CLUSTER, 'member_protein_hashes', shortened),
    found: 'cluster member_protein_hashes',
  },
  'features of a cluster outside the catalogue': {
    change: edit(CLUSTER, 'feature_index', (index) => Number(index) + 20_000),
    found: 'cluster cluster_representative_features[].feature_index',
  },
  'a page of members': {
    change: edit(CLUSTER, 'member_protein_hashes', (all) => (Array.isArray(all) ? all.slice(0, 2) : all)),
    found: 'cluster member_protein_hashes',
  },
  'a share of 0 to 1': {
    change: edit(CLUSTER, 'cluster_pct_characterized', scaled(0.01)),
    found: 'cluster cluster_pct_characterized',
  },
  'a coverage of 0 to 100': {
    change: edit(CLUSTER, 'cluster_mean_domain_coverage', scaled(100)),
    found: 'cluster cluster_mean_domain_coverage',
  },
  'domains by their names': {
    change: edit(CLUSTER, 'cluster_top_pfam_domains', () => ({ Insulin: { name: 'Insulin', count: 3 } })),
    found: 'cluster cluster_top_pfam_domains',
  },
  'no representative features': {
    change: edit(CLUSTER, 'cluster_representative_features', () => []),
    found: 'cluster cluster_representative_features',
  },
  'a catalogue of a page': {
    change: edit(CATALOGUE, 'data', (rows) => (Array.isArray(rows) ? rows.slice(0, 100) : rows)),
    found: 'features ',
    options: { light: false },
  },
  'a catalogue with a row twice': {
    change: edit(CATALOGUE, 'data', (rows) => (Array.isArray(rows) ? [rows[0], ...rows.slice(0, -1)] : rows)),
    found: 'features ',
    options: { light: false },
  },
  'another feature': { change: edit(FEATURE, 'feature_index', () => 8), found: 'feature feature_index' },
  'no neighbours': {
    change: edit(FEATURE, 'decoder_nearest_neighbors', () => []),
    found: 'feature decoder_nearest_neighbors',
  },
  'exemplars in another order': {
    change: edit(FEATURE, 'top_100_uniref_ids', weakestFirst),
    found: 'feature top_100_uniref_ids[].activation',
  },
  'another entry': { change: edit(UNIPROT, 'accession', () => 'P69905'), found: 'uniprot accession' },
  'a hash that is not that of the sequence': {
    change: edit(UNIPROT, 'protein_hash', () => 'f'.repeat(32)),
    found: 'uniprot protein_hash',
  },
  'similarity of 0 to 100': {
    change: edit(SEARCH, 'similarity_score', scaled(100)),
    found: 'similarity similar_proteins[].similarity_score',
  },
  'hits in another order': {
    change: edit(SEARCH, 'similar_proteins', reversed),
    found: 'similarity similar_proteins[].similarity_score',
  },
  'hits below the least similarity': {
    change: (answer, { path }) => {
      if (!path.includes('min_similarity')) return;
      edit(SEARCH, 'similarity_score', scaled(0.1))(answer, { path, method: 'GET', body: '' });
    },
    found: 'similarity similar_proteins',
  },
  'an empty thumbnail': {
    change: (answer, { path }) => {
      if (path.includes('/thumbnail/')) answer.body = Buffer.alloc(0);
    },
    found: 'thumbnail body',
  },
  'half a thumbnail': {
    change: (answer, { path }) => {
      if (path.includes('/thumbnail/')) answer.body = answer.body.subarray(0, answer.body.length >> 1);
    },
    found: 'thumbnail body',
  },
  'an archive without the sequence of a protein that exists': {
    change: inArchive(/^sequences\.fasta$/, () => ''),
    found: 'archive sequences.fasta',
  },
  'an archive with another sequence': {
    change: inArchive(/^sequences\.fasta$/, (text) => text.replace(/\n[A-Z]/, '\nW')),
    found: 'archive sequences.fasta',
  },
  'an archive with structures without scores': {
    change: inArchive(/^structures\//, (text) => text.replace(/^REMARK.*\n/gm, '')),
    found: 'archive structures',
  },
  'an archive with activations of another shape': {
    change: inArchive(/^features\.json$/, (text) => text.replaceAll('16384', '32768')),
    found: 'bulkFeatures *.protein_level.shape',
  },
  'an archive with clusters of shares of 0 to 1': {
    change: inArchive(/^cluster_info\.json$/, (text) =>
      text.replace(/("cluster_pct_characterized":)[\d.]+/g, '$10.004'),
    ),
    found: 'clusterInfo clusters.*.cluster_pct_characterized',
  },
};

/** Drifts of what only the rich dialect sends. */
export const RICH: Readonly<Record<string, Drifted>> = {
  'an archive with features outside the catalogue': {
    change: inArchive(/^features\.json$/, (text) =>
      text.replace(
        /("feature_index":\s*)(\d+)/g,
        (_, key: string, index: string) => `${key}${Number(index) + 20_000}`,
      ),
    ),
    found: 'bulkFeatures *.top_features[].feature_index',
  },
};

/** Drifts that only a job or a fold shows. */
export const SPENT: Readonly<Record<string, Drifted>> = {
  'a job that never gets an address': {
    change: inJson(JOB, (fields) => {
      delete fields.download_url;
    }),
    found: 'bulkJob download_url',
    options: { job: true },
  },
  'another number of items': {
    change: edit(SUBMIT, 'total_items', scaled(2)),
    found: 'submit data.total_items',
  },
  'no task id for one item': {
    change: inJson(SUBMIT, (fields) => {
      delete fields.task_id;
    }),
    found: 'submit data.task_id',
  },
  'renamed items': { change: renamedKey(LIST, 'items', 'tasks'), found: 'list data.items' },
  'no items': { change: edit(LIST, 'items', () => []), found: 'list data.items' },
  'a renamed cursor': { change: renamedKey(LIST, 'cursor', 'next'), found: 'list data.cursor' },
  'counts that are not of all': {
    change: edit(LIST, 'counts', () => ({ done: 7 })),
    found: 'list data.counts',
  },
  'times that are none': {
    change: edit(LIST, 'expires_at', () => 'tomorrow'),
    found: 'list data.expires_at',
  },
  'a renamed response': { change: renamedKey(STATUS, 'response', 'output'), found: 'status data.response' },
  'a done task without a response': {
    change: edit(STATUS, 'response', () => null),
    found: 'status data.response',
  },
  'a renamed PAE': { change: renamedKey(RESULT, 'pae', 'predicted_aligned_error'), found: 'result pae' },
  'a PAE of another size': { change: edit(RESULT, 'pae', shortened), found: 'result pae' },
  'a pTM of a fold of 0 to 100': { change: edit(RESULT, 'ptm', scaled(100)), found: 'result ptm' },
  'ipTM of pairs of 0 to 100': {
    change: edit(RESULT, 'pair_chains_iptm', () => [[80]]),
    found: 'result pair_chains_iptm[][]',
  },
  'pLDDT of a fold of 0 to 100': { change: edit(RESULT, 'plddt', scaled(100)), found: 'result plddt[]' },
  'atoms that are not named': {
    change: edit(RESULT, 'atom_names', halved),
    found: 'result complex.atom_positions',
  },
};
