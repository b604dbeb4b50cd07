// The doctor's questions to the Atlas: every operation that costs nothing, about proteins that everybody has. It must not know
// how answers are compared or shown.
import type { Drift } from '../upstream/contract/compare.ts';
import type { Call, Upstream } from '../upstream/http.ts';
import { archiveDrifts } from './archive.ts';
import { type Asked, ask, type Question, skipped } from './ask.ts';
import type { Check, Measured } from './report.ts';

/** Well-known proteins: a hash, its accession and its sequence, the shortest that do. */
const KNOWN = [
  {
    hash: '12e9c9e4e2835c302e8ba615115edda3',
    accession: 'P01308',
    sequence:
      'MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQKRGIVEQCCTSICSLYQLENYCN',
  },
] as const;

const ABSENT = '00000000000000000000000000000000';
const FEATURE = 7;

/** What to leave out: `light` asks only for what is small. */
export interface AtlasOptions {
  readonly light: boolean;
}

export interface Part {
  readonly checks: Check[];
  readonly limits: Measured[];
}

type Fields = Record<string, unknown>;
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const get = (operation: string, path: string, more: Partial<Call> = {}): Question['call'] => ({
  operation,
  api: 'atlas',
  method: 'GET',
  path,
  ...more,
});

export const bulkCall = (hashes: readonly string[]): Question['call'] => ({
  operation: 'bulk',
  api: 'atlas',
  method: 'POST',
  path: '/proteins/batch',
  accept: 'application/zip, application/json',
  body: {
    protein_hashes: hashes,
    topk_features: 3,
    include_structure: true,
    include_cluster_info: true,
    include_sequence: true,
    include_features: { protein_level: true, per_residue: true },
  },
});

/** Hashes that no protein has. */
export const strangers = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => number.toString(16).padStart(32, '0'));

const immutable = (headers: Asked['headers']): Drift[] =>
  String(headers['cache-control'] ?? '').includes('immutable')
    ? []
    : [{ kind: 'added', path: 'cache-control', expected: 'immutable', seen: 'no such promise' }];

const protein = (hash: string) =>
  get('protein', `/proteins/${hash}`, {
    query: { topk_features: 3, fold_on_miss: false, normalize_features: true },
  });

/** Asks everything of the Atlas. */
export async function examineAtlas(up: Upstream, { light }: AtlasOptions): Promise<Part> {
  const checks: Check[] = [];
  const limits: Measured[] = [];
  const put = async (question: Question): Promise<Asked> => {
    const asked = await ask(up, question);
    checks.push(asked.check);
    return asked;
  };
  const ok = [200];

  if (light) checks.push(skipped('features', 'features', 'read by the gateway itself'));
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
    call: get('similarity', '/similarity-search', {
      query: { sequence: known.sequence, topk_results: 2, topk_features: 3, include_cluster_info: true },
    }),
    statuses: ok,
    answer: 'similarity',
  });
  // A deployment that does not hold the known protein holds those that are like it.
  const hits: unknown = fieldsOf(found.body).similar_proteins;
  const [hit] = Array.isArray(hits) ? hits.map((one) => fieldsOf(one).protein_hash) : [];
  const other = typeof hit === 'string' && hit !== known.hash ? hit : undefined;
  let hash: string = known.hash;
  let single = await ask(up, { name: 'protein', call: protein(hash), statuses: ok, answer: 'protein' });
  if (single.status === 404 && other !== undefined) {
    hash = other;
    single = await ask(up, { name: 'protein', call: protein(hash), statuses: ok, answer: 'protein' });
  }
  checks.push(single.check);
  await put({ name: 'protein, unknown hash', call: protein(ABSENT), statuses: [404], answer: 'atlasError' });
  await put({
    name: 'protein, no hash',
    call: protein('no-hash'),
    statuses: [422],
    answer: 'validationError',
  });

  const representative = fieldsOf(single.body).cluster_rep_protein_hash;
  await put({
    name: 'cluster',
    call: get('cluster', `/clusters/${typeof representative === 'string' ? representative : hash}`, {
      query: { topk_features: 3 },
    }),
    statuses: ok,
    answer: 'cluster',
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
      examine: (_body, _bytes, headers) => immutable(headers),
    });
  }
  await put({
    name: 'uniprot',
    call: get('uniprot', `/uniprot/${known.accession}`),
    statuses: ok,
    answer: 'uniprot',
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
    examine: (_body, bytes) => archiveDrifts(up, bytes),
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
      call: bulkCall(strangers(501)),
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
