// Atlas bulk lookup, its jobs, and similarity search, row by row of the spec. They are free and
// need no token.
import { createHash } from 'node:crypto';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  isJson,
  isOurs,
  type Json,
  listAt,
  numberAt,
  openTarget,
  patience,
  type Target,
  textAt,
} from './target.ts';

let target: Target;
beforeAll(async () => {
  target = await openTarget();
});
afterAll(() => target.close());

const bulk = (body: Json): Promise<Response> =>
  target.atlas('/proteins/batch', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Hashes that no protein has. */
const strangers = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => createHash('md5').update(`stranger ${number}`).digest('hex'));

async function readMembers(response: Response): Promise<Map<string, string>> {
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip']);
  const entries = Object.entries(unzipSync(new Uint8Array(await response.arrayBuffer())));
  return new Map(entries.map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]));
}

async function expectInvalid(response: Response): Promise<void> {
  expect(response.status).toBe(422);
  const [first] = listAt(await response.json(), 'detail');
  expect(first).toMatchObject({ loc: expect.any(Array), msg: expect.any(String), type: expect.any(String) });
}

describe('POST /proteins/batch', () => {
  test('a small lookup is a zip with a file for each type of data', async () => {
    const members = await readMembers(await bulk({ protein_hashes: [target.names.hash] }));
    expect([...members.keys()]).toEqual(
      expect.arrayContaining([
        `structures/${target.names.hash}.pdb`,
        'sequences.fasta',
        'features.json',
        'cluster_info.json',
      ]),
    );
    expect(members.get(`structures/${target.names.hash}.pdb`)).toMatch(/^ATOM/m);
    expect(members.get('sequences.fasta')).toContain(`>${target.names.hash}`);
  });
  test('each type of data is there only when it is asked for', async () => {
    const none = {
      include_structure: false,
      include_cluster_info: false,
      include_sequence: false,
      include_features: { protein_level: false, per_residue: false },
    };
    const only = async (more: Json) => [
      ...(await readMembers(await bulk({ protein_hashes: [target.names.hash], ...none, ...more }))).keys(),
    ];
    expect(await only({ include_sequence: true })).toEqual(['sequences.fasta']);
    expect(await only({ include_structure: true })).toEqual([`structures/${target.names.hash}.pdb`]);
    expect(await only({ include_cluster_info: true })).toEqual(['cluster_info.json']);
    const features = await readMembers(
      await bulk({
        protein_hashes: [target.names.hash],
        ...none,
        include_features: { protein_level: true, per_residue: false },
      }),
    );
    const parsed: unknown = JSON.parse(features.get('features.json') ?? '');
    const record = isJson(parsed) ? parsed[target.names.hash] : undefined;
    expect(isJson(record) && 'protein_level' in record).toBe(true);
    expect(isJson(record) && record.per_residue !== undefined && record.per_residue !== null).toBe(false);
  });
  test('duplicates are looked up once, unknown hashes are left out', async () => {
    const [stranger = ''] = strangers(1);
    const members = await readMembers(
      await bulk({
        protein_hashes: [...Array<string>(600).fill(target.names.hash), stranger],
        include_features: { protein_level: false, per_residue: false },
      }),
    );
    expect(members.get('sequences.fasta')?.match(/^>/gm)).toHaveLength(1);
  });
  test('more than 500 unique hashes, none at all, a malformed one, topk_features outside 1 to 100: 422', async () => {
    await expectInvalid(await bulk({ protein_hashes: strangers(501) }));
    await expectInvalid(await bulk({}));
    await expectInvalid(await bulk({ protein_hashes: ['nonsense'] }));
    for (const topk_features of [0, 101])
      await expectInvalid(await bulk({ protein_hashes: [target.names.hash], topk_features }));
  });
});

