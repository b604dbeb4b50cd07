// The doctor's checks of the Atlas: every operation that costs nothing, with well-known proteins.

import type { Call, Upstream } from '../../upstream/http/upstream-client.ts';
import type { Drift } from '../compare.ts';
import type { Check, Measured } from '../report.ts';
import { type Fields, isFields } from '../rules.ts';
import { archiveDrifts, sequencesDrifts } from './archive.ts';
import { pngDrifts } from './png.ts';
import { type Probe, type ProbeResult, runProbe, skippedCheck } from './probe.ts';

/** Well-known proteins with short sequences: hash, accession and sequence. */
const KNOWN = [
  {
    hash: '12e9c9e4e2835c302e8ba615115edda3',
    accession: 'P01308',
    sequence:
      'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQP' +
      'LALEGSLQKRGIVEQCCTSICSLYQLENYCN',
  },
] as const;

const ABSENT = '00000000000000000000000000000000';
const FEATURE = 7;

/** `light` checks small answers only. */
export interface AtlasOptions {
  readonly light: boolean;
}

export interface Part {
  readonly checks: Check[];
  readonly limits: Measured[];
}

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

const get = (operation: string, path: string, more: Partial<Call> = {}): Probe['call'] => ({
  operation,
  api: 'atlas',
  method: 'GET',
  path,
  ...more,
});

