// The Atlas API, one function for each operation; bulk look-ups are in atlas-bulk.ts. Public and
// read-only: no token is sent. Absence (404) is null, everything else unexpected is thrown.
import { setImmediate as turn } from 'node:timers/promises';
import type * as z from 'zod';
import { UpstreamError } from './errors.ts';
import type { Call, Upstream } from './http/call.ts';
import { readRequestId } from './http/response-error.ts';
import { call, callOrNull } from './http/upstream-client.ts';
import {
  drifted,
  parseJsonBody,
  readAnyJson,
  readJson,
  validate,
  type WithRaw,
} from './http/validate-response.ts';
import { findRepeat } from './json/bounded-schemas.ts';
import type { LoadedRecord } from './proteins/read-record.ts';
import { isEndIncluded, omitRegions, readRegions } from './proteins/regions.ts';
import * as wire from './wire.ts';

export const get = (operation: Call['operation'], path: string, more: Partial<Call> = {}): Call => ({
  operation,
  api: 'atlas',
  method: 'GET',
  path,
  isRepeatable: true,
  ...more,
});

/** @throws UpstreamError for `.` and `..`, which a URL would resolve */
export function segment(operation: string, text: string): string {
  if (text.trim() !== '' && text !== '.' && text !== '..') return encodeURIComponent(text);
  throw new UpstreamError(`${JSON.stringify(text)} is not an identifier.`, {
    operation,
    code: 'BAD_USER_INPUT',
    retryable: false,
  });
}

const KiB = 1024;
const MiB = 1024 * KiB;

async function readOrNull<S extends z.ZodType>(
  up: Upstream,
  request: Call,
  schema: S,
): Promise<WithRaw<z.output<S>> | null> {
  const answer = await callOrNull(up, request);
  return answer && readJson(answer, schema);
}

/** GET /features: the whole catalogue, some 16,384 rows and 7 MB in one answer, as it came. */
export async function features(up: Upstream): Promise<Buffer> {
  return (await call(up, get('features', '/features'))).body;
}

/** Rows checked before other work gets its turn. */
const ROWS_AT_ONCE = 1000;

/** Reads the catalogue: `{data: [...]}`, or the bare array. @throws UpstreamError UPSTREAM_DRIFT */
export async function readCatalogue(json: Uint8Array): Promise<wire.CatalogueEntry[]> {
  const rows = validate('features', wire.catalogue, await parseJsonBody('features', json));
  // It would be cached, and say for a day that there are no features.
  if (rows.length === 0) throw drifted('features', '$', 'expected features, seen none', true);
  const entries: wire.CatalogueEntry[] = [];
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    entries.push(...validate('features', wire.catalogueRows, rows.slice(start, start + ROWS_AT_ONCE)));
    await turn();
  }
  const repeat = findRepeat(entries, ({ feature_index: index }) => index);
  if (repeat >= 0) {
    const index = entries[repeat]?.feature_index;
    throw drifted('features', `$.data.${repeat}.feature_index`, `expected each once, seen ${index} twice`);
  }
  return entries;
}

/** @throws UpstreamError UPSTREAM_DRIFT for another feature */
export function checkFeature(
  index: number,
  { feature_index: seen }: { readonly feature_index: number },
): void {
  if (seen !== index) throw drifted('feature', '$.feature_index', `expected ${index}, seen ${seen}`);
}

/** GET /features/{index}. Null outside the catalogue. @throws UpstreamError UPSTREAM_DRIFT */
export async function feature(up: Upstream, index: number) {
  const found = await readOrNull(up, get('feature', `/features/${index}`), wire.featureDetail);
  if (found !== null) checkFeature(index, found.record);
  return found;
}

/**
 * Features with half-open regions; without regions where the answer does not show what `end` is.
 */
const clusterFeatures = (values: readonly wire.FeatureValue[]): wire.FeatureValue[] =>
  isEndIncluded(values, {}) === undefined
    ? omitRegions(values)
    : readRegions('cluster', '$.cluster_representative_features', values, {});

/** Reads a record. @throws UpstreamError UPSTREAM_DRIFT for that of another cluster */
export function readCluster(hash: string, record: wire.ClusterRecord): wire.ClusterRecord {
  if (record.protein_hash !== hash)
    throw drifted('cluster', '$.protein_hash', 'it is not the hash that was asked for');
  const values = record.cluster_representative_features;
  return values == null ? record : { ...record, cluster_representative_features: clusterFeatures(values) };
}

