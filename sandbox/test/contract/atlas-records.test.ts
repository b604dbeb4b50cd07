// Atlas lookups of single records, row by row of the spec's table: features, proteins, clusters,
// thumbnails, knowledge base. They are free and need no token.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJson, type Json, listAt, numberAt, objectAt, openTarget, type Target, textAt } from './target.ts';

let target: Target;
/** The known protein with its top features. */
let protein: Json;
let representative: string;
const absent = '00000000000000000000000000000000';

async function get(path: string, wanted = 200): Promise<unknown> {
  const response = await target.atlas(path);
  expect([path, response.status]).toEqual([path, wanted]);
  return response.json();
}

/** 422: `detail` is a list of `{loc, msg, type}`. */
async function expectInvalid(path: string, where: string): Promise<void> {
  const [first] = listAt(await get(path, 422), 'detail');
  expect(first).toMatchObject({ loc: expect.any(Array), msg: expect.any(String), type: expect.any(String) });
  expect(JSON.stringify(first?.loc)).toContain(where);
}

beforeAll(async () => {
  target = await openTarget();
  const body = await get(`/proteins/${target.names.hash}?fold_on_miss=false`);
  if (!isJson(body)) throw new Error('the known protein is no object');
  protein = body;
  representative =
    typeof body.cluster_rep_protein_hash === 'string' ? body.cluster_rep_protein_hash : target.names.hash;
});
afterAll(() => target.close());

describe('GET /features and /features/{feature_index}', () => {
  test('the whole catalogue, each with index, label and description', async () => {
    const body = await get('/features');
    const features = Array.isArray(body) ? body.filter(isJson) : listAt(body, 'data');
    expect(features.length).toBeGreaterThan(1000);
    for (const feature of features) {
      if (typeof feature.label !== 'string' || typeof feature.description !== 'string')
        throw new Error('a text is missing');
    }
    expect(new Set(features.map(({ feature_index }) => feature_index)).size).toBe(features.length);
  });
  test('the detail of one', async () => {
    const detail = await get('/features/7');
    expect(detail).toMatchObject({
      feature_index: 7,
      label: expect.any(String),
      description: expect.any(String),
    });
    expect(Array.isArray(isJson(detail) && detail.decoder_nearest_neighbors)).toBe(true);
  });
  test('an index that is no integer is 422, one outside of the catalogue 404', async () => {
    await expectInvalid('/features/seven', 'feature_index');
    await get('/features/99999999', 404);
  });
});

describe('GET /proteins/{protein_hash}', () => {
  const listTop = (body: unknown): Json[] => listAt(body, 'sae_features');
  const listIndices = (body: unknown): number[] =>
    listTop(body).map((feature) => numberAt(feature, 'feature_index'));
  const path = (query: string) => `/proteins/${target.names.hash}?fold_on_miss=false&${query}`;

  test('metadata, sequence and top features, strongest first', () => {
    expect(protein).toMatchObject({
      protein_hash: target.names.hash,
      sequence: expect.stringMatching(/^[A-Z]+$/),
    });
    const values = listTop(protein).map((feature) => numberAt(feature, 'value'));
    expect(values.length).toBeGreaterThan(0);
    expect(values).toEqual([...values].sort((a, b) => b - a));
  });
  test('topk_features says how many', async () => {
    expect(listTop(await get(path('topk_features=3')))).toHaveLength(3);
    await expectInvalid(path('topk_features=many'), 'topk_features');
  });
  test('normalised values differ from raw ones, true is the default', async () => {
    const [index] = listIndices(protein);
    const firstValue = async (query: string) =>
      listTop(await get(path(`feature_indices=${index}${query}`)))[0]?.value;
    expect(await firstValue('')).toBe(await firstValue('&normalize_features=true'));
    expect(await firstValue('&normalize_features=false')).not.toBe(await firstValue(''));
  });
  test('feature_indices: exactly these in this order, 0.0 where nothing is recorded, unknown ones skipped', async () => {
    const [first = 0, second = 0] = listIndices(protein);
    const recorded = new Set(listIndices(await get(path('topk_features=100'))));
    const silent =
      Array.from({ length: 500 }, (_, index) => index).find((index) => !recorded.has(index)) ?? 0;
    const body = await get(
      path(
        `feature_indices=${second}&feature_indices=99999999&feature_indices=${silent}&feature_indices=${first}`,
      ),
    );
    expect(listIndices(body)).toEqual([second, silent, first]);
    expect(listTop(body)[0]?.value).not.toBe(0);
  });
  test('feature_indices: at most 100; what is over is cut off or refused', async () => {
    const first = (count: number) => Array.from({ length: count }, (_, index) => index);
    const asked = (count: number) =>
      path(
        first(count)
          .map((index) => `feature_indices=${index}`)
          .join('&'),
      );
    expect(listIndices(await get(asked(100)))).toEqual(first(100));
    const over = await target.atlas(asked(101));
    expect([200, 422]).toContain(over.status);
    if (over.status === 200) expect(listIndices(await over.json())).toEqual(first(100));
  });
  test('an unknown protein is 404', async () => {
    await get(`/proteins/${absent}?fold_on_miss=false`, 404);
  });
});

