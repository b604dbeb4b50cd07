// Ids of the service with control characters are drift, wherever it sends them: they would reach tables, files and terminals.
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { at } from '../support.ts';
import { HASH, openLyingPlace, SEQUENCE, says, sends } from './liar.ts';

const { liar, place } = await openLyingPlace();

const data = (fields: object) => says(200, { status: 'success', data: fields });
const RECORD = { protein_hash: HASH, sequence: SEQUENCE, sequence_length: SEQUENCE.length };
const HIT = { protein_hash: HASH, similarity_score: 0.5 };
const TWO = `{ proteins(hashes: ["${HASH}", "${'0'.repeat(32)}"]) { accession } }`;
const IDS = ['b1\u0000', 'b\u001b[31m1', 'b1\n', 'b\u009b1', 'b\u202e1'];

describe.each(IDS)('the id %j', (id) => {
  it.each<[string, string, object, string]>([
    [
      'uniprot',
      '{ uniprotEntry(id: "P01308") { accession } }',
      { accession: id, protein_hash: HASH },
      'accession',
    ],
    [
      'similarity',
      `{ similarProteins(sequence: "${SEQUENCE}", first: 1) { hits { score } } }`,
      { similar_proteins: [{ ...HIT, protein_accession: id }] },
      'similar_proteins.0.protein_accession',
    ],
    [
      'protein',
      `{ protein(hash: "${HASH}") { features(first: 1, normalize: false) { value } } }`,
      { ...RECORD, accession: id, sae_features: [] },
      'accession',
    ],
    [
      'protein',
      `{ protein(hash: "${HASH}") { features(first: 1, normalize: false) { value } } }`,
      { ...RECORD, cluster_rep_protein_hash: `a${id}b`, sae_features: [] },
      'cluster_rep_protein_hash',
    ],
  ])('is drift in an answer to %s', async (operation, query, body, path) => {
    liar.script(operation, says(200, body));
    const { errors } = await place.query(query);
    expect(errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_DRIFT', upstream: { operation, path: `$.${path}` } } },
    ]);
    expect(errors?.[0]?.message).toContain('expected an id without control characters, seen ');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them.
    expect(errors?.[0]?.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });

  it('is drift as that of a job', async () => {
    liar.script('bulk', says(202, { status: 'pending', job_id: id }));
    const { data: answered, errors } = await place.query(TWO);
    expect(answered).toEqual({ proteins: [null, null] });
    expect(errors?.map(({ extensions }) => extensions)).toMatchObject(
      Array.from({ length: 2 }, () => ({ code: 'UPSTREAM_DRIFT', upstream: { path: '$.job_id' } })),
    );
  });

  it('is drift as that of a task, which is then named by its place', async () => {
    const page = (items: object[]) => data({ status: 'done', counts: { done: items.length }, items });
    liar.script('list', page([{ task_id: id, status: 'done' }]));
    const query = '{ batch(batchId: "b1") { tasks { nodes { taskId } } } }';
    expect((await place.query(query)).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_DRIFT' } }]);
    liar.script(
      'list',
      page([
        { task_id: id, status: 'done' },
        { task_id: 'b1-00001', status: 'done' },
      ]),
    );
    expect(at((await place.query(query)).data, 'batch.tasks.nodes')).toEqual([
      { taskId: 'b1-00000' },
      { taskId: 'b1-00001' },
    ]);
  });

  it('leaves the outcome of a Submit unknown', async () => {
    const submit = `mutation {
      submitFold(input: { items: [{ chains: [{ protein: { sequence: "MKTAYIAKQR" } }] }] }) {
        __typename ... on Problem { message }
      }
    }`;
    liar.script('submit', data({ batch_id: id, total_items: 1, task_id: 'b1-00000' }));
    const { data: answered } = await place.query(submit);
    expect(at(answered, 'submitFold')).toMatchObject({
      __typename: 'OutcomeUnknown',
      message: expect.stringContaining('$.batch_id: expected an id without control characters'),
    });
  });

  it('is drift in a list of sequences', async () => {
    const fasta = `>${HASH}|A${id.replace('\n', '\u0007')}|uniprotkb\n${SEQUENCE}\n`;
    const zip = zipSync({ 'sequences.fasta': strToU8(fasta) });
    liar.script('bulk', sends(zip, { 'content-type': 'application/zip' }));
    // Single records would answer instead.
    liar.script('protein', says(422, { detail: 'not now' }));
    const { data: answered, errors } = await place.query(TWO);
    expect(answered).toEqual({ proteins: [null, null] });
    expect(errors).toMatchObject(
      Array.from({ length: 2 }, () => ({
        message: expect.stringContaining('An accession has control characters. (sequences.fasta)'),
        extensions: { code: 'UPSTREAM_DRIFT', upstream: { operation: 'bulk' } },
      })),
    );
  });
});

it('is read with white space around it where it is a hash', async () => {
  liar.script('uniprot', says(200, { accession: 'P01308', protein_hash: ` ${HASH.toUpperCase()}\n` }));
  const { data: answered } = await place.query('{ uniprotEntry(id: "P01308") { accession proteinHash } }');
  expect(answered).toEqual({ uniprotEntry: { accession: 'P01308', proteinHash: HASH } });
});