/** A bulk call. @param all - with all options; otherwise with sequences only */
export const bulkCall = (hashes: readonly string[], all = true): Probe['call'] => ({
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

/** Hashes of no protein. */
export const unknownFields = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => number.toString(16).padStart(32, '0'));

const immutable = (headers: ProbeResult['headers']): Drift[] =>
  String(headers['cache-control'] ?? '').includes('immutable')
    ? []
    : [{ kind: 'added', path: 'cache-control', expected: 'immutable', seen: 'no such promise' }];

/** `topk_features` of every call that has it. */
const TOP = 3;
/** `feature_indices`, unordered: one that is active in the known protein, and others. */
const INDICES = [185, 16_383, 7];
const HITS = 2;
const LEAST_SIMILARITY = 0.2;

const protein = (hash: string, more: Call['query'] = {}) =>
  get('protein', `/proteins/${hash}`, {
    query: { topk_features: TOP, fold_on_miss: false, normalize_features: true, ...more },
  });

/** A search with the sequence of a known protein. */
const search = (sequence: string, more: Call['query'] = {}) =>
  get('similarity', '/similarity-search', {
    query: { sequence, topk_results: HITS, topk_features: TOP, include_cluster_info: true, ...more },
  });

/** Runs all checks of the Atlas. */
export async function checkAtlas(up: Upstream, { light }: AtlasOptions): Promise<Part> {
  const checks: Check[] = [];
  const limits: Measured[] = [];
  const put = async (question: Probe): Promise<ProbeResult> => {
    const asked = await runProbe(up, question);
    checks.push(asked.check);
    return asked;
  };
  const ok = [200];

  if (light) checks.push(skippedCheck('features', 'features', 'read by the gateway itself'));
  else {
    const { body } = await put({
      name: 'features',
      call: get('features', '/features'),
      statuses: ok,
      answer: 'features',
    });
    const rows = Array.isArray(body) ? body : fieldsOf(body).data;
    if (Array.isArray(rows))
      limits.push({ name: 'features in the catalogue', expected: '16384', seen: String(rows.length) });
  }
  await put({
    name: 'feature',
    call: get('feature', `/features/${FEATURE}`),
    statuses: ok,
    answer: 'feature',
    asked: { index: FEATURE },
  });
  await put({
    name: 'feature, unknown index',
    call: get('feature', '/features/99999999'),
    statuses: [404],
    answer: 'atlasError',
  });

  const [known] = KNOWN;
  const found = await put({
    name: 'similarity',
    call: search(known.sequence),
    statuses: ok,
    answer: 'similarity',
    asked: { sequence: known.sequence, total: HITS },
  });
  await put({
    name: 'similarity, filtered',
    call: search(known.sequence, { min_similarity: LEAST_SIMILARITY, cluster_pct_characterized_max: 100 }),
    statuses: ok,
    answer: 'similarity',
    asked: { sequence: known.sequence, total: HITS, minSimilarity: LEAST_SIMILARITY },
  });
  // A deployment without the known protein has similar ones.
  const hits: unknown = fieldsOf(found.body).similar_proteins;
  const [hit] = Array.isArray(hits) ? hits.map((one) => fieldsOf(one).protein_hash) : [];
  const other = typeof hit === 'string' && hit !== known.hash ? hit : undefined;
  let hash: string = known.hash;
  const record = (): Probe => ({
    name: 'protein',
    call: protein(hash),
    statuses: ok,
    answer: 'protein',
    asked: { hash, top: TOP },
  });
  let single = await runProbe(up, record());
  if (single.status === 404 && other !== undefined) {
    hash = other;
    single = await runProbe(up, record());
  }
  checks.push(single.check);
  await put({
    ...record(),
    name: 'protein, chosen raw features',
    call: protein(hash, { feature_indices: INDICES, normalize_features: false }),
    asked: { hash, indices: INDICES },
  });
  // It has its structure already, so nothing is folded.
  if (!light)
    await put({ ...record(), name: 'protein, fold on miss', call: protein(hash, { fold_on_miss: true }) });
  await put({ name: 'protein, unknown hash', call: protein(ABSENT), statuses: [404], answer: 'atlasError' });
  await put({
    name: 'protein, no hash',
    call: protein('no-hash'),
    statuses: [422],
    answer: 'validationError',
  });

  const link = fieldsOf(single.body).cluster_rep_protein_hash;
  const representative = typeof link === 'string' ? link : hash;
  await put({
    name: 'cluster',
    call: get('cluster', `/clusters/${representative}`, { query: { topk_features: TOP } }),
    statuses: ok,
    answer: 'cluster',
    asked: { hash: representative, top: TOP },
  });
  for (const type of ['plddt', 'pct-characterized']) {
    const word = up.settings.thumbnailTypes?.[type] ?? type;
    await put({
      name: `thumbnail, ${type}`,
      call: get('thumbnail', `/proteins/${hash}/thumbnail/${encodeURIComponent(word)}`, {
        accept: 'image/png',
      }),
      statuses: ok,
      content: 'image/png',
      examine: (_body, bytes, headers) => [...pngDrifts(bytes), ...immutable(headers)],
    });
  }
  await put({
    name: 'uniprot',
    call: get('uniprot', `/uniprot/${known.accession}`),
    statuses: ok,
    answer: 'uniprot',
    asked: { accession: known.accession },
  });
  await put({
    name: 'uniprot, other namespace',
    call: get('uniprot', '/uniprot/ENSG00000139618'),
    statuses: [400],
    answer: 'atlasError',
  });
  await put({
    name: 'bulk',
    call: bulkCall([hash]),
    statuses: ok,
    content: 'application/zip',
    examine: (_body, bytes) => archiveDrifts(up, bytes, hash),
  });
  await put({
    name: 'bulk, sequences of a known and an unknown protein',
    call: bulkCall([hash, ABSENT], false),
    statuses: ok,
    content: 'application/zip',
    examine: (_body, bytes) => sequencesDrifts(up, bytes, hash),
  });
  await put({
    name: 'bulk, unknown job',
    call: get('bulkJob', '/proteins/batch/jobs/00000000-0000-4000-8000-000000000000'),
    statuses: [404],
    answer: 'atlasError',
  });
  if (!light) {
    const over = await put({
      name: 'bulk, 501 hashes',
      call: bulkCall(unknownFields(501)),
      statuses: [422],
      answer: 'validationError',
    });
    limits.push({
      name: 'hashes in a bulk call',
      expected: 'at most 500',
      seen: over.status === 422 ? '501 refused' : `501 answered with HTTP ${over.status}`,
    });
  }
  return { checks, limits };
}
