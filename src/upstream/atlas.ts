// The Atlas API, one function an operation: the spec's section "Atlas API" read as code. Public and read-only; it
// sends no token, holds no cache and plans nothing. Absence (404) is null, everything else unexpected is thrown.
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import { archiveLimits } from './archive/archive-limits.ts';
import { UpstreamError } from './errors.ts';
import { confirmNotFound } from './http/prefix.ts';
import {
  bodyJson,
  discard,
  isWhole,
  parseJsonBody,
  readBytes,
  readUtf8,
  tooLarge,
  upstreamErrorOf,
} from './http/response-body.ts';
import { type Call, requestStream, type StreamedResponse, type Upstream } from './http/upstream-client.ts';
import {
  drifted,
  namedJson,
  readContractJson,
  readValidated,
  toContractNames,
  validate,
} from './http/validate-response.ts';
import { removeMembers } from './json/json-filter.ts';
import { namesSeen } from './mapping/rules.ts';
import { recordActivations } from './proteins/activations.ts';
import { lazyRecord, normalizedFeatures, type RecordParts } from './proteins/protein-record.ts';
import { findRegionEnd, normalizeRegions, omitRegions } from './reads/region-ends.ts';
import * as wire from './wire.ts';

const get = (operation: string, path: string, more: Partial<Call> = {}): Call => ({
  operation,
  api: 'atlas',
  method: 'GET',
  path,
  repeatable: true,
  ...more,
});

/** A value as one segment of a path. What a URL would take for a step up or down the path is no name of anything. */
function segment(operation: string, text: string): string {
  if (text.trim() !== '' && text !== '.' && text !== '..') return encodeURIComponent(text);
  throw new UpstreamError(`${JSON.stringify(text)} is no identifier.`, {
    operation,
    code: 'BAD_USER_INPUT',
    retryable: false,
  });
}

/** A checked record together with the JSON it came as. */
export interface WithRaw<T> {
  readonly record: T;
  readonly raw: unknown;
  readonly requestId: string | undefined;
}

const KiB = 1024;
const MiB = 1024 * KiB;

const requestIdOf = ({ headers }: StreamedResponse): string | undefined => {
  const id = headers['x-request-id'];
  return typeof id === 'string' ? id : undefined;
};

async function record<S extends z.ZodType>(
  up: Upstream,
  answer: StreamedResponse,
  schema: S,
  name = answer.call.operation,
): Promise<WithRaw<z.output<S>>> {
  const raw = await readContractJson(up, name, answer);
  return { record: readValidated(up, name, schema, raw), raw, requestId: requestIdOf(answer) };
}

/** Makes a call and reads its answer. Null when it says that there is no such thing. */
async function foundOrNull<T>(
  up: Upstream,
  call: Call,
  read: (answer: StreamedResponse) => Promise<T>,
): Promise<T | null> {
  const answer = await requestStream(up, call);
  if (isWhole(answer.status)) return read(answer);
  const error = await upstreamErrorOf(up, answer);
  if (answer.status !== 404) throw error;
  await confirmNotFound(up, 'atlas', error);
  return null;
}

const recordOrNull = <S extends z.ZodType>(
  up: Upstream,
  call: Call,
  schema: S,
): Promise<WithRaw<z.output<S>> | null> => foundOrNull(up, call, (answer) => record(up, answer, schema));

/** GET /features: the whole catalogue, some 16,384 rows and 7 MB in one answer, as it came. */
export async function features(up: Upstream): Promise<Buffer> {
  const answer = await requestStream(up, get('features', '/features'));
  if (!isWhole(answer.status)) throw await upstreamErrorOf(up, answer);
  const bytes = await readBytes(up, answer);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Rows checked before other work gets its turn. */
const ROWS_AT_ONCE = 1000;

/** Reads the catalogue: `{data: [...]}`, or the bare array. @throws UpstreamError UPSTREAM_DRIFT */
export async function readCatalogue(up: Upstream, json: Uint8Array): Promise<wire.CatalogueEntry[]> {
  const raw = toContractNames(up, 'features', await parseJsonBody('features', json));
  const rows = readValidated(up, 'features', wire.catalogue, raw);
  const entries: wire.CatalogueEntry[] = [];
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    entries.push(...validate('features', wire.catalogueRows, rows.slice(start, start + ROWS_AT_ONCE)));
    await turn();
  }
  return entries;
}

