// Ids and hashes of the service in another form than theirs are drift, wherever it sends them: they
// would reach tables, addresses, files and terminals.
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
    expect(errors?.[0]?.message).toContain(
      path === 'cluster_rep_protein_hash'
        ? 'expected a hash of 32 hexadecimal digits, seen '
        : 'expected an id without control characters, seen ',
    );
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
      message: expect.stringContaining('$.batch_id: expected an id of letters'),
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

/** Parts of a path, of an address, of a file name or of nothing. */
const ODD_IDS = [
  '',
  ' ',
  '.',
  '..',
  '../../escaped',
  'a/b',
  'a\\b',
  '/etc/passwd',
  'C:\\x',
  'a b',
  'a%2f',
  'a?b',
  'a#b',
];
ODD_IDS.push('<b>', 'a"b', '-rf', 'ä', 'b\u0661', 'a'.repeat(201), '~', '$(id)', 'a;b', 'a\u200bb');

describe.each(ODD_IDS)('the odd id %j', (id) => {
  it('is drift as that of a job', async () => {
    liar.script('bulk', says(202, { status: 'pending', job_id: id }));
    const { errors } = await place.query(TWO);
    expect(errors).toMatchObject(
      Array.from({ length: 2 }, () => ({
        extensions: { code: 'UPSTREAM_DRIFT', upstream: { path: '$.job_id' } },
      })),
    );
    expect(liar.seen.map(({ operation }) => operation)).not.toContain('bulkJob');
  });

  it('is drift as that of a task or a batch', async () => {
    const query = '{ batch(batchId: "b1") { tasks { nodes { taskId } } } }';
    liar.script(
      'list',
      data({ status: 'done', counts: { done: 1 }, items: [{ task_id: id, status: 'done' }] }),
    );
    expect((await place.query(query)).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_DRIFT' } }]);
    liar.script('list', data({ batch_id: id, status: 'done', counts: { done: 1 } }));
    expect((await place.query('{ batch(batchId: "b1") { status } }')).errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_DRIFT', upstream: { path: '$.batch_id' } } },
    ]);
  });
});

describe.each([
  '../../escaped',
  HASH.slice(1),
  `${HASH}0`,
  `${HASH.slice(1)}g`,
  HASH.replace(/^./, '\u0661'),
])('the odd hash %j', (hash) => {
  const cluster = { protein_hash: HASH, member_protein_hashes: [HASH] };
  it.each<[string, string, object]>([
    [
      'uniprot',
      '{ uniprotEntry(id: "P01308") { proteinHash } }',
      { accession: 'P01308', protein_hash: hash },
    ],
    [
      'similarity',
      `{ similarProteins(sequence: "${SEQUENCE}", first: 1) { hits { protein { hash } } } }`,
      { similar_proteins: [{ ...HIT, protein_hash: hash }] },
    ],
    [
      'similarity',
      `{ similarProteins(sequence: "${SEQUENCE}", first: 1) { queryHash } }`,
      { protein_hash: hash, similar_proteins: [HIT] },
    ],
    [
      'protein',
      `{ protein(hash: "${HASH}") { features(first: 1, normalize: false) { value } } }`,
      { ...RECORD, cluster_rep_protein_hash: hash, sae_features: [] },
    ],
    [
      'cluster',
      `{ cluster(hash: "${HASH}") { memberHashes } }`,
      { ...cluster, member_protein_hashes: [hash] },
    ],
    ['cluster', `{ cluster(hash: "${HASH}") { memberHashes } }`, { ...cluster, protein_hash: hash }],
  ])('is drift in an answer to %s', async (operation, query, body) => {
    liar.script(operation, says(200, body));
    const { errors } = await place.query(query);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_DRIFT', upstream: { operation } } }]);
    expect(errors?.[0]?.message).toContain('expected a hash of 32 hexadecimal digits');
  });

  it('is drift in an archive', async () => {
    const members = {
      'sequences.fasta': strToU8(`>${HASH}|A|uniprotkb\n${SEQUENCE}\n`),
      'cluster_info.json': strToU8(JSON.stringify({ clusters: {}, proteins: { [HASH]: hash } })),
    };
    liar.script('bulk', sends(zipSync(members), { 'content-type': 'application/zip' }));
    liar.script('protein', says(422, { detail: 'not now' }));
    const { errors } = await place.query(
      `{ proteins(hashes: ["${HASH}", "${'0'.repeat(32)}"]) { cluster { representativeHash } } }`,
    );
    expect(errors?.map(({ extensions }) => extensions.code)).toContain('UPSTREAM_DRIFT');
  });
});

it('is read with white space around it where it is a hash', async () => {
  liar.script('uniprot', says(200, { accession: 'P01308', protein_hash: ` ${HASH.toUpperCase()}\n` }));
  const { data: answered } = await place.query('{ uniprotEntry(id: "P01308") { accession proteinHash } }');
  expect(answered).toEqual({ uniprotEntry: { accession: 'P01308', proteinHash: HASH } });
});
