// A service that keeps to the specification and to none of the sandbox's habits: how it writes
// times and states, what it leaves out, and what it must not leave out.
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/package.ts';
import { parseTime } from '../../src/upstream/wire-values.ts';
import { at } from '../support.ts';
import { HASH, inTurn, openLyingPlace, openPlace, type Script, SEQUENCE, says, sends } from './liar.ts';

const { liar, place } = await openLyingPlace();

const data = (fields: Record<string, unknown>, status = 200) =>
  says(status, { status: 'success', data: fields, request_id: 'r' });

describe('times', () => {
  it.each([
    ['2026-11-22T10:00:00', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22 10:00:00.123456', '2026-11-22T10:00:00.123Z'],
    ['2026-11-22T10:00', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22T10:00:00.5+02:00', '2026-11-22T08:00:00.500Z'],
    ['2026-11-22 10:00:00+00', '2026-11-22T10:00:00.000Z'],
    ['Sun, 22 Nov 2026 10:00:00 GMT', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  ])('%s is %s, wherever the gateway runs', (text, expected) => {
    const zone = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      expect(parseTime(text)?.toISOString()).toBe(expected);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it.each(['soon', '', '1'.repeat(100), ':11.1'.repeat(5000)])('%s is none', (text) =>
    expect(parseTime(text)).toBeNull());
});

describe('state words', () => {
  it('are read in any case, and `canceled` is cancelled', async () => {
    const counts = { Done: 1, CANCELED: 2, In_Progress: 3 };
    liar.script('list', data({ batch_id: 'b1', status: 'CANCELED', counts, cursor: null }));
    liar.script('status', data({ status: 'Queued' }));
    const query = `{ batch(batchId: "b1") { status counts { total done cancelled inProgress } } task(taskId: "b1-00000") { status } }`;
    expect((await place.query(query)).data).toEqual({
      batch: { status: 'CANCELLED', counts: { total: 6, done: 1, cancelled: 2, inProgress: 3 } },
      task: { status: 'QUEUED' },
    });
  });

  it('stay UNKNOWN when no one knows them, in the total', async () => {
    liar.script('list', data({ status: 'Paused', counts: { Paused: 2, done: 1 } }));
    const query = '{ batch(batchId: "b1") { status counts { total done } } }';
    expect(at((await place.query(query)).data, 'batch')).toEqual({
      status: 'UNKNOWN',
      counts: { total: 3, done: 1 },
    });
  });
});

describe('every call', () => {
  it('names product and version', async () => {
    liar.script('status', data({ status: 'done', response: '/files/result.json' }));
    liar.script('file', says(200, { ptm: 0.5, complex: {} }));
    await place.query(`{ uniprotEntry(id: "P01308") { name } protein(hash: "${HASH}") { sequence }
      features(first: 1) { nodes { label } } task(taskId: "b1-00000") { result { ptm } } batch(batchId: "b1") { status } }`);
    await place.get(`/thumbnails/${HASH}/plddt.png`);
    await place.get('/ready');
    expect(liar.seen.length).toBeGreaterThan(6);
    for (const { operation, headers } of liar.seen)
      expect([operation, headers['user-agent']]).toEqual([operation, `FoldAtlas/${VERSION}`]);
  });
});

describe('what the service ranks', () => {
  it('is answered best first, in whatever order it comes', async () => {
    const hit = (similarity_score: number) => ({
      protein_hash: String(10 * similarity_score).repeat(32),
      similarity_score,
    });
    const similar_proteins = [hit(0.2), hit(0.9), hit(0.5)];
    liar.script('similarity', says(200, { restricted_count: 0, similar_proteins }));
    const exemplars = [1, 9, 5].map((activation) => ({ uniprot_id: `P0000${activation}`, activation }));
    liar.script('feature', says(200, { feature_index: 7, top_swissprot_activations: exemplars }));
    const { data } = await place.query(`{
      similarProteins(sequence: "${SEQUENCE}", first: 2) { hits { score } }
      feature(index: 7) { topProteins(first: 2) { accession } }
    }`);
    expect(data).toEqual({
      similarProteins: { hits: [{ score: 0.9 }, { score: 0.5 }] },
      feature: { topProteins: [{ accession: 'P00009' }, { accession: 'P00005' }] },
    });
  });

  it('has entries of UniProt where it names one, and none for names of other databases', async () => {
    const names = ['UniRef90_P01308', 'UniRef50_UPI0000000001', 'UPI0000000002', 'MGYP000261684433'];
    const top_100_uniref_ids = names.map((uniref_id) => ({ uniref_id, activation: 1 }));
    liar.script('feature', says(200, { feature_index: 7, top_100_uniref_ids }));
    const { data, errors } = await place.query(
      '{ feature(index: 7) { topProteins(database: UNIREF90) { uniprotEntry { name } } } }',
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'feature.topProteins')).toEqual([
      { uniprotEntry: { name: 'Insulin' } },
      ...[1, 2, 3].map(() => ({ uniprotEntry: null })),
    ]);
  });
});

describe('a protein', () => {
  it.each([
    'uniprotkb',
    'UniProtKB/Swiss-Prot',
    'sp',
    null,
  ])('has its names where it is of UniProt, which the service calls %s', async (source) => {
    liar.script(
      'protein',
      says(200, { protein_hash: HASH, sequence: SEQUENCE, accession: 'P01308', source }),
    );
    const query = `{ protein(hash: "${HASH}") { source name uniprotEntry { accession } } }`;
    expect((await place.query(query)).data).toEqual({
      protein: { source, name: 'Insulin', uniprotEntry: { accession: 'P01308' } },
    });
  });
});

describe('a page of List', () => {
  const item = (index: number, more: Record<string, unknown> = {}) => ({
    task_id: `b1-0000${index}`,
    status: 'done',
    response_available: true,
    ...more,
  });
  const page = (items: unknown, more: Record<string, unknown> = {}) =>
    data({ batch_id: 'b1', status: 'done', counts: { done: 3 }, items, cursor: null, ...more });
  const TASKS = `query($statuses: [TaskStatus!]) { batch(batchId: "b1") { counts { total }
    tasks(statuses: $statuses) { nodes { taskId status error { code message } } } } limits { maxItems } }`;

  it.each<[string, ReturnType<typeof says>]>([
    ['without items', data({ status: 'done', counts: { done: 3 }, tasks: [item(0)], cursor: null })],
    ['with items that are no list', page({ '0': item(0) })],
    ['with fewer items than its counts say', page([item(0)])],
    ['with more items than its counts say', page([0, 1, 2, 3].map((i) => item(i)))],
    ['with no items, by its counts three', page([])],
    ['whose cursor has another name', page([item(0), item(1)], { cursor: undefined, next_cursor: 'x' })],
    ['whose cursor is a number', page([item(0), item(1)], { cursor: 2 })],
    ['whose items have no state', page([0, 1, 2].map((i) => item(i, { status: undefined })))],
    ['whose items have no id', page([0, 1, 2].map((i) => item(i, { task_id: undefined, id: 'x' })))],
    ['whose items are texts', page(['a', 'b', 'c'])],
  ])('%s is drift, never an empty page', async (_, script) => {
    liar.script('list', script);
    for (const state of [undefined, 'DONE']) {
      const { data: answer, errors } = await place.query(TASKS, { statuses: state && [state] });
      expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
      // The counts stand, which need no items.
      expect(at(answer, 'batch')).toEqual({ counts: { total: 3 }, tasks: null });
      expect(at(answer, 'limits.maxItems')).toBe(2000);
    }
  });

  it.each([
    ['no id', { task_id: undefined }],
    ['no state', { status: null }],
    ['a state that is a number', { status: 4 }],
  ])('says so of one item that has %s, and gives the others', async (_, more) => {
    liar.script('list', page([item(0), item(1, more), item(2)]));
    const { data: answer, errors } = await place.query(TASKS);
    expect(errors).toBeUndefined();
    const status = 'task_id' in more ? 'DONE' : 'UNKNOWN';
    expect(at(answer, 'batch.tasks.nodes')).toMatchObject([
      { taskId: 'b1-00000', status: 'DONE', error: null },
      {
        taskId: 'b1-00001',
        status,
        error: { code: 'UPSTREAM_DRIFT', message: expect.stringMatching(/items\.1/) },
      },
      { taskId: 'b1-00002', status: 'DONE', error: null },
    ]);
  });

  it('is drift when it ends too early behind another one, for readers and watchers alike', async () => {
    liar.script('list', ({ body, response, request }) => {
      const asked = JSON.parse(body) as { cursor?: string };
      const script = asked.cursor === undefined ? page([item(0)], { cursor: 'x' }) : page([item(1)]);
      script({ body, response, request });
    });
    const { errors } = await place.query(TASKS);
    expect(errors?.[0]?.message).toMatch(/3 items by the counts, and 2 on the pages/);
  });

  it('says of the tasks of an expired batch that they have expired, without Status', async () => {
    const items = [0, 1, 2].map((index) => item(index, { response_available: undefined }));
    liar.script('list', page(items, { results_expire_at: '2026-01-01T00:00:00Z' }));
    const { data: answer } = await place.query(
      '{ batch(batchId: "b1") { tasks { nodes { status artifacts { name } } } best: tasks(orderBy: IPTM) { totalCount } } }',
    );
    expect(at(answer, 'batch.tasks.nodes')).toEqual(Array(3).fill({ status: 'EXPIRED', artifacts: [] }));
    expect(new Set(liar.seen.map(({ operation }) => operation))).toEqual(new Set(['list']));
  });
});

describe('a search', () => {
  it('gives no more hits than were asked for, however many the service sends', async () => {
    const hits = [0.9, 0.8, 0.7].map((similarity_score, i) => ({
      protein_hash: `${i}`.repeat(32),
      similarity_score,
    }));
    liar.script('similarity', says(200, { restricted_count: 0, similar_proteins: hits }));
    const query = `{ similarProteins(sequence: "${SEQUENCE}", first: 2) { hits { score } } }`;
    expect((await place.query(query)).data).toEqual({
      similarProteins: { hits: [{ score: 0.9 }, { score: 0.8 }] },
    });
  });
});

describe('a UniProt entry', () => {
  const ENTRY = `{ uniprotEntry(id: "P01308") { proteinHash protein { hash } } lookup(ids: ["P01308"]) { protein { hash } } }`;
  const answerTo = async (fields: Record<string, unknown>) => {
    // Entries are cached by a gateway for as long as a release.
    const own = openPlace(liar.url);
    const archive = zipSync({ 'sequences.fasta': strToU8(`>${HASH}|P01308|uniprotkb\n${SEQUENCE}\n`) });
    liar.script('bulk', sends(archive, { 'content-type': 'application/zip' }));
    liar.script('uniprot', says(200, { accession: 'P01308', ...fields }));
    const answer = await own.query(ENTRY);
    await own.gateway.close();
    return answer;
  };

  it.each([
    { protein_hash: '', sequence: SEQUENCE },
    { sequence: SEQUENCE },
    { protein_hash: HASH, sequence: '' },
  ])('has the protein that its hash or its sequence names where the other is empty: %o', async (fields) => {
    const protein = { hash: HASH };
    expect(await answerTo(fields)).toEqual({
      data: { uniprotEntry: { proteinHash: HASH, protein }, lookup: [{ protein }] },
    });
  });

  it.each([
    { protein_hash: '' },
    { protein_hash: '', sequence: '' },
    {},
  ])('is drift without both where its protein is asked for: %o', async (fields) => {
    const { data: answer, errors } = await answerTo(fields);
    expect(errors?.map(({ path, extensions }) => [path?.[0], extensions.code]).sort()).toEqual([
      ['lookup', 'UPSTREAM_DRIFT'],
      ['uniprotEntry', 'UPSTREAM_DRIFT'],
    ]);
    expect(at(answer, 'uniprotEntry')).toEqual({ proteinHash: null, protein: null });
  });

  it.each(['n/a', 'None', 'P01308'])('with %j for a hash is drift', async (protein_hash) => {
    const detail = [{ loc: ['body', 'protein_hashes'], msg: 'no MD5', type: 'x' }];
    liar.script('protein', says(422, { detail }));
    const { errors } = await answerTo({ protein_hash });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_DRIFT', 'UPSTREAM_DRIFT']);
  });

  it('has no protein where it says so', async () => {
    const { data: answer } = await answerTo({ protein_hash: null });
    expect(at(answer, 'uniprotEntry')).toEqual({ proteinHash: null, protein: null });
  });
});

describe('a cancellation', () => {
  const CANCEL = `mutation { batch: cancelBatch(batchId: "b1") { __typename ... on Cancelled { batch { status } } }
    task: cancelTask(taskId: "b1-00000") { __typename ... on Cancelled { task { status } } } }`;

  it.each<[string, Script]>([
    ['204 without a body', ({ response }) => void response.writeHead(204).end()],
    ['200 without a body', ({ response }) => void response.writeHead(200).end()],
    ['200 with null', says(200, null)],
    ['200 with a list of tasks', says(200, { status: 'success', data: [{ task_id: 'b1-00000' }] })],
    ['200 with a list and no envelope', says(200, ['b1-00000'])],
    ['200 with a word', says(200, '"cancelled"')],
  ])('answered %s is done: the specification shows no body', async (_, script) => {
    liar.script('cancel', script);
    liar.script('list', data({ status: 'cancelled', counts: { cancelled: 1 } }));
    liar.script('status', data({ status: 'cancelled' }));
    expect(await place.query(CANCEL)).toEqual({
      data: {
        batch: { __typename: 'Cancelled', batch: { status: 'CANCELLED' } },
        task: { __typename: 'Cancelled', task: { status: 'CANCELLED' } },
      },
    });
  });

  it.each([[[]], [{}], [null]])('answered 200 with an error and %j as its data is not', async (inside) => {
    liar.script('cancel', says(200, { status: 'error', message: 'not allowed', data: inside }));
    const { errors } = await place.query(CANCEL);
    expect(errors?.map(({ message }) => message)).toEqual(
      Array(2).fill(expect.stringContaining('not allowed')),
    );
  });

  it('counts nothing twice behind one that failed, and cancelled all the same', async () => {
    liar.script('cancel', inTurn(says(503, { message: 'away' }), data({})));
    const counts = (state: string) => data({ status: 'in_progress', counts: { [state]: 3 } });
    liar.script('list', inTurn(counts('queued'), counts('cancelled')));
    const count = 'cancelBatch(batchId: "b1") { ... on Cancelled { cancelledCount } }';
    const { data: answer } = await place.query(`mutation { first: ${count} again: ${count} }`);
    expect(answer).toEqual({ first: null, again: { cancelledCount: 0 } });
  });

  describe('whose answer does not tell how many it cancelled', () => {
    const counted = async (what: string): Promise<unknown> => {
      liar.script('cancel', data({}));
      const { data: answer, errors } = await place.query(
        `mutation { end: ${what} { ... on Cancelled { cancelledCount } } }`,
      );
      return errors?.[0]?.extensions.code ?? at(answer, 'end.cancelledCount');
    };
    const counts = (of: Record<string, number>) => data({ status: 'in_progress', counts: of });

    it.each([
      [{ queued: 3 }, { cancelled: 2, in_progress: 1 }, 2],
      [{ queued: 1, cancelled: 2 }, { cancelled: 3 }, 1],
      [{ queued: 3 }, { queued: 1, cancelled: 2 }, 'UPSTREAM_DRIFT'],
      [{ queued: 3, cancelled: 2 }, { cancelled: 1 }, 'UPSTREAM_DRIFT'],
    ])('is counted by %j before and %j after: %j', async (before, after, expected) => {
      liar.script('list', inTurn(counts(before), counts(after)));
      expect(await counted('cancelBatch(batchId: "b1")')).toBe(expected);
    });

    it('is counted by nothing when the batch is gone after it', async () => {
      liar.script('list', inTurn(counts({ queued: 1 }), says(404, { message: 'no such batch' })));
      expect(await counted('cancelBatch(batchId: "b1")')).toBe('UPSTREAM_DRIFT');
    });

    it.each([
      ['queued', 1],
      ['cancelled', 0],
      ['in_progress', 'UPSTREAM_DRIFT'],
      ['done', 'UPSTREAM_DRIFT'],
      ['paused', 'UPSTREAM_DRIFT'],
    ])('is counted by a task that was %s before: %j', async (status, expected) => {
      liar.script('status', data({ status }));
      expect(await counted('cancelTask(taskId: "b1-00000")')).toBe(expected);
    });
  });

  it('answered 200 with a page of a proxy is not', async () => {
    liar.script('cancel', says(200, '<html>Log in</html>'));
    const { errors } = await place.query(CANCEL);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_DRIFT', 'UPSTREAM_DRIFT']);
  });

  it.each<[string, Script, string]>([
    ['that fails', says(503, { message: 'away' }), 'UPSTREAM_UNAVAILABLE'],
    ['whose count cannot be read', data({}), 'UPSTREAM_DRIFT'],
  ])('%s leaves the batch that was submitted beside it, which is paid for', async (_, script, code) => {
    liar.script('cancel', script);
    liar.script('list', data({ status: 'in_progress', counts: { queued: 1 } }));
    const { data: answer, errors } = await place.query(`mutation {
      paid: submitFold(input: { items: [{ chains: [{ protein: { sequence: "GIV" } }] }] }) {
        ... on FoldSubmitted { batch { batchId } } }
      failed: cancelBatch(batchId: "b2") { ... on Cancelled { cancelledCount } } }`);
    expect(answer).toEqual({ paid: { batch: { batchId: 'b1' } }, failed: null });
    expect(errors?.map(({ path, extensions }) => [path?.[0], extensions.code])).toEqual([['failed', code]]);
  });
});

describe('Status of a task that is done', () => {
  const TASK = `{ task(taskId: "b1-00000") { status result { ptm resultUrl } scores { ptm } artifacts { name } }
    limits { maxItems } }`;

  it('answers EXPIRED for a task of which nothing else is known', async () => {
    const expired = { status: 'error', message: 'expired', results_expire_at: '2026-01-01T00:00:00' };
    liar.script('status', says(410, expired));
    expect(await place.query('{ task(taskId: "t9") { status resultsExpireAt } }')).toEqual({
      data: { task: { status: 'EXPIRED', resultsExpireAt: '2026-01-01T00:00:00.000Z' } },
    });
  });

  it('leaves an expired task the state that List gives, on whichever page', async () => {
    liar.script('status', says(410, { status: 'error', message: 'expired' }));
    const listed = (index: number, cursor: string | null) => {
      const items = [{ task_id: `b1-0000${index}`, status: 'done' }];
      const results_expire_at = '2026-01-01T00:00:00Z';
      return data({ status: 'done', counts: { done: 2 }, items, cursor, results_expire_at });
    };
    liar.script('list', inTurn(listed(1, 'x'), listed(0, null)));
    expect(await place.query('{ task(taskId: "b1-00000") { status resultsExpireAt } }')).toEqual({
      data: { task: { status: 'EXPIRED', resultsExpireAt: '2026-01-01T00:00:00.000Z' } },
    });
  });

  it('is drift where it brings no result', async () => {
    for (const fields of [{}, { response: null }, { result: '/files/x' }]) {
      liar.script('status', data({ status: 'done', ...fields }));
      const { data: answer, errors } = await place.query(TASK.replace('b1-', 'b2-'));
      expect(at(answer, 'task')).toMatchObject({
        status: 'DONE',
        result: null,
      });
      expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]).sort()).toEqual([
        ['task.result', 'UPSTREAM_DRIFT'],
        ['task.scores', 'UPSTREAM_DRIFT'],
      ]);
    }
    expect((await place.get('/tasks/b1-00000/result.json')).status).toBe(502);
  });

  it('is drift at the result where it brings none and List says nothing of it', async () => {
    const items = [{ task_id: 'b4-00000', status: 'done' }];
    liar.script('list', data({ status: 'done', counts: { done: 1 }, items, cursor: null }));
    liar.script('status', data({ status: 'done' }));
    const { data: answer, errors } = await place.query(
      '{ batch(batchId: "b4") { tasks { nodes { status result { ptm } } } } }',
    );
    expect(at(answer, 'batch.tasks.nodes')).toEqual([{ status: 'DONE', result: null }]);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_DRIFT']);
  });

  it('is drift at every field that needs the result where it brings none, although List says so', async () => {
    const items = [{ task_id: 'b3-00000', status: 'done', response_available: true }];
    liar.script('list', data({ status: 'done', counts: { done: 1 }, items, cursor: null }));
    liar.script('status', data({ status: 'done' }));
    const { errors } = await place.query(
      '{ batch(batchId: "b3") { tasks { nodes { scores { ptm } result { ptm iptm plddt { mean } model } } } } }',
    );
    const fields = ['result.iptm', 'result.model', 'result.plddt', 'result.ptm', 'scores'];
    expect(errors?.map(({ path, extensions }) => [path?.slice(4).join('.'), extensions.code]).sort()).toEqual(
      fields.map((field) => [field, 'UPSTREAM_DRIFT']),
    );
  });

  it.each([
    ['an object', { ptm: 0.5, complex: {} }],
    ['text', ' {"ptm": 0.5, "complex": {}} '],
  ])('is read where it brings the result itself, as %s', async (_, response) => {
    liar.script('status', data({ status: 'done', response }));
    const { data: answer, errors } = await place.query(TASK);
    expect(errors).toBeUndefined();
    expect(at(answer, 'task.result')).toMatchObject({
      ptm: 0.5,
      resultUrl: expect.stringContaining('/result.json'),
    });
    const file = await place.get('/tasks/b1-00000/result.json');
    expect([file.status, await file.json()]).toEqual([200, { ptm: 0.5, complex: {} }]);
    expect(liar.seen.every(({ operation }) => operation === 'status')).toBe(true);
  });

  it('is drift at its artifacts, and nowhere else, where they are none', async () => {
    liar.script('status', data({ status: 'done', response: { ptm: 0.5, complex: {} }, artifacts: ['x'] }));
    const { data: answer, errors } = await place.query(
      '{ task(taskId: "b1-00000") { result { ptm } } again: task(taskId: "b1-00000") { artifacts { name } } }',
    );
    expect(at(answer, 'task.result.ptm')).toBe(0.5);
    expect(errors).toMatchObject([{ path: ['again', 'artifacts'], extensions: { code: 'UPSTREAM_DRIFT' } }]);
  });

  it.each([
    400, 403, 410,
  ])('costs one Status and one download more, no more, where the file answers %d', async (code) => {
    liar.script('status', data({ status: 'done', response: '/files/result.json' }));
    liar.script('file', says(code, 'expired'));
    const { errors } = await place.query(
      '{ task(taskId: "b1-00000") { scores { ptm } result { ptm pae { max } chains { id } raw } } }',
    );
    expect(errors?.length).toBeGreaterThan(0);
    expect(liar.seen.map(({ operation }) => operation)).toEqual(['status', 'file', 'status', 'file']);
  });
});

describe('Submit', () => {
  it.each([
    [201, 'success'],
    [202, 'success'],
    [203, 'success'],
    [200, 'error'],
  ])('answered %d with a whole body is known', async (code, status) => {
    const batch = { message: 'queued', batch_id: 'b9', total_items: 1, task_id: 't9' };
    liar.script('submit', says(code, { status, data: batch, request_id: 'r' }));
    const { data: answer } = await place.query(
      `mutation { it: submitFold(input: {items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) {
        __typename ... on FoldSubmitted { batch { batchId } } } }`,
    );
    expect(at(answer, 'it')).toEqual({ __typename: 'FoldSubmitted', batch: { batchId: 'b9' } });
  });

  it('has the id that List gives where it gives none of its one item', async () => {
    liar.script('submit', data({ message: 'queued', batch_id: 'b9', total_items: 1 }));
    const items = [{ task_id: 't9', status: 'queued' }];
    liar.script('list', data({ status: 'in_progress', counts: { queued: 1 }, items, cursor: null }));
    const { data: answer } = await place.query(
      `mutation { it: submitFold(input: {items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) {
        ... on FoldSubmitted { batch { tasks { nodes { taskId } } } } } }`,
    );
    expect(at(answer, 'it.batch.tasks.nodes')).toEqual([{ taskId: 't9' }]);
  });

  it('warns when the service queued another number of tasks than were sent', async () => {
    liar.script('submit', data({ message: 'queued', batch_id: 'b9', total_items: 2 }));
    liar.script('list', data({ status: 'in_progress', counts: { queued: 2 } }));
    const { data: answer } = await place.query(
      `mutation { it: submitFold(input: {repeat: 3, items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) {
        ... on FoldSubmitted { batch { batchId counts { total } } warnings { code message } } } }`,
    );
    expect(at(answer, 'it')).toMatchObject({
      batch: { batchId: 'b9', counts: { total: 2 } },
      warnings: [
        { code: 'UPSTREAM_WARNING', message: expect.stringContaining('queued 2 tasks, and 3 were sent') },
      ],
    });
  });
});

describe('a bulk job that is complete', () => {
  it.each([
    [200, { status: 'completed', job_id: 'j' }],
    [200, { status: 'ready', job_id: 'j', archive: 'https://example.org' }],
    [202, { status: 'Complete', job_id: 'j', download_url: null }],
  ])('is an error where it has no address: %d %j', async (status, job) => {
    liar.script('bulk', says(202, { status: 'pending', job_id: 'j' }));
    liar.script('bulkJob', says(status, job));
    const { errors } = await place.query(
      `{ proteins(hashes: ["${'a'.repeat(32)}", "${'b'.repeat(32)}"]) { structure { text } } limits { maxItems } }`,
    );
    expect(errors?.[0]?.message).toMatch(/download_url/);
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
  });
});

describe('a bulk job of a query', () => {
  it.each<[number, unknown]>([
    [410, ''],
    [410, { status: 'error', message: 'results expired' }],
    [404, { detail: 'There is no job j.' }],
  ])('is worth another try where the service has forgotten it, and no expired fold: %d %j', async (status, body) => {
    liar.script('bulk', says(202, { status: 'pending', job_id: 'j' }));
    liar.script('bulkJob', says(status, body));
    const { errors } = await place.query(
      `{ proteins(hashes: ["${'a'.repeat(32)}", "${'b'.repeat(32)}"]) { sequence } }`,
    );
    expect(errors?.[0]?.message).toMatch(/job j is gone .* Try again/);
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true });
  });
});