describe('/proteins/batch/jobs/{job_id}', patience, () => {
  /**
   * Asks for so much that a deployment makes a job of it; null when it answers at once all the
   * same.
   */
  async function startJob(): Promise<string | null> {
    const response = await bulk({ protein_hashes: [target.names.hash, ...strangers(499)] });
    expect([200, 202]).toContain(response.status);
    if (response.status === 202) return textAt(await response.json(), 'job_id');
    await response.arrayBuffer();
    return null;
  }
  const job = (id: string, method = 'GET') => target.atlas(`/proteins/batch/jobs/${id}`, { method });

  async function finished(id: string): Promise<Json> {
    for (let tries = 0; tries < 100; tries++) {
      const response = await job(id);
      expect([200, 202]).toContain(response.status);
      const body: unknown = await response.json();
      if (response.status === 200 && isJson(body)) return body;
      await target.wait(3000);
    }
    throw new Error('the job did not end in five minutes');
  }

  test('pending is 202, complete 200 with a URL of the zip that needs no token', async () => {
    const id = await startJob();
    if (id === null) return;
    const members = await readMembers(await fetch(textAt(await finished(id), 'download_url')));
    expect([...members.keys()]).toContain(`structures/${target.names.hash}.pdb`);
  });
  test('DELETE is 204 without a body, also a second time; results that are there stay', async () => {
    const id = await startJob();
    if (id === null) return;
    await finished(id);
    for (let time = 0; time < 2; time++) {
      const response = await job(id, 'DELETE');
      expect([response.status, await response.text()]).toEqual([204, '']);
    }
    const after = await job(id);
    expect(after.status).toBe(200);
    expect((await fetch(textAt(await after.json(), 'download_url'))).status).toBe(200);
  });
  test('an unknown job is 404', async () => {
    for (const method of ['GET', 'DELETE'])
      expect((await job('00000000-0000-4000-8000-000000000000', method)).status).toBe(404);
  });
  test.skipIf(!isOurs)('an expired job is 410', async () => {
    const id = (await startJob()) ?? '';
    await finished(id);
    await target.wait(40 * 86_400_000);
    expect((await job(id)).status).toBe(410);
  });
});

describe('GET /similarity-search', () => {
  let sequence: string;
  beforeAll(async () => {
    sequence = textAt(
      await (await target.atlas(`/proteins/${target.names.hash}?fold_on_miss=false`)).json(),
      'sequence',
    );
  });
  const search = async (query: Record<string, string>): Promise<Json[]> => {
    const response = await target.atlas(`/similarity-search?${new URLSearchParams({ sequence, ...query })}`);
    expect(response.status).toBe(200);
    return listAt(await response.json(), 'similar_proteins');
  };

  test('hits, most similar first', async () => {
    const scores = (await search({})).map((hit) => numberAt(hit, 'similarity_score'));
    expect(scores.length).toBeGreaterThan(0);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });
  test('topk_results, min_similarity', async () => {
    expect(await search({ topk_results: '2' })).toHaveLength(2);
    const [, second] = await search({ topk_results: '2' });
    const floor = numberAt(second, 'similarity_score');
    for (const hit of await search({ min_similarity: String(floor) }))
      expect(numberAt(hit, 'similarity_score')).toBeGreaterThanOrEqual(floor);
  });
  test('include_cluster_info adds the size of the cluster and the name', async () => {
    const [hit] = await search({ topk_results: '1', include_cluster_info: 'true' });
    expect(hit).toHaveProperty('cluster_size');
    expect(hit).toHaveProperty('protein_name');
  });
  test('cluster_pct_characterized_max: 0 finds only clusters without characterised annotations', async () => {
    const hits = await search({ cluster_pct_characterized_max: '0', topk_results: '3' });
    expect(hits.length).toBeGreaterThan(0);
    for (const hit of hits) {
      const hash = textAt(hit, 'protein_hash');
      const record: unknown = await (await target.atlas(`/proteins/${hash}?fold_on_miss=false`)).json();
      const of =
        isJson(record) && typeof record.cluster_rep_protein_hash === 'string'
          ? record.cluster_rep_protein_hash
          : hash;
      const cluster = await target.atlas(`/clusters/${of}`);
      expect(numberAt(await cluster.json(), 'cluster_pct_characterized')).toBe(0);
    }
  });
  test('is 422 without a sequence, or with a number that is none', async () => {
    await expectInvalid(await target.atlas('/similarity-search'));
    await expectInvalid(await target.atlas('/similarity-search?sequence=MK&topk_results=many'));
  });
});