/** GET /clusters/{hash}; null for no representative. @param top - 1 to 100 features */
export async function cluster(
  up: Upstream,
  hash: string,
  top: number,
): Promise<WithRaw<wire.ClusterRecord> | null> {
  const path = `/clusters/${segment('cluster', hash)}`;
  const request = get('cluster', path, { query: { topk_features: top } });
  const found = await readOrNull(up, request, wire.clusterRecord);
  return found && { ...found, record: readCluster(hash, found.record) };
}

export interface ProteinQuery {
  /** Number of top features, 1 to 100. */
  readonly top: number;
  readonly foldOnMiss: boolean;
  readonly normalize: boolean;
  /** Exactly these features, at most 100, in this order; the top ranking when absent. */
  readonly indices?: readonly number[] | undefined;
}

/** GET /proteins/{hash}; null for none. Deployments differ in the default of `fold_on_miss`. */
export async function protein(up: Upstream, hash: string, q: ProteinQuery): Promise<LoadedRecord | null> {
  const request = get('protein', `/proteins/${segment('protein', hash)}`, {
    query: {
      topk_features: q.top,
      fold_on_miss: q.foldOnMiss,
      normalize_features: q.normalize,
      feature_indices: q.indices,
    },
    ...(q.foldOnMiss ? { limits: 'proteinFold' } : {}),
  });
  const answer = await callOrNull(up, request);
  if (answer === null) return null;
  const isRanking = q.normalize && q.indices === undefined;
  return {
    raw: await readAnyJson(answer),
    body: answer.body,
    retrievedAt: Date.now(),
    requestId: readRequestId(up, answer),
    features: isRanking ? { kind: 'ranking', top: q.top } : { kind: 'other' },
  };
}

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** The last chunk of a PNG, behind its length. */
const PNG_END = Buffer.from('IEND');

/** @throws UpstreamError UPSTREAM_DRIFT for anything but a whole PNG: it would be cached as one */
export function checkPng(bytes: Uint8Array): Uint8Array {
  const isWhole = PNG.equals(bytes.subarray(0, PNG.length)) && PNG_END.equals(bytes.subarray(-8, -4));
  if (isWhole) return bytes;
  throw new UpstreamError("The upstream's answer to thumbnail is not a whole PNG.", {
    operation: 'thumbnail',
    code: 'UPSTREAM_DRIFT',
    status: 200,
    retryable: true,
  });
}

/** GET /proteins/{hash}/thumbnail/{type}: the PNG; null without a structure to draw. */
export async function thumbnail(up: Upstream, hash: string, type: string): Promise<Uint8Array | null> {
  const kind = segment('thumbnail', up.settings.thumbnailTypes?.[type] ?? type);
  const path = `/proteins/${segment('thumbnail', hash)}/thumbnail/${kind}`;
  const answer = await callOrNull(up, get('thumbnail', path, { accept: 'image/png' }));
  return answer && checkPng(answer.body);
}

/**
 * GET /uniprot/{id}; null when unknown.
 *
 * @throws UpstreamError BAD_USER_INPUT for other databases
 */
export const uniprot = (up: Upstream, id: string) =>
  readOrNull(up, get('uniprot', `/uniprot/${segment('uniprot', id)}`), wire.uniprotRecord);

export interface SimilarityQuery {
  readonly sequence: string;
  readonly results: number;
  readonly features: number;
  readonly minSimilarity?: number | undefined;
  readonly maxPercentCharacterized?: number | undefined;
  readonly clusterInfo: boolean;
}

/** Hits that the service withheld. @throws UpstreamError UPSTREAM_DRIFT where it does not say */
export function readRestrictedCount({ restricted_count: count }: wire.SimilarityAnswer): number {
  if (count == null) throw drifted('similarity', '$.restricted_count', 'missing, or of another type');
  return count;
}

/** Bytes of a hit, with its structure. */
const HIT_BYTES = 2 * MiB;

/**
 * GET /similarity-search: proteins with similar features, best first.
 *
 * @param structures - whether the hits' structures are wanted; the service always sends them
 */
export async function similarity(
  up: Upstream,
  q: SimilarityQuery,
  structures: boolean,
): Promise<wire.SimilarityAnswer> {
  const answer = await call(
    up,
    get('similarity', '/similarity-search', {
      maxBytes: q.results * HIT_BYTES + 8 * MiB,
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
  const found = (await readJson(answer, wire.similarityAnswer)).record;
  const best = found.similar_proteins
    .toSorted((a, b) => b.similarity_score - a.similarity_score)
    .slice(0, q.results);
  const hits = structures ? best : best.map((hit) => ({ ...hit, pdb: null, residues_plddt: null }));
  return { ...found, similar_proteins: hits };
}