describe('whose fault a refusal is', () => {
  const SEARCH = '{ similarProteins(sequence: "MKTAYIAKQR", minSimilarity: 0.5) { queryHash } }';
  const fault = (loc: string[], type = 'value_error') => ({ detail: [{ loc, msg: 'not so', type }] });

  it.each<[string, number, unknown]>([
    ['no reason at all', 400, ''],
    ['a page of a proxy', 400, '<html>Bad Request</html>'],
    ['a header too large', 413, '<html>'],
    ['a sentence', 400, { detail: 'bad request' }],
    ['an argument that did not arrive', 422, fault(['query', 'sequence'], 'missing')],
    ['an argument that is not taken', 422, fault(['query', 'include_cluster_info'], 'extra_forbidden')],
    ['a parameter that no caller gives', 422, fault(['query', 'include_cluster_info'])],
  ])('the gateway’s or the service’s: %s (%d)', async (_, status, body) => {
    liar.script('similarity', says(status, body));
    const { errors } = await place.query(SEARCH);
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
  });

  it('the caller’s only where an argument of theirs is named', async () => {
    liar.script('similarity', says(422, fault(['query', 'min_similarity'])));
    expect((await place.query(SEARCH)).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it.each<[number, unknown]>([
    [402, { error: 'payment required' }],
    [429, { message: 'You have exceeded your daily credit limit' }],
  ])('%d for want of credits is RATE_LIMITED, and not worth a second try', async (status, body) => {
    liar.script('list', says(status, body));
    const { errors } = await place.query('{ batch(batchId: "b1") { status } }');
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryable: false });
    expect(liar.seen).toHaveLength(1);
  });

  it('tells every number of the service, however large, and none as the caller’s fault', async () => {
    const soon = { response: '/files/r.json', artifacts: { a: '/files/a' }, artifacts_expire_in: 1e300 };
    liar.script('status', data({ status: 'done', ...soon }));
    liar.script('list', data({ batch_id: 'b1', status: 'done', counts: { done: 3e9 } }));
    const query = `{ task(taskId: "b1-00000") { artifacts { name expiresAt } } batch(batchId: "b1") { counts { done } } }`;
    const { data: answer, errors } = await place.query(query);
    expect(at(answer, 'task.artifacts')).toEqual([{ name: 'a', expiresAt: null }]);
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['batch'], 'UPSTREAM_DRIFT'],
    ]);
    for (const wait of ['86400', '9'.repeat(30), '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT']) {
      liar.script('status', says(503, { message: 'away' }, { 'retry-after': wait }));
      const { errors } = await place.query('{ task(taskId: "b1-00000") { status } }');
      expect(errors?.[0]?.extensions.retryAfterSeconds).toBe(300);
      const file = await place.get('/tasks/b1-00000/structure.cif');
      expect(file.headers.get('retry-after')).toBe('300');
    }
  });

  it('an empty id is refused and not sent', async () => {
    for (const id of ['', '  ']) {
      const { data: answer, errors } = await place.query(
        `query($id: ID!, $name: String!) { batch(batchId: $id) { status } task(taskId: $id) { status } uniprotEntry(id: $name) { name } }`,
        { id, name: id },
      );
      expect(answer).toEqual({ batch: null, task: null, uniprotEntry: null });
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(3).fill('BAD_USER_INPUT'));
    }
    expect(liar.seen).toEqual([]);
  });

  it('myBatches without a token is UNAUTHENTICATED', async () => {
    const { errors } = await place.query('{ myBatches { totalCount } }', {}, { authorization: '' });
    expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
  });
});