/** GET /features/{index}: all that is known of one feature. Null when the index is outside the catalogue. */
export async function feature(up: Upstream, index: number) {
  const found = await recordOrNull(up, get('feature', `/features/${index}`), wire.featureDetail);
  const seen = found?.record.feature_index ?? index;
  if (seen === index) return found;
  throw drifted('feature', '$.feature_index', `expected ${index}, seen ${seen}`);
}

/** The features of a cluster with half-open regions; without regions where it does not tell what their `end` is. */
function clusterFeatures(up: Upstream, values: readonly wire.FeatureValue[]): wire.FeatureValue[] {
  const end = findRegionEnd(up.settings, values, {});
  return end === undefined
    ? omitRegions(values)
    : normalizeRegions('cluster', '$.cluster_representative_features', values, end, {});
}

/** GET /clusters/{hash}. Null when the hash is not that of a cluster's representative. @param top - 1 to 100 features */
export async function cluster(
  up: Upstream,
  hash: string,
  top: number,
): Promise<WithRaw<wire.ClusterRecord> | null> {
  const path = `/clusters/${segment('cluster', hash)}`;
  const call = get('cluster', path, { query: { topk_features: top } });
  const found = await recordOrNull(up, call, wire.clusterRecord);
  if (found !== null && found.record.protein_hash.toLowerCase() !== hash.toLowerCase())
    throw drifted('cluster', '$.protein_hash', 'it is not the hash that was asked for');
  const values = found?.record.cluster_representative_features;
  if (found === null || values == null) return found;
  const record = { ...found.record, cluster_representative_features: clusterFeatures(up, values) };
  return { ...found, record };
}

/** A protein's record; `parts` where they are read only when somebody asks for them. */
export interface ReadRecord extends WithRaw<wire.ProteinRecord> {
  readonly parts?: RecordParts;
}

/** Reads a protein's record: lightly, where nobody looks for drift and the names are those of the contract. */
async function readRecord(up: Upstream, answer: StreamedResponse): Promise<ReadRecord> {
  const { mapping } = up.settings;
  const bytes = await readUtf8(up, answer);
  if (mapping === undefined && (up.onAnswer === undefined || up.looksAt?.('protein') === false)) {
    const found = lazyRecord(bytes, requestIdOf(answer), up.settings);
    if (found !== undefined) return found;
  }
  const raw = await namedJson(up, 'protein', bodyJson(answer, bytes));
  const record = readValidated(up, 'protein', wire.proteinRecord, raw);
  const requestId = requestIdOf(answer);
  const { sae_features: values } = record;
  if (values == null) return { record, raw, requestId };
  const activations = () => recordActivations({ raw }).perResidue;
  const features = normalizedFeatures(up.settings, record, values, activations);
  return { record: { ...record, sae_features: features }, raw, requestId };
}

/** What to ask of the single-record endpoint. */
export interface ProteinQuery {
  /** Number of top features, 1 to 100. */
  readonly top: number;
  readonly foldOnMiss: boolean;
  readonly normalize: boolean;
  /** Exactly these features, at most 100, in this order; the top ranking when absent. */
  readonly indices?: readonly number[] | undefined;
}

