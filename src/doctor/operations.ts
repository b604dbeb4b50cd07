// Every operation of the service that costs nothing, as the doctor calls it, and what is expected of
// the answer. Later calls use ids of earlier answers.
import { z } from 'zod';
import { readBulkArchive } from '../upstream/archive/bulk.ts';
import { isApiError } from '../upstream/errors.ts';
import type { Call, UpstreamSettings } from '../upstream/http/upstream-client.ts';
import * as wire from '../upstream/wire.ts';
import type { Difference } from './strict-reading.ts';

export type FreeCall = Omit<Call, 'repeatable'>;

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** The JSON; undefined for anything else. */
  readonly body: unknown;
  /** The same without its envelope. */
  readonly content: unknown;
}

/** Ids that later calls need. */
export interface Known {
  hash: string;
  cluster: string;
  jobId?: string;
  /** A batch of the caller's own. */
  readonly batchId?: string | undefined;
  cursor?: string;
  taskId?: string;
}

export interface Operation {
  /** Such as `protein`, or `protein, unknown hash`. */
  readonly name: string;
  /** Null where an id that it needs is not known. */
  readonly call: (known: Known, settings: UpstreamSettings) => FreeCall | null;
  /** 200 when absent. */
  readonly statuses?: readonly number[];
  /** Schema of the content of a success. */
  readonly schema?: z.ZodType;
  /** Keys that a service may leave out. */
  readonly optional?: readonly string[];
  /** The setting that bridges a refusal of the input. */
  readonly setting?: string;
  /** Looks further into an answer with an expected status, and keeps the ids that later calls need. */
  readonly examine?: (answer: Answer, known: Known) => readonly Difference[] | Promise<readonly Difference[]>;
}

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const INSULIN_SEQUENCE =
  'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQP' +
  'LALEGSLQKRGIVEQCCTSICSLYQLENYCN';
const UNKNOWN_HASH = '00000000000000000000000000000000';
const UNKNOWN_ID = 'foldatlas-doctor-no-such-id';
const JOB_HASHES = Array.from({ length: 500 }, (_, number) => number.toString(16).padStart(32, '0'));

export const firstKnown = (batchId: string | undefined): Known => ({
  hash: INSULIN,
  cluster: INSULIN,
  batchId,
});

const get = (operation: Call['operation'], path: string, query: Call['query'] = {}): FreeCall => ({
  operation,
  api: 'atlas',
  method: 'GET',
  path,
  query,
});
const record = (hash: string) =>
  get('protein', `/proteins/${hash}`, { topk_features: 3, fold_on_miss: false, normalize_features: true });
const job = (id: string) => get('bulkJob', `/proteins/batch/jobs/${encodeURIComponent(id)}`);
const bulk = (hashes: readonly string[], all: boolean): FreeCall => ({
  operation: 'bulk',
  api: 'atlas',
  method: 'POST',
  path: '/proteins/batch',
  accept: 'application/zip, application/json',
  body: {
    protein_hashes: hashes,
    topk_features: 3,
    include_structure: all,
    include_cluster_info: all,
    include_sequence: true,
    include_features: { protein_level: all, per_residue: all },
  },
});
const post = (operation: 'list' | 'status' | 'cancel', body: object): FreeCall => ({
  operation,
  api: 'batch',
  method: 'POST',
  path: `/${operation}`,
  body,
});

const unless = (isRight: boolean, path: string, expected: string, seen: string, setting?: string) =>
  isRight ? [] : [{ path, expected, seen, setting }];

/** Something that does not exist. A 404 says so only in the words of the API. */
const absent = (name: string, call: FreeCall): Operation => ({
  name,
  call: () => call,
  statuses: [404],
  examine: ({ body }) => unless(isApiError(body), '$', 'an error of the API', 'a bare 404'),
});

