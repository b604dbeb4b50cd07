// Calls every operation of the service that costs nothing, and says what is expected of each
// answer. Later calls use ids of earlier answers.
import * as z from 'zod';
import { readBulkArchive } from '../upstream/archive/bulk.ts';
import {
  checkFeature,
  checkPng,
  readCatalogue,
  readCluster,
  readRestrictedCount,
} from '../upstream/atlas.ts';
import { checkJob, jobHandle } from '../upstream/atlas-bulk.ts';
import { checkTaskId } from '../upstream/batch.ts';
import { isApiError, UpstreamError } from '../upstream/errors.ts';
import { readCounts, toTaskState } from '../upstream/folds/batch-states.ts';
import { missingResult, toUnreadable } from '../upstream/folds/fold-errors.ts';
import { readResponse } from '../upstream/folds/fold-results.ts';
import { emptyPage, readPage } from '../upstream/folds/list-items.ts';
import { readFoldSync } from '../upstream/folds/read-fold.ts';
import type { Call } from '../upstream/http/call.ts';
import { checkFileHost, readFileAddress } from '../upstream/http/file-address.ts';
import { promised, validate } from '../upstream/http/validate-response.ts';
import { partValue } from '../upstream/part.ts';
import type { RequiredParts } from '../upstream/proteins/parts.ts';
import { readArchived, readClusters } from '../upstream/proteins/read-archive.ts';
import { readRecord } from '../upstream/proteins/read-record.ts';
import { createSource, type ProteinRecord } from '../upstream/proteins/record.ts';
import { NO_PARTS } from '../upstream/proteins/required-parts.ts';
import { plddtByResidue, type Structure } from '../upstream/proteins/structure.ts';
import { checkEntry } from '../upstream/reads/cached-reads.ts';
import { readMembers } from '../upstream/reads/cluster-loader.ts';
import type { UpstreamSettings } from '../upstream/settings.ts';
import * as wire from '../upstream/wire.ts';
import type { Answer, Expected, FreeCall } from './check.ts';
import { type Difference, valueAt } from './strict-reading.ts';

/** Makes a call and adds its check to the report. @returns the content of an answer as expected */
export type RunCheck = (name: string, call: FreeCall, expected: Expected) => Promise<unknown>;

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const INSULIN_SEQUENCE =
  'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQP' +
  'LALEGSLQKRGIVEQCCTSICSLYQLENYCN';
const UNKNOWN_HASH = '0'.repeat(32);
const UNKNOWN_ID = 'foldatlas-doctor-no-such-id';
const JOB_HASHES = Array.from({ length: 500 }, (_, number) => number.toString(16).padStart(32, '0'));

const get = (operation: Call['operation'], path: string, query: Call['query'] = {}): FreeCall => ({
  operation,
  api: 'atlas',
  method: 'GET',
  path,
  query,
});
const getProtein = (hash: string): FreeCall =>
  get('protein', `/proteins/${hash}`, { topk_features: 3, fold_on_miss: false, normalize_features: true });