/** GET /proteins/{hash}. Null when the Atlas does not hold it. `fold_on_miss` is always sent: deployments differ in its default. */
export const protein = (up: Upstream, hash: string, q: ProteinQuery): Promise<ReadRecord | null> =>
  foundOrNull(
    up,
    get('protein', `/proteins/${segment('protein', hash)}`, {
      query: {
        topk_features: q.top,
        fold_on_miss: q.foldOnMiss,
        normalize_features: q.normalize,
        feature_indices: q.indices,
      },
      ...(q.foldOnMiss ? { limits: 'proteinFold' } : {}),
    }),
    (answer) => readRecord(up, answer),
  );

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** The last chunk of a PNG, behind its length. */
const PNG_END = Buffer.from('IEND');

/** Whatever else comes in place of a picture must not be kept as one. */
function asPng(bytes: Uint8Array): Uint8Array {
  const isWhole = PNG.equals(bytes.subarray(0, PNG.length)) && PNG_END.equals(bytes.subarray(-8, -4));
  if (isWhole) return bytes;
  throw new UpstreamError("The upstream's answer to thumbnail is no whole PNG.", {
    operation: 'thumbnail',
    code: 'UPSTREAM_DRIFT',
    status: 200,
    retryable: true,
  });
}

/** GET /proteins/{hash}/thumbnail/{type}: the PNG, or null when there is no protein or no structure to draw. */
export async function thumbnail(up: Upstream, hash: string, type: string): Promise<Uint8Array | null> {
  const kind = segment('thumbnail', up.settings.thumbnailTypes?.[type] ?? type);
  const path = `/proteins/${segment('thumbnail', hash)}/thumbnail/${kind}`;
  const answer = await requestStream(up, get('thumbnail', path, { accept: 'image/png' }));
  if (isWhole(answer.status)) return asPng(await readBytes(up, answer));
  const error = await upstreamErrorOf(up, answer);
  if (answer.status !== 404) throw error;
  await confirmNotFound(up, 'atlas', error);
  return null;
}

/** The body of a bulk lookup, in our words. */
export interface BulkQuery {
  /** At most 500 unique hashes. */
  readonly hashes: readonly string[];
  readonly top: number;
  readonly structure: boolean;
  readonly cluster: boolean;
  readonly sequence: boolean;
  readonly proteinFeatures: boolean;
  readonly residueFeatures: boolean;
}

/** What a bulk lookup came to: an archive to read, or a job to poll. */
export type BulkAnswer =
  | { readonly kind: 'zip'; readonly answer: StreamedResponse }
  | { readonly kind: 'job'; readonly jobId: string };

const jobHandle = wire.bulkJob.extend({ job_id: z.string() });

/** The handle of a job, in place of an archive, whose limit it would have. */
async function jobOf(up: Upstream, answer: StreamedResponse) {
  const call = { ...answer.call, maxBytes: MiB };
  return (await record(up, { ...answer, call }, jobHandle, 'bulkJob')).record;
}

/** POST /proteins/batch: a zip for few proteins, a job for many. */
export async function bulk(up: Upstream, q: BulkQuery): Promise<BulkAnswer> {
  const { receivedBytes: maxBytes } = archiveLimits({
    proteins: q.hashes.length,
    perResidue: q.residueFeatures,
  });
  const answer = await requestStream(up, {
    operation: 'bulk',
    api: 'atlas',
    method: 'POST',
    path: '/proteins/batch',
    repeatable: true,
    accept: 'application/zip, application/json',
    maxBytes,
    body: {
      protein_hashes: q.hashes,
      topk_features: q.top,
      include_structure: q.structure,
      include_cluster_info: q.cluster,
      include_sequence: q.sequence,
      include_features: { protein_level: q.proteinFeatures, per_residue: q.residueFeatures },
    },
  });
  if (answer.status === 202) return { kind: 'job', jobId: (await jobOf(up, answer)).job_id };
  if (isWhole(answer.status)) return { kind: 'zip', answer };
  throw await upstreamErrorOf(up, answer);
}