describe('GET /clusters/{protein_hash}', () => {
  test('the record of a representative', async () => {
    const cluster = await get(`/clusters/${representative}`);
    expect(cluster).toMatchObject({
      protein_hash: representative,
      cluster_size: expect.any(Number),
      cluster_pct_characterized: expect.any(Number),
      cluster_mean_domain_coverage: expect.any(Number),
      protein_name: expect.any(String),
      source: expect.any(String),
      accession: expect.any(String),
      cluster_taxonomy_info: { rank: expect.any(String), name: expect.any(String) },
    });
    objectAt(cluster, 'cluster_top_pfam_domains');
    objectAt(cluster, 'top_phyla');
    const members =
      isJson(cluster) && Array.isArray(cluster.member_protein_hashes) ? cluster.member_protein_hashes : [];
    expect(members).toHaveLength(numberAt(cluster, 'cluster_size'));
    expect(members).toContain(target.names.hash);
  });
  test('topk_features is 1 to 100', async () => {
    const features = async (count: number) =>
      listAt(
        await get(`/clusters/${representative}?topk_features=${count}`),
        'cluster_representative_features',
      );
    expect(await features(1)).toHaveLength(1);
    expect((await features(100)).length).toBeGreaterThan(1);
    for (const count of ['0', '101', 'x'])
      await expectInvalid(`/clusters/${representative}?topk_features=${count}`, 'topk_features');
  });
  test('a hash that is none is 422, one that represents nothing 404', async () => {
    for (const hash of ['abc', representative.toUpperCase(), `${representative}0`])
      await expectInvalid(`/clusters/${hash}`, 'protein_hash');
    await get(`/clusters/${absent}`, 404);
  });
});

describe('GET /proteins/{protein_hash}/thumbnail/{thumbnail_type}', () => {
  test.each(['plddt', 'pct-characterized'])('%s: a PNG, immutable for a year', async (type) => {
    const response = await target.atlas(`/proteins/${target.names.hash}/thumbnail/${type}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('cache-control')).toMatch(/immutable/);
    expect(response.headers.get('cache-control')).toMatch(/max-age=31536000/);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect([...bytes.slice(0, 8)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  });
  test('an entity tag, where there is one, spares the body', async () => {
    const path = `/proteins/${target.names.hash}/thumbnail/plddt`;
    const first = await target.atlas(path);
    await first.arrayBuffer();
    const etag = first.headers.get('etag');
    const again = await target.atlas(path, etag === null ? {} : { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(etag === null ? 200 : 304);
    await again.arrayBuffer();
  });
  test('an unknown type is 422', async () => {
    await expectInvalid(`/proteins/${target.names.hash}/thumbnail/cartoon`, 'thumbnail_type');
  });
});

describe('GET /uniprot/{uniprot_id}', () => {
  test('finds an entry by accession and by entry name, with the hash of its sequence', async () => {
    const record = await get(`/uniprot/${target.names.accession}`);
    expect(record).toMatchObject({
      accession: target.names.accession,
      sequence: expect.any(String),
      organism: expect.any(String),
    });
    expect(textAt(record, 'protein_hash')).toMatch(/^[0-9a-f]{32}$/);
    expect(await get(`/uniprot/${target.names.entryName}`)).toEqual(record);
  });
  test('an accession of another namespace is 400', async () => {
    await get('/uniprot/UPI000012E7C6', 400);
  });
  test('an unknown accession is 404', async () => {
    await get('/uniprot/Q0Q0Q0', 404);
  });
});
