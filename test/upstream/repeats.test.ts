// Lists of the service that repeat a member, or hold one of another batch or task, are drift: the
// answer would count it twice, or show it as the caller's.
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { at } from '../support.ts';
import { HASH, inTurn, openLyingPlace, SEQUENCE, says, sends } from './liar.ts';

const { liar, place } = await openLyingPlace({ CACHE_RECORDS_SECONDS: '0' });

const data = (fields: object) => says(200, { status: 'success', data: fields });
const done = (...ids: string[]) => ids.map((task_id) => ({ task_id, status: 'done' }));
const page = (items: object[], more: object = {}) =>
  data({ batch_id: 'b1', status: 'done', counts: { done: items.length }, items, cursor: null, ...more });
const TASKS = '{ batch(batchId: "b1") { tasks { nodes { taskId status } } } }';
const ALL = '{ batch(batchId: "b1") { tasks(orderBy: NAME) { nodes { taskId } } } }';
const onlyError = async (query: string) => {
  const { errors } = await place.query(query);
  expect(errors, JSON.stringify(errors)).toHaveLength(1);
  expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
  return String(errors?.[0]?.message);
};

describe('a list of tasks', () => {
  it.each([TASKS, ALL])('is drift when a page has a task twice: %s', async (query) => {
    liar.script('list', page(done('b1-00000', 'b1-00001', 'b1-00000')));
    expect(await onlyError(query)).toMatch(
      /\$\.items\.2\.task_id: expected each task once, seen "b1-00000" twice/,
    );
  });

  it.each([
    ['in one request', '{ batch(batchId: "b1") { tasks(first: 4) { nodes { taskId } } } }'],
    ['in one request for all', ALL],
  ])('is drift when a later page repeats a task: %s', async (_, query) => {
    const counts = { done: 4 };
    const first = page(done('b1-00000', 'b1-00001'), { counts, cursor: 'next' });
    liar.script('list', inTurn(first, page(done('b1-00002', 'b1-00001'), { counts })));
    expect(await onlyError(query)).toMatch(/a page repeats tasks of an earlier one/);
  });

  it('is drift when the page of the next request has the last task of this one', async () => {
    const counts = { done: 4 };
    const query = (after: string) =>
      `{ batch(batchId: "b1") { tasks(first: 2 ${after}) { nodes { taskId } pageInfo { endCursor } } } }`;
    liar.script('list', page(done('b1-00000', 'b1-00001'), { counts, cursor: 'next' }));
    const cursor = String(at((await place.query(query(''))).data, 'batch.tasks.pageInfo.endCursor'));
    liar.script('list', page(done('b1-00001', 'b1-00002'), { counts }));
    expect(await onlyError(query(`after: "${cursor}"`))).toMatch(/a page repeats tasks of an earlier one/);
  });

  it.each(['{ batch(batchId: "b1") { status } }', TASKS])('is drift of another batch: %s', async (query) => {
    liar.script('list', page(done('b1-00000'), { batch_id: 'b2' }));
    expect(await onlyError(query)).toMatch(/\$\.batch_id: expected the batch that was asked for, seen "b2"/);
  });

  it.each<[string, object, RegExp]>([
    ['of another batch', { task_id: 'b2-00001', status: 'done' }, /\$\.items\.1\.task_id.*seen "b2-00001"/],
    [
      'that the batch cannot have',
      { task_id: 'b1-00002', status: 'done' },
      /one of the 2 tasks of batch "b1"/,
    ],
    [
      'that says so',
      { task_id: 'b1-00001', batch_id: 'b2', status: 'done' },
      /\$\.items\.1\.batch_id: .*seen "b2"/,
    ],
  ])('has an error at its place for a task %s', async (_, item, reason) => {
    liar.script('list', page([...done('b1-00000'), item]));
    const { data: answered, errors } = await place.query(
      '{ batch(batchId: "b1") { tasks { nodes { taskId status error { code message } } } } }',
    );
    expect(errors).toBeUndefined();
    expect(at(answered, 'batch.tasks.nodes')).toEqual([
      { taskId: 'b1-00000', status: 'DONE', error: null },
      {
        taskId: 'b1-00001',
        status: 'DONE',
        error: { code: 'UPSTREAM_DRIFT', message: expect.stringMatching(reason) },
      },
    ]);
  });

  it('may have ids of any form where the service does not number them', async () => {
    liar.script('list', page(done('x', 'y')));
    expect((await place.query(TASKS)).errors).toBeUndefined();
    liar.script('list', page(done('opaque-00007')));
    expect((await place.query(TASKS)).errors).toBeUndefined();
  });
});

