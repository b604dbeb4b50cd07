// Faults that only the service finds: a client is told their places in its own input, never in the
// wire's.
import { describe, expect, it } from 'vitest';
import { graphqlInputPath } from '../../src/upstream/input-faults.ts';
import { at } from '../support.ts';
import { HASH, openLyingPlace, SEQUENCE, says, TOKEN } from './liar.ts';

const { liar, place } = await openLyingPlace();

const SECRET = 'MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ';
const faulty = (loc: (string | number)[], msg = 'Input should be smaller') =>
  says(422, {
    detail: [{ loc, msg, type: 'less_than_equal', input: SECRET, ctx: { le: 1 } }],
    request_id: 'req_f',
  });

describe('a 422', () => {
  it.each<[string, (string | number)[], string]>([
    [
      'submit',
      ['body', 'payload', 3, 'all_atom_input', 'sequences', 0, 'protein', 'sequence'],
      'items.3.chains.0.protein.sequence',
    ],
    [
      'submit',
      ['body', 'payload', 0, 'all_atom_input', 'sequences', 1, 'rna', 'modifications', 2, 'position'],
      'items.0.chains.1.rna.modifications.2.position',
    ],
    [
      'submit',
      ['body', 'payload', 0, 'all_atom_input', 'sequences', 1, 'ligand', 'id'],
      'items.0.chains.1.ligand.ids',
    ],
    [
      'submit',
      ['body', 'payload', 0, 'all_atom_input', 'covalent_bonds', 1, 'res_idx2'],
      'items.0.covalentBonds.1.residueIndex2',
    ],
    [
      'submit',
      ['body', 'payload', 0, 'all_atom_input', 'pocket', 'contacts', 4, 1],
      'items.0.pocket.contacts.4.residueIndex',
    ],
    ['submit', ['body', 'payload', 0, 'include_pair_chains_iptm'], 'items.0.includePairChainsIptm'],
    ['submit', ['body', 'repeat'], 'repeat'],
    ['similarity', ['query', 'topk_results'], 'first'],
    ['similarity', ['query', 'cluster_pct_characterized_max'], 'maxPercentCharacterized'],
    ['protein', ['query', 'feature_indices', 2], 'indices.2'],
    ['cluster', ['path', 'protein_hash'], 'hash'],
    ['bulk', ['body', 'protein_hashes', 7], 'hashes'],
    ['list', ['body', 'batch_id'], 'batchId'],
    ['uniprot', [], ''],
  ])('is of %s at %j, and told at %s', (operation, loc, path) =>
    expect(graphqlInputPath(operation, loc)).toBe(path));

  it('names the argument of a query and quotes nothing of the input', async () => {
    liar.script('similarity', faulty(['query', 'min_similarity']));
    const { errors } = await place.query(
      `{ similarProteins(sequence: "${SECRET}", minSimilarity: 0.5) { queryHash } }`,
    );
    expect(errors).toMatchObject([
      {
        message: 'minSimilarity: Input should be smaller',
        path: ['similarProteins'],
        extensions: {
          code: 'BAD_USER_INPUT',
          retryable: false,
          issues: [{ path: 'minSimilarity', message: 'Input should be smaller' }],
        },
      },
    ]);
    expect(JSON.stringify(errors)).not.toContain(SECRET);
    expect(liar.seen).toHaveLength(1);
  });

  it('is InvalidInput with its place for a submission, as a 400 with places is, and frees the key', async () => {
    const submit = `mutation { submitFold(input: {idempotencyKey: "k", items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) {
      __typename ... on Problem { message } ... on InvalidInput { issues { path code message hint } } } }`;
    liar.script(
      'submit',
      faulty(['body', 'payload', 0, 'all_atom_input', 'sequences', 0, 'protein', 'sequence']),
    );
    expect((await place.query(submit)).data).toEqual({
      submitFold: {
        __typename: 'InvalidInput',
        message: 'The upstream found mistakes in the input; nothing was queued.',
        issues: [
          {
            path: 'items.0.chains.0.protein.sequence',
            code: 'REFUSED_BY_UPSTREAM',
            message: 'Input should be smaller',
            hint: 'The upstream calls this LESS_THAN_EQUAL.',
          },
        ],
      },
    });
    liar.reset();
    expect(at((await place.query(submit)).data, 'submitFold.__typename')).toBe('FoldSubmitted');
    const faults = {
      detail: [{ loc: ['body', 'repeat'], msg: 'Input should be smaller', type: 'value_error' }],
    };
    liar.script('submit', says(400, faults));
    const other = await place.query(submit.replace('"k"', '"another"'));
    expect(at(other.data, 'submitFold')).toMatchObject({
      __typename: 'InvalidInput',
      issues: [{ path: 'repeat', code: 'REFUSED_BY_UPSTREAM' }],
    });
    // Without places it is what the spec says a 422 of Submit is.
    liar.script('submit', says(422, { status: 'error', message: 'no model configuration' }));
    const { data } = await place.query(
      'mutation { submitFold(input: {items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) { __typename ... on Refused { reason } } }',
    );
    expect(at(data, 'submitFold')).toEqual({ __typename: 'Refused', reason: 'MODEL_UNAVAILABLE' });
  });
});

