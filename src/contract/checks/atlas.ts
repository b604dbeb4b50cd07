// The doctor's checks of the Atlas: every operation that costs nothing, with a well-known protein.

import { formOf } from '../../upstream/errors.ts';
import type { Call } from '../../upstream/http/upstream-client.ts';
import type { Drift } from '../compare.ts';
import { archiveDrifts, pngDrifts, sequencesDrifts } from './archive.ts';
import { fieldsOf, finding, type Probe, type Probes, skippedCheck } from './probe.ts';

const KNOWN = {
  hash: '12e9c9e4e2835c302e8ba615115edda3',
  accession: 'P01308',
  sequence:
    'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQP' +
    'LALEGSLQKRGIVEQCCTSICSLYQLENYCN',
};
const ABSENT = '00000000000000000000000000000000';
const FEATURE = 7;
/** `topk_features` of every call that has it. */
const TOP = 3;
/** `feature_indices`, unordered: one that is active in the known protein, and others. */
const INDICES = [185, 16_383, 7];
const HITS = 2;
const LEAST_SIMILARITY = 0.2;

const get = (operation: Call['operation'], path: string, more: Partial<Call> = {}): Probe['call'] => ({
  operation,
  api: 'atlas',
  method: 'GET',
  path,
  ...more,
});