const thumbnail = (type: 'plddt' | 'pct-characterized'): Operation => ({
  name: `thumbnail, ${type}`,
  call: ({ hash }, { thumbnailTypes }) => ({
    ...get('thumbnail', `/proteins/${hash}/thumbnail/${encodeURIComponent(thumbnailTypes?.[type] ?? type)}`),
    accept: 'image/png',
  }),
  setting: 'UPSTREAM_THUMBNAILS',
  examine: ({ contentType }) =>
    unless(contentType === 'image/png', 'content-type', 'image/png', contentType || 'none'),
});

/** Examines an archive that was asked for a protein and for one that does not exist. */
async function examineArchive({ bytes }: Answer, { hash }: Known) {
  const parts = await readBulkArchive(bytes, { rows: { top: 1, indices: [] } });
  const expect = (holds: boolean, path: string, expected: string) =>
    unless(holds, path, expected, 'something else');
  return [
    expect(parts.problems.length === 0, 'archive', 'a whole zip that can be read'),
    expect(parts.sequences.has(hash), 'sequences.fasta', 'the protein that exists'),
    expect(!parts.sequences.has(UNKNOWN_HASH), 'sequences.fasta', 'no protein that does not exist'),
    expect(parts.structures.has(hash), 'structures/*.pdb', 'the structure'),
    expect(parts.features.get(hash)?.proteinLevel !== undefined, 'features.json', 'the features'),
    expect(parts.features.get(hash)?.rows !== undefined, 'features.json', 'values by residue'),
    expect(parts.clusters.size > 0, 'cluster_info.json', 'the cluster'),
  ].flat();
}

const isString = (value: unknown): value is string => typeof value === 'string';

export const ATLAS_OPERATIONS: readonly Operation[] = [
  { name: 'features', call: () => get('features', '/features'), schema: wire.catalogueRows },
  { name: 'feature', call: () => get('feature', '/features/7'), schema: wire.featureDetail },
  absent('feature, unknown index', get('feature', '/features/99999999')),
  {
    name: 'similarity',
    call: () =>
      get('similarity', '/similarity-search', {
        ...{ sequence: INSULIN_SEQUENCE, topk_results: 2, topk_features: 3, include_cluster_info: true },
      }),
    schema: wire.similarityAnswer,
    optional: ['protein_hash', 'similar_proteins[].cluster_size', 'similar_proteins[].protein_name'],
    examine({ content }, known) {
      const { protein_hash: own, similar_proteins: hits } = Object(content);
      const { protein_hash: similar } = Object(hits?.[0]);
      // A deployment without insulin has similar proteins.
      if (own !== INSULIN && isString(similar)) Object.assign(known, { hash: similar, cluster: similar });
      return [];
    },
  },
  {
    name: 'protein',
    call: ({ hash }) => record(hash),
    schema: wire.proteinRecord.extend({
      protein_activations: z.unknown(),
      per_residue_activations: z.unknown(),
    }),
    optional: ['accession', 'source', 'header', 'protein_name'],
    examine({ content }, known) {
      const { cluster_rep_protein_hash: cluster } = Object(content);
      if (isString(cluster)) known.cluster = cluster;
      return [];
    },
  },
  absent('protein, unknown hash', record(UNKNOWN_HASH)),
  {
    name: 'cluster',
    call: ({ cluster }) => get('cluster', `/clusters/${cluster}`, { topk_features: 3 }),
    // A protein that names no cluster represents one, or belongs to none.
    statuses: [200, 404],
    schema: wire.clusterRecord,
  },
  thumbnail('plddt'),
  thumbnail('pct-characterized'),
  {
    name: 'uniprot',
    call: () => get('uniprot', '/uniprot/P01308'),
    schema: wire.uniprotRecord,
    optional: ['entry_name', 'sequence_length', 'gene'],
  },
  {
    name: 'uniprot, other namespace',
    call: () => get('uniprot', '/uniprot/ENSG00000139618'),
    statuses: [400],
  },
  { name: 'bulk', call: ({ hash }) => bulk([hash, UNKNOWN_HASH], true), examine: examineArchive },
  {
    name: 'bulk, 500 hashes',
    call: () => bulk(JOB_HASHES, false),
    statuses: [202, 200],
    examine({ content }, known) {
      const { job_id: jobId } = Object(content);
      if (isString(jobId)) known.jobId = jobId;
      return [];
    },
  },
  {
    name: 'job',
    call: ({ jobId }) => (jobId === undefined ? null : job(jobId)),
    statuses: [200, 202],
    schema: wire.bulkJob,
    optional: ['poll_url', 'completed_count', 'total_count', 'download_url', 'expires_at'],
  },
  {
    name: 'job, cancel',
    call: ({ jobId }) =>
      jobId === undefined ? null : { ...job(jobId), operation: 'bulkJobDelete', method: 'DELETE' },
    statuses: [204],
  },
  absent('job, unknown', job('00000000-0000-4000-8000-000000000000')),
];