const getJob = (id: string): FreeCall => get('bulkJob', `/proteins/batch/jobs/${encodeURIComponent(id)}`);
const postBulk = (hashes: readonly string[], all: boolean): FreeCall => ({
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

/** A difference unless something holds. */
const unless = (holds: boolean, path: string, expected: string, seen: string, setting?: string) =>
  holds ? [] : [{ path, expected, seen, setting }];

/** The answer for something that does not exist. A 404 says so only in the words of the API. */
const ABSENT: Expected = {
  statuses: [404],
  examine: ({ body }) => unless(isApiError(body), '$', 'an error of the API', 'a bare 404'),
};

const NEEDS_RECORD: RequiredParts = { ...NO_PARTS, record: true, regions: 3, level: true };
const NEEDS_STRUCTURE: RequiredParts = { ...NO_PARTS, structure: true };

/** Examines the archive of a protein and of one that does not exist. */
async function examineArchive({ bytes }: Answer, hash: string): Promise<readonly Difference[]> {
  const parts = await readBulkArchive(bytes, { rows: { top: 1, indices: [] } });
  const { problems, sequences, structures, features, clusters } = parts;
  const { proteinLevel, rows } = features.get(hash) ?? {};
  const expectations: readonly (readonly [holds: boolean, path: string, expected: string])[] = [
    [problems.length === 0, 'archive', 'a whole zip that can be read'],
    [sequences.has(hash), 'sequences.fasta', 'the protein that exists'],
    [!sequences.has(UNKNOWN_HASH), 'sequences.fasta', 'no protein that does not exist'],
    [structures.has(hash), 'structures/*.pdb', 'the structure'],
    [proteinLevel !== undefined, 'features.json', 'the features'],
    [rows !== undefined, 'features.json', 'values by residue'],
    [clusters.size > 0, 'cluster_info.json', 'the cluster'],
  ];
  const differences = expectations.flatMap(([holds, path, expected]) =>
    unless(holds, path, expected, 'something else'),
  );
  const archive = { parts, from: createSource('bulk'), clusters: readClusters(parts), isRanked: true };
  const read = () => {
    const record = readArchived(hash, NEEDS_STRUCTURE, archive);
    return record == null ? [] : listParts(record);
  };
  return [...differences, ...findFaults(read)];
}

/** The errors that a reader of the gateway throws or returns, as differences. */
function findFaults(read: () => readonly unknown[]): readonly Difference[] {
  const faults: unknown[] = [];
  try {
    faults.push(...read());
  } catch (error) {
    faults.push(error);
  }
  return faults.flatMap((fault) => {
    if (!(fault instanceof Error)) return [];
    if (!(fault instanceof UpstreamError)) throw fault;
    const path = /\$[\w.[\]]*\w/.exec(fault.message)?.[0] ?? '$';
    const setting = /\b(?:DOWNLOAD_HOSTS|UPSTREAM_[A-Z]+_[A-Z_]+)\b/.exec(fault.message)?.[0];
    return [{ path, expected: 'what the gateway can read', seen: fault.failure.code, setting }];
  });
}

/** Reads an answer as the gateway does. @returns the difference for which the gateway refuses it */
const readBy =
  (read: (content: unknown, status: number) => readonly unknown[]) =>
  ({ status, content }: Answer): readonly Difference[] =>
    status >= 300 || content === undefined ? [] : findFaults(() => read(content, status));

/**
 * The parts of a record, errors among them.
 *
 * @throws UpstreamError for a structure of another one
 */
function listParts(record: ProteinRecord): unknown[] {
  const structure = partValue<Structure>(record.structure);
  const { plddt } = record;
  if (structure != null) plddtByResidue(structure, partValue(plddt));
  return Object.values(record);
}

const readProtein = (hash: string) => (raw: unknown) => {
  const answer = { raw, requestId: undefined, features: { kind: 'ranking', top: 3 } } as const;
  const record = readRecord(hash, NEEDS_RECORD, answer);
  promised('protein', '$.sae_features', record.features);
  return listParts(record);
};

const readOwnCluster =
  (hash: string) =>
  (content: unknown): readonly unknown[] =>
    readMembers(readCluster(hash, validate('cluster', wire.clusterRecord, content)));

/** A catalogue without labels can be read, and nothing is found in it. */
async function examineCatalogue(answer: Answer): Promise<readonly Difference[]> {
  if (answer.status >= 300 || answer.content === undefined) return [];
  const read = await readCatalogue(answer.bytes).catch((error: unknown) => [error]);
  return [...findFaults(() => read), ...examineLabels(answer)];
}

function examineLabels({ content }: Answer): readonly Difference[] {
  const rows = Array.isArray(content) ? content : [];
  const isLabelled = rows.some((row) => typeof valueAt(row, ['label']) === 'string');
  return unless(isLabelled, '$[].label', 'labels', rows.length === 0 ? 'no features' : 'null in all');
}

const textAt = (content: unknown, ...path: readonly (string | number)[]): string | undefined => {
  const found = valueAt(content, path);
  return typeof found === 'string' ? found : undefined;
};

/** Checks the operations of the Atlas API. */
export async function checkAtlas(run: RunCheck, settings: UpstreamSettings): Promise<void> {
  const { thumbnailTypes } = settings;
  await run('features', get('features', '/features'), {
    schema: wire.catalogueRows,
    examine: examineCatalogue,
  });
  await run('feature', get('feature', '/features/7'), {
    schema: wire.featureDetail,
    examine: readBy((content) => [checkFeature(7, validate('feature', wire.featureDetail, content))]),
  });
  await run('feature, unknown index', get('feature', '/features/99999999'), ABSENT);

  const query = { sequence: INSULIN_SEQUENCE, topk_results: 2, topk_features: 3, include_cluster_info: true };
  const search = await run('similarity', get('similarity', '/similarity-search', query), {
    schema: wire.similarityAnswer,
    optional: ['protein_hash', 'similar_proteins[].cluster_size', 'similar_proteins[].protein_name'],
    examine: readBy((content) => {
      const answer = validate('similarity', wire.similarityAnswer, content);
      promised('similarity', '$.top_features_across_results', answer.top_features_across_results);
      return [readRestrictedCount(answer)];
    }),
  });
  // A deployment without insulin has similar proteins.
  const similar = textAt(search, 'similar_proteins', 0, 'protein_hash') ?? INSULIN;
  const hash = textAt(search, 'protein_hash') === INSULIN ? INSULIN : similar;

  const protein = await run('protein', getProtein(hash), {
    schema: wire.proteinRecord.extend({
      protein_activations: z.unknown(),
      per_residue_activations: z.unknown(),
    }),
    optional: ['accession', 'source', 'header', 'protein_name'],
    examine: readBy(readProtein(hash)),
  });
  await run('protein, unknown hash', getProtein(UNKNOWN_HASH), ABSENT);
  const representative = textAt(protein, 'cluster_rep_protein_hash') ?? hash;
  await run('cluster', get('cluster', `/clusters/${representative}`, { topk_features: 3 }), {
    // A protein that names no cluster represents one, or belongs to none.
    statuses: [200, 404],
    schema: wire.clusterRecord,
    examine: readBy(readOwnCluster(representative)),
  });
  for (const type of ['plddt', 'pct-characterized']) {
    const path = `/proteins/${hash}/thumbnail/${encodeURIComponent(thumbnailTypes?.[type] ?? type)}`;
    await run(
      `thumbnail, ${type}`,
      { ...get('thumbnail', path), accept: 'image/png' },
      {
        setting: 'UPSTREAM_THUMBNAILS',
        examine: ({ status, contentType, bytes }) => [
          ...unless(contentType === 'image/png', 'content-type', 'image/png', contentType || 'none'),
          ...(status < 300 ? findFaults(() => [checkPng(bytes)]) : []),
        ],
      },
    );
  }
  await run('uniprot', get('uniprot', '/uniprot/P01308'), {
    schema: wire.uniprotRecord,
    optional: ['entry_name', 'sequence_length', 'gene'],
    examine: readBy((content) => [checkEntry(validate('uniprot', wire.uniprotRecord, content))]),
  });
  await run('uniprot, other namespace', get('uniprot', '/uniprot/ENSG00000139618'), { statuses: [400] });

  await run('bulk', postBulk([hash, UNKNOWN_HASH], true), {
    examine: (answer) => examineArchive(answer, hash),
  });
  const bulk = await run('bulk, 500 hashes', postBulk(JOB_HASHES, false), {
    statuses: [202, 200],
    // An archive at once is as good as a job.
    examine: readBy((content) => [validate('bulkJob', jobHandle, content)]),
  });
  const jobId = textAt(bulk, 'job_id');
  if (jobId !== undefined) {
    await run('job', getJob(jobId), {
      statuses: [200, 202],
      schema: wire.bulkJob,
      optional: ['poll_url', 'completed_count', 'total_count', 'download_url', 'expires_at'],
      examine: readBy(readOwnJob(settings)),
    });
    await run(
      'job, cancel',
      { ...getJob(jobId), operation: 'bulkJobDelete', method: 'DELETE' },
      { statuses: [204] },
    );
  }
  await run('job, unknown', getJob('00000000-0000-4000-8000-000000000000'), ABSENT);
}

const LIST = post('list', { batch_id: UNKNOWN_ID, include_responses: false });
const FIRST_ITEM = { limit: 1 };
const LIST_FIELDS = 'UPSTREAM_LIST_FIELDS';
const OPTIONAL_IN_BATCHES = ['warning_messages', 'results_expire_at', 'expires_at'];

/** Checks the operations of the Batch API. @param batchId - a batch of the caller's own */
export async function checkBatch(
  run: RunCheck,
  settings: UpstreamSettings,
  batchId: string | undefined,
): Promise<void> {
  await run('list, unknown batch', LIST, ABSENT);
  await run('status, unknown task', post('status', { task_id: UNKNOWN_ID }), ABSENT);
  await run('cancel, unknown batch', post('cancel', { batch_id: UNKNOWN_ID }), ABSENT);
  await run('cancel, unknown task', post('cancel', { task_id: UNKNOWN_ID }), ABSENT);
  if (batchId !== undefined) await checkOwnBatch(run, settings, batchId);
}

/** Reads a page as the gateway does: its items, and whether their number agrees with the counts. */
const readOwnPage =
  (batchId: string) =>
  (content: unknown): unknown[] => {
    const page = validate('list', wire.itemPage, content);
    const items = readPage(batchId, page, FIRST_ITEM);
    return [
      ...items,
      items.length === 0 && readCounts(page.counts).total > 0 ? emptyPage(page, 0) : undefined,
    ];
  };

/** @throws UpstreamError for an address from which the gateway downloads nothing */
const checkAddress = (settings: UpstreamSettings, address: string): void =>
  checkFileHost(settings, readFileAddress(settings, address));

/** @throws UpstreamError for a result inside an answer that is none */
function readInline(json: string, taskId: string): void {
  try {
    readFoldSync(Buffer.from(json));
  } catch (error) {
    throw toUnreadable(error, taskId);
  }
}

/** A task that is done has a result; after 31 days Status answers 410 instead. */
const readStatus =
  (settings: UpstreamSettings, taskId: string) =>
  (content: unknown): unknown[] => {
    const answer = validate('status', wire.taskStatus, content);
    checkTaskId(taskId, answer);
    if (toTaskState(answer.status) !== 'DONE') return [];
    const result = readResponse(answer.response);
    if (result === null) return [missingResult()];
    if ('url' in result) checkAddress(settings, result.url);
    else readInline(result.json, taskId);
    return [];
  };

/** A job that is complete has an archive at an address that the gateway follows. */
const readOwnJob =
  (settings: UpstreamSettings) =>
  (content: unknown, status: number): unknown[] => {
    const job = checkJob(validate('bulkJob', wire.bulkJob, content), status);
    if (job.download_url != null) checkAddress(settings, job.download_url);
    return [];
  };

const listItems = (content: unknown): unknown[] => {
  const items = valueAt(content, ['items']);
  return Array.isArray(items) ? items : [];
};
const readTaskIds = (content: unknown): unknown[] =>
  listItems(content).map((item) => valueAt(item, ['task_id']));

/** The address of the result of a task; undefined where it has none that the gateway follows. */
function findResultAddress(settings: UpstreamSettings, content: unknown): string | undefined {
  const result = readResponse(valueAt(content, ['response']));
  if (result === null || !('url' in result)) return undefined;
  try {
    const address = readFileAddress(settings, result.url);
    checkFileHost(settings, address);
    return address.href;
  } catch (error) {
    // The check of the task has reported it.
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}

/** Opens a result as the download of a user does, and reads its first byte. */
const getResult = (address: string): FreeCall => ({
  operation: 'download',
  api: 'file',
  method: 'GET',
  path: address,
  headers: { range: 'bytes=0-0' },
});

async function checkOwnBatch(run: RunCheck, settings: UpstreamSettings, batchId: string): Promise<void> {
  const { listLimitField, listCursorField } = settings;
  const own = { batch_id: batchId, include_responses: true, [listLimitField]: 1 };
  const page = await run('list, own batch', post('list', own), {
    absent: 'there is no such batch for this token',
    bare: post('list', { batch_id: batchId, include_responses: false }),
    setting: LIST_FIELDS,
    schema: wire.batchPage,
    optional: [
      ...OPTIONAL_IN_BATCHES,
      ...[
        'batch_id',
        'created_at',
        'items[].response',
        'items[].response_available',
        'items[].error',
        'items[].batch_id',
      ],
    ],
    examine: (answer) => {
      const count = readTaskIds(answer.content).length;
      const differences = unless(count <= FIRST_ITEM.limit, '$.items', '1 item', 'more', LIST_FIELDS);
      return differences.length > 0 ? differences : readBy(readOwnPage(batchId))(answer);
    },
  });
  const cursor = textAt(page, 'cursor');
  const firstId = textAt(page, 'items', 0, 'task_id');
  let next: unknown;
  if (cursor !== undefined)
    next = await run('list, next page', post('list', { ...own, [listCursorField]: cursor }), {
      setting: LIST_FIELDS,
      examine: ({ content }) =>
        unless(!readTaskIds(content).includes(firstId), '$.items', 'other items', 'the same', LIST_FIELDS),
    });
  const items = [page, next].flatMap(listItems);
  const done = items.find((item) => toTaskState(textAt(item, 'status') ?? '') === 'DONE');
  const taskId = textAt(done, 'task_id') ?? firstId;
  if (taskId === undefined) return;
  const task = await run('status, own task', post('status', { task_id: taskId }), {
    schema: wire.taskStatus,
    optional: [...OPTIONAL_IN_BATCHES, 'task_id', 'response', 'artifacts', 'artifacts_expire_in', 'error'],
    examine: readBy(readStatus(settings, taskId)),
  });
  const address = findResultAddress(settings, task);
  if (address !== undefined)
    await run('result, own task', getResult(address), {
      statuses: [206, 200],
      examine: ({ bytes }) => unless(bytes.length > 0, 'body', 'a result', 'nothing'),
    });
}

/** The call that shows where an API is, and how its answer is told from any other. */
export const PREFIX_CALLS = {
  atlas: {
    key: 'atlasPrefix',
    setting: 'UPSTREAM_ATLAS_PREFIX',
    call: get('feature', '/features/7'),
    isRight: ({ status, body }: Answer) => status === 200 && valueAt(body, ['feature_index']) === 7,
  },
  batch: {
    key: 'batchPrefix',
    setting: 'UPSTREAM_BATCH_PREFIX',
    call: LIST,
    isRight: ({ status, body }: Answer) => status < 500 && isApiError(body),
  },
} as const;