it('Status of another task is drift', async () => {
  liar.script('status', data({ status: 'done', task_id: 'b1-00001' }));
  expect(await onlyError('{ task(taskId: "b1-00000") { status } }')).toMatch(
    /\$\.task_id: expected the task that was asked for, seen "b1-00001"/,
  );
});

describe('a feature or protein that stands twice', () => {
  const RECORD = { protein_hash: HASH, sequence: SEQUENCE, sequence_length: SEQUENCE.length };
  const twice = [
    { feature_index: 7, value: 2 },
    { feature_index: 7, value: 1 },
  ];
  const hit = { protein_hash: HASH, similarity_score: 0.5 };
  const shared = { feature_index: 7, occurrence_count: 1 };
  it.each<[string, string, object]>([
    [
      'protein',
      `{ protein(hash: "${HASH}") { features(first: 2) { value } } }`,
      { ...RECORD, sae_features: twice },
    ],
    [
      'protein',
      `{ protein(hash: "${HASH}") { featureValues(indices: [7], normalize: false) { value } } }`,
      { ...RECORD, sae_features: twice },
    ],
    [
      'cluster',
      `{ cluster(hash: "${HASH}") { representative { features(first: 2) { value } } } }`,
      {
        protein_hash: HASH,
        cluster_size: 1,
        member_protein_hashes: [HASH],
        cluster_representative_features: twice,
      },
    ],
    [
      'similarity',
      `{ similarProteins(sequence: "${SEQUENCE}") { hits { score } } }`,
      { similar_proteins: [hit, { ...hit, similarity_score: 0.4 }] },
    ],
    [
      'similarity',
      `{ similarProteins(sequence: "${SEQUENCE}") { sharedFeatures { feature { index } } } }`,
      { similar_proteins: [hit], restricted_count: 0, top_features_across_results: [shared, shared] },
    ],
    [
      'features',
      '{ features(first: 2) { nodes { index } } }',
      { data: [1, 2, 1].map((feature_index) => ({ feature_index, label: 'helix', description: null })) },
    ],
    [
      'feature',
      '{ feature(index: 7) { nearestNeighbors(first: 2) { index } } }',
      {
        feature_index: 7,
        top_100_uniref_ids: [],
        top_swissprot_activations: [],
        decoder_nearest_neighbors: [3, 3],
      },
    ],
  ])('is drift in an answer to %s: %s', async (operation, query, body) => {
    liar.script(operation, says(200, body));
    await onlyError(query);
  });

  it('makes the features of an archive unknown, so that the record is asked', async () => {
    const features = {
      [HASH]: { top_features: twice, protein_level: { indices: [9, 7, 9], values: [3, 2, 1] } },
    };
    const zip = zipSync({
      'features.json': strToU8(JSON.stringify(features)),
      'sequences.fasta': strToU8(`>${HASH}|A1|mgy\n${SEQUENCE}\n`),
    });
    liar.script('bulk', sends(zip, { 'content-type': 'application/zip' }));
    liar.script('protein', says(200, { ...RECORD, sae_features: twice.slice(1) }));
    const answer = await place.query(
      `{ proteins(hashes: ["${HASH}", "${'0'.repeat(32)}"]) { features(first: 2) { value } } }`,
    );
    expect(answer).toEqual({ data: { proteins: [{ features: [{ value: 1 }] }, null] } });
  });
});
