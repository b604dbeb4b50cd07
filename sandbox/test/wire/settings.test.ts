// A sandbox whose every setting of the wire is another one: clients that are told the same work on
// it, bad settings are refused.
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, openWorld, type World } from '../../../test/support.ts';
import { readEnvironment } from '../../src/environment.ts';
import { startSandbox } from '../../src/sandbox.ts';
import type { WireOptions } from '../../src/wire/settings.ts';
import { fold, HOUR, isJson, type Json, startHeld } from '../batch/harness.ts';

const ACTIN = 'efebacde779fb9ede77f2039ec6cfe09';
const wire: WireOptions = {
  batchPrefix: '/v2/jobs',
  atlasPrefix: '/esm/protein/api/v1alpha1',
  models: ['other-model', 'other-model-2'],
  listLimitField: 'page_size',
  listCursorField: 'after',
  listItemsField: 'tasks',
  listTaskIdField: 'id',
  errorText: 'detail',
  zipDescriptors: true,
  jobThreshold: 1,
};

describe('a sandbox with other names and forms', () => {
  let held: Awaited<ReturnType<typeof startHeld>>;
  const post = async (path: string, body: unknown): Promise<{ status: number; body: Json }> => {
    const response = await fetch(held.url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const json: unknown = await response.json();
    return { status: response.status, body: isJson(json) ? json : {} };
  };
  const submit = (model: string, length = 1) =>
    post('/v2/jobs/submit', {
      endpoint: 'fold_max_accuracy',
      payload: Array.from({ length }, () => ({ ...fold(), model })),
    });

  beforeAll(async () => {
    held = await startHeld({ wire });
  });
  afterAll(() => held.sandbox.close());

  it('has its operations under its prefixes, and none under the usual ones', async () => {
    expect((await fetch(`${held.url}/esm/protein/api/v1alpha1/proteins/${ACTIN}`)).status).toBe(200);
    const elsewhere = await fetch(`${held.url}/atlas/protein/api/v1alpha1/proteins/${ACTIN}`);
    expect(elsewhere.status).toBe(404);
    expect((await post('/api/v1/batch/submit', {})).status).toBe(404);
    expect((await submit('other-model-2')).status).toBe(200);
  });

  it('takes its models only, and tells so where its refusals have their text', async () => {
    const { status, body } = await submit('foldmodel2-2026-05-cutoff-2025');
    expect(status).toBe(400);
    expect(body).toEqual({
      status: 'error',
      detail: expect.stringContaining('"other-model", "other-model-2"'),
      request_id: expect.any(String),
    });
  });

  it('names page size, cursor, items and task ids as it was told', async () => {
    const submitted = await submit('other-model', 3);
    const batch_id = at(submitted.body, 'data.batch_id');
    held.clock.advance(HOUR);
    const first = await post('/v2/jobs/list', { batch_id, include_responses: true, page_size: 2 });
    expect(first.body.data).toMatchObject({
      tasks: [{ id: `${batch_id}-00000` }, { id: `${batch_id}-00001` }],
    });
    const after = at(first.body, 'data.cursor');
    const next = await post('/v2/jobs/list', { batch_id, include_responses: true, page_size: 2, after });
    expect(next.body.data).toMatchObject({ tasks: [{ id: `${batch_id}-00002` }], cursor: null });
    expect(await post('/v2/jobs/list', { batch_id, limit: 2 })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('limit') },
    });
  });

  it('makes jobs of what is over its threshold, and writes the sizes of members behind them', async () => {
    const batch = '/esm/protein/api/v1alpha1/proteins/batch';
    const body = { include_features: false, include_cluster_info: false };
    const two = await post(batch, { ...body, protein_hashes: [ACTIN, '0'.repeat(32)] });
    expect(two).toMatchObject({ status: 202, body: { status: 'pending' } });
    expect(String(two.body.poll_url)).toMatch(/^\/esm\/protein\/api\/v1alpha1\/proteins\/batch\/jobs\//);
    const one = await fetch(held.url + batch, {
      method: 'POST',
      body: JSON.stringify({ ...body, protein_hashes: [ACTIN] }),
    });
    expect(one.status).toBe(200);
    const zip = new Uint8Array(await one.arrayBuffer());
    // Bit 3 of the flags, and no size, in the first local header.
    expect([zip[6], ...zip.subarray(18, 26)]).toEqual([8, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(Object.keys(unzipSync(zip))).toEqual([`structures/${ACTIN}.pdb`, 'sequences.fasta']);
  });
});

describe('a gateway that is told its prefixes, models and fields', () => {
  let world: World;
  beforeAll(async () => {
    const { listItemsField: _, listTaskIdField: __, ...told } = wire;
    world = await openWorld(
      {
        UPSTREAM_BATCH_PREFIX: '/v2/jobs',
        UPSTREAM_ATLAS_PREFIX: '/esm/protein/api/v1alpha1',
        UPSTREAM_LIST_FIELDS: 'page_size, after',
        FOLD_MODELS: 'other-model',
      },
      { wire: told, speed: 1e6 },
    );
  });
  afterAll(() => world.close());

  it('reads proteins, follows a job and reads members with their sizes behind them', async () => {
    const { data, errors } = await world.query(
      '{ proteins(hashes: ["efebacde779fb9ede77f2039ec6cfe09", "00000000000000000000000000000000"]) { accession structure { text } } }',
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'proteins.0.accession')).toBe('P62736');
    expect(at(data, 'proteins.1')).toBeNull();
    expect(at(data, 'proteins.0.structure.text')).toContain('ATOM');
    expect(world.counts()).toMatchObject({ bulk: 1, download: 1 });
  });

  it('submits and lists', async () => {
    const headers = { authorization: 'Bearer key' };
    const { data } = await world.query(
      `mutation { submitFold(input: { items: [{ chains: [{ protein: { sequence: "MKV" } }] }], repeat: 3 }) {
        __typename ... on FoldSubmitted { batch { batchId tasks(first: 2) { nodes { taskId } pageInfo { hasNextPage } } } } } }`,
      {},
      headers,
    );
    expect(data).toMatchObject({
      submitFold: { batch: { tasks: { nodes: [{}, {}], pageInfo: { hasNextPage: true } } } },
    });
  });
});

describe('settings that do not go together', () => {
  it.each([
    [{ batchPrefix: 'api' }, /batchPrefix: must be a path/],
    [{ atlasPrefix: '/api/v1/batch/atlas' }, /atlasPrefix: must not lie below the Batch prefix/],
    [{ batchPrefix: '/control/batch' }, /batchPrefix: must not begin with \/control/],
    [{ models: [] }, /models: /],
    [{ listLimitField: 'cursor' }, /listCursorField: must differ from .*cursor/],
    [{ listCursorField: 'status' }, /listCursorField: must differ from/],
    [{ listItemsField: 'counts' }, /listItemsField: must differ from/],
    [{ listTaskIdField: 'two words' }, /listTaskIdField: must be the name/],
    [{ jobThreshold: 501 }, /jobThreshold: /],
  ] as [WireOptions, RegExp][])('%j are refused', async (wrong, message) => {
    await expect(startSandbox({ size: 'small', wire: wrong })).rejects.toThrow(message);
  });

  it('are refused in the environment by the names of their variables, all at once', () => {
    const { problems = [] } = readEnvironment({
      SANDBOX_BATCH_PREFIX: 'api',
      SANDBOX_MODELS: ' , ',
      SANDBOX_ERROR_TEXT: 'text',
      SANDBOX_JOB_THRESHOLD: 'many',
      SANDBOX_DIALECT: 'plain',
    });
    expect(problems.join('\n')).toMatch(/SANDBOX_JOB_THRESHOLD/);
    const { problems: others = [] } = readEnvironment({
      SANDBOX_BATCH_PREFIX: 'api',
      SANDBOX_MODELS: ' , ',
      SANDBOX_ERROR_TEXT: 'text',
    });
    expect(others.map((problem) => problem.split(':')[0])).toEqual([
      'SANDBOX_BATCH_PREFIX',
      'SANDBOX_MODELS',
      'SANDBOX_ERROR_TEXT',
    ]);
  });

  it('are told from those that do, which are read', () => {
    expect(
      readEnvironment({
        SANDBOX_DIALECT: 'plain',
        SANDBOX_MODELS: 'a, b',
        SANDBOX_ZIP_DESCRIPTORS: '1',
        SANDBOX_JOB_THRESHOLD: '7',
      }),
    ).toMatchObject({
      options: { dialect: 'plain', wire: { models: ['a', 'b'], zipDescriptors: true, jobThreshold: 7 } },
    });
  });
});

it('tells names that are no setting', () => {
  expect(readEnvironment({ SANDBOX_SEEED: '1', SANDBOX_SIZE: 'small', SANDBOXED: '1' })).toMatchObject({
    warnings: ['SANDBOX_SEEED: there is no such setting, so it has no effect'],
  });
});