describe('identifiers that would be a way', () => {
  it.each([
    '..',
    '.',
    '%2e%2e',
    '../../batch/list',
    'P01308/../..',
    'P01308?x=1',
    'P01308#x',
    'P01308\r\nx-injected: 1',
    'Ｐ01308',
    '\u0000',
  ])('%j as an accession reaches no other route', async (id) => {
    await place.query(
      'query($id: String!, $ids: [String!]!) { uniprotEntry(id: $id) { name } lookup(ids: $ids) { exists } }',
      {
        id,
        ids: [id],
      },
    );
    for (const seen of liar.seen) {
      expect(seen.operation).toBe('uniprot');
      expect(seen.headers).not.toHaveProperty('x-injected');
    }
  });

  it.each([
    '..',
    'a/../b',
    '%2e%2e%2f',
    'x\r\nx-injected: 1',
    '\u202eexe.pdb',
    '漢字',
    '"; filename="evil.exe',
  ])('%j as a task stays inside the body and inside one header', async (id) => {
    liar.script(
      'status',
      says(200, { status: 'success', data: { status: 'done', response: '/files/result.json' } }),
    );
    liar.script('file', says(200, { ptm: 0.5 }));
    await place.query('query($id: ID!) { task(taskId: $id) { status } batch(batchId: $id) { status } }', {
      id,
    });
    const file = await place.get(`/tasks/${encodeURIComponent(id)}/result.json`);
    const disposition = file.headers.get('content-disposition');
    if (disposition !== null)
      expect(disposition).toMatch(/^attachment; filename="[\w.-]*"; filename\*=UTF-8''[\w.%!~-]*$/);
    await file.body?.cancel();
    expect(liar.seen.length).toBeGreaterThan(1);
    for (const seen of liar.seen) {
      expect(['/api/v1/batch/status', '/api/v1/batch/list', '/files/result.json']).toContain(seen.url);
      expect(seen.headers).not.toHaveProperty('x-injected');
    }
  });

  it('a job that the upstream names as a way is not followed', async () => {
    liar.script('bulk', says(202, { status: 'pending', job_id: '..' }));
    const { errors } = await place.query(
      `{ proteins(hashes: ["${'a'.repeat(32)}", "${'b'.repeat(32)}"]) { sequence } }`,
    );
    expect(errors?.[0]?.message).toMatch(/expected an id of letters/);
    expect(liar.seen.map(({ operation }) => operation)).toEqual(['bulk']);
  });
});

describe('an id of the service’s request', () => {
  it('has no token and no address of the service in it, wherever it stands', async () => {
    const id = `r-1 ${TOKEN} https://10.0.0.1/file?signature=abc`;
    const shown = 'r-1 [token] [URL]';
    const expected = [{ extensions: { upstream: { requestId: shown } } }];
    liar.script('list', says(422, { message: 'no' }, { 'x-request-id': id }));
    expect(await place.query('{ batch(batchId: "b") { status } }')).toMatchObject({ errors: expected });
    liar.script('list', says(422, { message: 'no', request_id: id }));
    expect(await place.query('{ batch(batchId: "b") { status } }')).toMatchObject({ errors: expected });
    liar.script(
      'protein',
      says(200, { protein_hash: HASH, sequence: SEQUENCE }, { 'x-request-id': 'r-2 https://10.0.0.1/' }),
    );
    const { data } = await place.query(
      `{ protein(hash: "${HASH}") { header provenance { upstreamRequestId } } }`,
    );
    expect(data).toMatchObject({ protein: { provenance: { upstreamRequestId: 'r-2 [URL]' } } });
  });
});