/** A bulk call. @param all - with all options; otherwise with sequences only */
const bulkCall = (hashes: readonly string[], all = true): Probe['call'] => ({
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

const unknownHashes = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => number.toString(16).padStart(32, '0'));

const immutable = (cacheControl: unknown): Drift[] =>
  String(cacheControl ?? '').includes('immutable')
    ? []
    : [{ kind: 'added', path: 'cache-control', expected: 'immutable', seen: 'no such promise' }];

const protein = (hash: string, more: Call['query'] = {}) =>
  get('protein', `/proteins/${hash}`, {
    query: { topk_features: TOP, fold_on_miss: false, normalize_features: true, ...more },
  });

const { sequence } = KNOWN;
const ASKED = { sequence, hash: KNOWN.hash };
const search = (more: Call['query'] = {}) =>
  get('similarity', '/similarity-search', {
    query: { sequence, topk_results: HITS, topk_features: TOP, include_cluster_info: true, ...more },
  });

/** A server without the route answers so. */
const NO_ROUTE = { kind: 'status', path: 'HTTP status', expected: '200', seen: '404' } as const;

/** Runs all checks of the Atlas. @param light - leaves out large answers */
export async function checkAtlas(probes: Probes, light: boolean): Promise<void> {
  const { up, checks, limits, ask, keep, run, measure } = probes;
  const refuses = (name: string, call: Probe['call'], status: number) =>
    run({ name, call, statuses: [status], answer: status === 422 ? 'validationError' : 'atlasError' });

  if (light) checks.push(skippedCheck('features', 'features', 'read by the gateway itself'));
  else {
    const { body } = await run({ name: 'features', call: get('features', '/features') });
    const rows = Array.isArray(body) ? body : fieldsOf(body).data;
    if (Array.isArray(rows))
      limits.push({ name: 'features in the catalogue', expected: '16384', seen: String(rows.length) });
  }
  await run({ name: 'feature', call: get('feature', `/features/${FEATURE}`), asked: { index: FEATURE } });
  await refuses('feature, unknown index', get('feature', '/features/99999999'), 404);

  const found = await run({ name: 'similarity', call: search(), asked: { ...ASKED, total: HITS } });
  await run({
    name: 'similarity, filtered',
    call: search({ min_similarity: LEAST_SIMILARITY, cluster_pct_characterized_max: 100 }),
    asked: { ...ASKED, total: HITS, minSimilarity: LEAST_SIMILARITY },
  });
  // A deployment without the known protein has similar ones.
  const hits: unknown = fieldsOf(found.body).similar_proteins;
  const [hit] = Array.isArray(hits) ? hits.map((one) => fieldsOf(one).protein_hash) : [];
  let { hash } = KNOWN;
  const record = (name: string, more?: Call['query'], asked: Probe['asked'] = { hash, top: TOP }): Probe => {
    return { name, call: protein(hash, more), asked };
  };
  let single = await ask(record('protein'));
  if (single.check.http === 404 && typeof hit === 'string' && hit !== hash) {
    hash = hit;
    single = await ask(record('protein'));
  }
  keep(single);
  const chosen = { feature_indices: INDICES, normalize_features: false };
  await run(record('protein, chosen raw features', chosen, { hash, indices: INDICES }));
  // It has its structure already, so nothing is folded.
  if (!light) await run(record('protein, fold on miss', { fold_on_miss: true }));
  await refuses('protein, unknown hash', protein(ABSENT), 404);
  await refuses('protein, no hash', protein('no-hash'), 422);

  const link = fieldsOf(single.body).cluster_rep_protein_hash;
  const representative = typeof link === 'string' ? link : hash;
  await run({
    name: 'cluster',
    call: get('cluster', `/clusters/${representative}`, { query: { topk_features: TOP } }),
    // A protein that names no cluster represents one, or belongs to none.
    statuses: typeof link === 'string' ? [200] : [200, 404],
    asked: { hash: representative, top: TOP },
    examine: (body) => (formOf(body) === 'bare' ? [NO_ROUTE] : []),
  });
  for (const type of ['plddt', 'pct-characterized']) {
    const word = encodeURIComponent(up.settings.thumbnailTypes?.[type] ?? type);
    await run({
      name: `thumbnail, ${type}`,
      call: get('thumbnail', `/proteins/${hash}/thumbnail/${word}`, { accept: 'image/png' }),
      content: 'image/png',
      examine: (_body, bytes, headers) => [...pngDrifts(bytes), ...immutable(headers['cache-control'])],
    });
  }
  const { accession } = KNOWN;
  const uniprot = get('uniprot', `/uniprot/${accession}`);
  await run({ name: 'uniprot', call: uniprot, asked: { accession } });
  await refuses('uniprot, other namespace', get('uniprot', '/uniprot/ENSG00000139618'), 400);
  await run({
    name: 'bulk',
    call: bulkCall([hash]),
    content: 'application/zip',
    examine: (_body, bytes) => archiveDrifts(up, bytes, hash),
  });
  await run({
    name: 'bulk, sequences of a known and an unknown protein',
    call: bulkCall([hash, ABSENT], false),
    content: 'application/zip',
    examine: (_body, bytes) => sequencesDrifts(up, bytes, hash),
  });
  const unknownJob = get('bulkJob', '/proteins/batch/jobs/00000000-0000-4000-8000-000000000000');
  await refuses('bulk, unknown job', unknownJob, 404);
  if (!light)
    measure(
      'hashes in a bulk call',
      500,
      await refuses('bulk, 501 hashes', bulkCall(unknownHashes(501)), 422),
    );
}

/** A bulk job of 500 hashes, one of them a protein, to its archive and a Cancel. Free, but slow. */
export async function checkJob({ up, checks, poll, run, download }: Probes): Promise<void> {
  const sent = await run({
    name: 'job',
    call: bulkCall([KNOWN.hash, ...unknownHashes(499)]),
    statuses: [202],
    answer: 'bulkJob',
  });
  const { job_id: id } = fieldsOf(sent.body);
  if (typeof id !== 'string') return;
  const call = get('bulkJob', `/proteins/batch/jobs/${encodeURIComponent(id)}`);
  const progress: Probe = { name: 'job, progress', call, statuses: [200, 202] };
  const job = await poll(progress, ({ check }) => check.http === 202, 'waiting for the bulk job');
  const url = fieldsOf(job.body).download_url;
  const name = 'job, archive';
  if (typeof url === 'string')
    await download(name, 'archive', url, (bytes) => archiveDrifts(up, bytes, KNOWN.hash));
  else {
    const hasEnded = job.check.http === 200;
    const note = 'the job has not ended with an archive';
    const path = 'download_url';
    const lost = { kind: 'missing', path, expected: 'an address', seen: 'missing', loses: path } as const;
    const archive = skippedCheck(name, 'download', note, hasEnded ? 'CHANGED' : 'UNREACHABLE');
    checks.push({ ...archive, findings: hasEnded ? [finding('bulkJob', lost)] : [] });
  }
  await run({
    name: 'job, cancel',
    call: { ...call, operation: 'bulkJobDelete', method: 'DELETE' },
    statuses: [204],
    content: '',
  });
}