describe('details that lack a list', () => {
  it.each([
    ['feature', `feature(index: 3) { index nearestNeighbors { index } }`, { feature_index: 3, label: 'x' }],
    [
      'feature',
      `feature(index: 4) { nearestNeighbors { index } }`,
      { feature_index: 4, decoder_nearest_neighbors: 'x' },
    ],
    [
      'cluster',
      `cluster(hash: "${HASH}") { pfamDomains { id } }`,
      { protein_hash: HASH, member_protein_hashes: [HASH], cluster_top_pfam_domains: [1] },
    ],
  ])('are drift at a %s, not an empty list: %s', async (operation, field, record) => {
    liar.script(operation, says(200, record));
    const { errors } = await place.query(`{ ${field} limits { maxItems } }`);
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
    expect(errors?.[0]?.path?.[0]).toBe(operation);
  });
});

describe('what the service says of itself', () => {
  it('is told: versions spoken, and its own deadlines as soon as it has said them', async () => {
    const said = { expires_at: '2026-11-22T10:00:00', results_expire_at: '2026-12-01 10:00:00' };
    liar.script(
      'submit',
      data({ message: 'queued', batch_id: 'b9', total_items: 1, task_id: 't9', ...said }),
    );
    const { data: answer } = await place.query(
      `mutation { submitFold(input: {items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) {
        ... on FoldSubmitted { batch { queueDeadline resultsExpireAt } } } }`,
    );
    expect(at(answer, 'submitFold.batch')).toEqual({
      queueDeadline: '2026-11-22T10:00:00.000Z',
      resultsExpireAt: '2026-12-01T10:00:00.000Z',
    });
    const limits = await place.query('{ limits { batchApiVersion atlasApiVersion } }');
    expect(limits.data).toEqual({ limits: { batchApiVersion: 'v1', atlasApiVersion: 'v1alpha1' } });
  });
});