const LIST = post('list', { batch_id: UNKNOWN_ID, include_responses: false });
const LIST_FIELDS = 'UPSTREAM_LIST_FIELDS';
const OPTIONAL_IN_BATCHES = ['warning_messages', 'results_expire_at', 'expires_at'];

const ownPage = ({ listLimitField }: UpstreamSettings, batchId: string) => ({
  batch_id: batchId,
  include_responses: true,
  [listLimitField]: 1,
});

function taskIds(content: unknown): unknown[] {
  const { items } = Object(content);
  return Array.isArray(items) ? items.map((item) => Object(item).task_id) : [];
}

export const BATCH_OPERATIONS: readonly Operation[] = [
  absent('list, unknown batch', LIST),
  absent('status, unknown task', post('status', { task_id: UNKNOWN_ID })),
  absent('cancel, unknown batch', post('cancel', { batch_id: UNKNOWN_ID })),
  absent('cancel, unknown task', post('cancel', { task_id: UNKNOWN_ID })),
  {
    name: 'list, own batch',
    call: ({ batchId }, settings) =>
      batchId === undefined ? null : post('list', ownPage(settings, batchId)),
    setting: LIST_FIELDS,
    schema: wire.batchPage,
    optional: [
      ...OPTIONAL_IN_BATCHES,
      ...['batch_id', 'created_at', 'items[].response', 'items[].response_available', 'items[].error'],
    ],
    examine({ content }, known) {
      const { cursor } = Object(content);
      const ids = taskIds(content);
      if (isString(cursor)) known.cursor = cursor;
      if (isString(ids[0])) known.taskId = ids[0];
      return unless(ids.length <= 1, '$.items', '1 item', 'more', LIST_FIELDS);
    },
  },
  {
    name: 'list, next page',
    call: ({ batchId, cursor }, settings) =>
      batchId === undefined || cursor === undefined
        ? null
        : post('list', { ...ownPage(settings, batchId), [settings.listCursorField]: cursor }),
    setting: LIST_FIELDS,
    examine: ({ content }, { taskId }) =>
      unless(!taskIds(content).includes(taskId), '$.items', 'other items', 'the same', LIST_FIELDS),
  },
  {
    name: 'status, own task',
    call: ({ taskId }) => (taskId === undefined ? null : post('status', { task_id: taskId })),
    schema: wire.taskStatus,
    optional: [...OPTIONAL_IN_BATCHES, 'response', 'artifacts', 'artifacts_expire_in', 'error'],
  },
];

/** The call that shows where an API is, and how its answer is told from any other. */
export const PREFIX_CALLS = {
  atlas: {
    key: 'atlasPrefix',
    setting: 'UPSTREAM_ATLAS_PREFIX',
    call: get('feature', '/features/7'),
    isRight: ({ status, body }: Answer) => status === 200 && Object(body).feature_index === 7,
  },
  batch: {
    key: 'batchPrefix',
    setting: 'UPSTREAM_BATCH_PREFIX',
    call: LIST,
    isRight: ({ status, body }: Answer) => status < 500 && isApiError(body),
  },
} as const;