const FINISHED = new Set(['completed', 'complete', 'done']);
/** States that a job without an archive can have, whatever the HTTP status. */
const KNOWN_ENDS = new Set([
  'pending',
  'queued',
  'in_progress',
  'running',
  'processing',
  'cancelled',
  'failed',
  'expired',
]);

/** GET /proteins/batch/jobs/{id}. @throws UpstreamError RESULT_EXPIRED (410) when it is too old */
export async function bulkJob(up: Upstream, jobId: string): Promise<wire.BulkJob> {
  const answer = await requestStream(up, get('bulkJob', `/proteins/batch/jobs/${segment('bulkJob', jobId)}`));
  if (!isWhole(answer.status)) throw await upstreamErrorOf(up, answer);
  const { record: job } = await record(up, answer, wire.bulkJob);
  const isComplete =
    FINISHED.has(job.status ?? '') || (answer.status === 200 && !KNOWN_ENDS.has(job.status ?? ''));
  if (isComplete && job.download_url == null)
    throw drifted('bulkJob', '$.download_url', 'the job is complete, and there is no address');
  return job;
}

/** DELETE /proteins/batch/jobs/{id}. @returns false when the job is unknown */
export async function deleteBulkJob(up: Upstream, jobId: string): Promise<boolean> {
  const answer = await requestStream(up, {
    ...get('bulkJobDelete', `/proteins/batch/jobs/${segment('bulkJobDelete', jobId)}`),
    method: 'DELETE',
  });
  if (answer.status === 204 || answer.status === 200) {
    discard(answer);
    return true;
  }
  const error = await upstreamErrorOf(up, answer);
  if (answer.status !== 404) throw error;
  await confirmNotFound(up, 'atlas', error);
  return false;
}

/** GET /uniprot/{id}: an accession or an entry name. Null when unknown. @throws UpstreamError BAD_USER_INPUT (400) for other namespaces */
export const uniprot = (up: Upstream, id: string) =>
  recordOrNull(up, get('uniprot', `/uniprot/${segment('uniprot', id)}`), wire.uniprotRecord);

/** The query of a similarity search, in our words. */
export interface SimilarityQuery {
  readonly sequence: string;
  readonly results: number;
  readonly features: number;
  readonly minSimilarity?: number | undefined;
  readonly maxPercentCharacterized?: number | undefined;
  readonly clusterInfo: boolean;
}

/** The body while it is no larger than an honest one. @throws UpstreamError */
async function* upTo(most: number, { body, status, call }: StreamedResponse): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    received += piece.byteLength;
    if (received > most) throw tooLarge(call.operation, status);
    yield piece;
  }
}

/** Members of a hit that hold its structure: nearly all of the answer. */
const OF_STRUCTURE = new Set(['pdb', 'residues_plddt']);

/**
 * GET /similarity-search: proteins with similar features, best first.
 *
 * @param structures - whether the hits' structures are wanted; they come in any case, and are else dropped as they arrive
 */
export async function similarity(
  up: Upstream,
  q: SimilarityQuery,
  structures: boolean,
): Promise<wire.SimilarityAnswer> {
  const received = q.results * 2 * MiB + 8 * MiB;
  const answer = await requestStream(
    up,
    get('similarity', '/similarity-search', {
      maxBytes: structures ? received : q.results * 64 * KiB + 4 * MiB,
      query: {
        sequence: q.sequence,
        topk_results: q.results,
        topk_features: q.features,
        min_similarity: q.minSimilarity,
        cluster_pct_characterized_max: q.maxPercentCharacterized,
        include_cluster_info: q.clusterInfo,
      },
    }),
  );
  if (!isWhole(answer.status)) throw await upstreamErrorOf(up, answer);
  const dropped = namesSeen(up.settings.mapping, 'similarity', OF_STRUCTURE);
  const whole = upTo(received, answer);
  const body = structures ? answer.body : Readable.from(removeMembers(whole, dropped));
  return (await record(up, { ...answer, body }, wire.similarityAnswer)).record;
}
