// The refusals of the Batch API: status, path and mend of every rule of the request tables, and
// nothing stored.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox.ts';
import { batch, client, fold, input, isJson, type Json, MODEL, startHeld } from './harness.ts';

let sandbox: Sandbox;
let call: ReturnType<typeof client>;

beforeAll(async () => {
  ({ sandbox, call } = await startHeld({ dialect: 'rich', limits: { submissionsPerMinute: 1000 } }));
});
afterAll(() => sandbox.close());

async function storedBatches(): Promise<number> {
  const state: unknown = await (await fetch(`${sandbox.url}/control`)).json();
  return isJson(state) && Array.isArray(state.batches) ? state.batches.length : -1;
}

const protein = (more: Json = {}): Json => ({ type: 'protein', id: 'A', sequence: 'MKTAY', ...more });
const chains = (...sequences: unknown[]): Json => batch([input({ sequences })]);
const bond = { chain_id1: 'A', res_idx1: 0, atom_idx1: 1, chain_id2: 'L', res_idx2: 0, atom_idx2: 1 };
const twoChains = [protein(), { type: 'ligand', id: 'L', ccd: ['ATP', 'MG'] }];
const withTwo = (more: Json): Json => batch([input({ sequences: twoChains, ...more })]);
const square = (size: number): number[][] => Array.from({ length: size }, () => Array<number>(size).fill(3));
const at = 'payload[0].all_atom_input';

const refused: [string, unknown, ...string[]][] = [
  ['no object', [], 'the body: must be an object'],
  ['null', null, 'the body: must be an object, not null'],
  ['no endpoint', { payload: [fold()] }, 'endpoint: is required'],
  [
    'unknown endpoint',
    { ...batch([fold()]), endpoint: 'fold' },
    'endpoint: must be "fold_max_accuracy", not "fold"',
  ],
  ['unknown envelope field', batch([fold()], { prio: 1 }), 'the body: has no field "prio"'],
  ['no payload', { endpoint: 'fold_max_accuracy' }, 'payload: is required; give an array'],
  ['payload no array', batch(fold()), 'payload: must be an array, not an object'],
  ['empty payload', batch([]), 'payload: must have at least 1 entries, not 0'],
  ['2001 items', batch(Array(2001).fill(fold())), 'payload: must have at most 2000 entries, not 2001'],
  ['repeat 0', batch([fold()], { repeat: 0 }), 'repeat: must be at least 1, not 0'],
  ['repeat 2001', batch([fold()], { repeat: 2001 }), 'repeat: must be at most 2000, not 2001'],
  ['repeat 1.5', batch([fold()], { repeat: 1.5 }), 'repeat: must be an integer, not 1.5'],
  ['repeat as text', batch([fold()], { repeat: '2' }), 'repeat: must be an integer, not "2"'],
  ['repeat null', batch([fold()], { repeat: null }), 'repeat: must be an integer, not null'],
  [
    'product over 2000',
    batch([fold(), fold(), fold()], { repeat: 667 }),
    'repeat: payload (3) times repeat (667) is 2001',
  ],
  ['item no object', batch(['x']), 'payload[0]: must be an object, not "x"'],
  ['no model', batch([{ all_atom_input: fold().all_atom_input }]), 'payload[0].model: is required'],
  ['unknown model', batch([fold('MK', { model: 'esm' })]), `payload[0].model: must be "${MODEL}", not "esm"`],
  ['no input', batch([{ model: MODEL }]), `${at}: is required; give an object`],
  [
    'flag as number',
    batch([fold('MK', { include_pae: 1 })]),
    'payload[0].include_pae: must be true or false, not 1',
  ],
  [
    'flag null',
    batch([fold('MK', { include_embeddings: null })]),
    'payload[0].include_embeddings: must be true or false',
  ],
  [
    'recipe parameter',
    batch([fold('MK', { num_loops: 3 })]),
    'payload[0]: has no field "num_loops"',
    'recipe',
  ],
  ['second item', batch([fold(), fold('MK', { model: 1 })]), 'payload[1].model'],
  ['no sequences', batch([input({})]), `${at}.sequences: is required`],
  ['empty sequences', batch([input({ sequences: [] })]), `${at}.sequences: must have at least 1`],
  [
    'unknown kind',
    chains({ type: 'lipid' }),
    `${at}.sequences[0].type: must be`,
    '"protein", "rna", "dna" or "ligand"',
  ],
  ['no kind', chains({ sequence: 'MK' }), `${at}.sequences[0].type: must be`],
  ['chain no object', chains(7), `${at}.sequences[0]: must be`],
  ['no sequence', chains({ type: 'protein' }), `${at}.sequences[0].sequence: is required`],
  [
    'empty sequence',
    chains(protein({ sequence: '' })),
    `${at}.sequences[0].sequence: must have at least 1 characters`,
  ],
  ['stop sign', chains(protein({ sequence: 'MK*' })), 'has "*" at position 2'],
  ['astral letter', chains(protein({ sequence: 'M😀' })), 'has "😀" at position 1'],
  ['digit', chains({ type: 'rna', sequence: 'AC1' }), 'has "1" at position 2, which is no letter'],
  ['gap', chains({ type: 'dna', sequence: 'AC-G' }), 'has "-" at position 2'],
  ['caller alignment', chains(protein({ msa: 'A3M' })), 'caller-supplied alignments are unsupported'],
  [
    'caller alignment, empty',
    chains(protein({ msa: [] })),
    `${at}.sequences[0].msa: caller-supplied alignments`,
  ],
  [
    'alignment of RNA',
    chains({ type: 'rna', sequence: 'ACG', msa: { sequences: ['ACG'] } }),
    `${at}.sequences[0].msa: caller-supplied alignments are unsupported`,
  ],
  ['id as number', chains(protein({ id: 1 })), `${at}.sequences[0].id: must be a chain identifier`],
  ['id empty', chains(protein({ id: '' })), `${at}.sequences[0].id`],
  ['id list with number', chains(protein({ id: ['A', 2] })), `${at}.sequences[0].id[1]: must be a string`],
  [
    'same id twice',
    chains(protein(), protein()),
    `${at}.sequences[1].id: chain identifier A is used already`,
  ],
  [
    'same id in a list',
    chains(protein({ id: ['A', 'A'] })),
    'chain identifier A is used already by sequences[0]',
  ],
  [
    'modification past the end',
    chains(protein({ modifications: [{ position: 5, ccd: 'SEP' }] })),
    `${at}.sequences[0].modifications[0].position: is 5, but the sequence has positions 0 to 4`,
  ],
  [
    'modification before the start',
    chains(protein({ modifications: [{ position: -1, ccd: 'SEP' }] })),
    'position: must be at least 0',
  ],
  [
    'modification without code',
    chains(protein({ modifications: [{ position: 1 }] })),
    'modifications[0].ccd: is required',
  ],
  [
    'modification with a bad code',
    chains(protein({ modifications: [{ position: 1, ccd: 'sep!' }] })),
    'modifications[0].ccd: must be a chemical component code',
  ],
  [
    'ligand without anything',
    chains({ type: 'ligand' }),
    `${at}.sequences[0]: needs smiles or ccd, and has neither`,
  ],
  ['ligand with nulls', chains({ type: 'ligand', smiles: null, ccd: null }), 'has neither'],
  [
    'ligand code as text',
    chains({ type: 'ligand', ccd: 'ATP' }),
    `${at}.sequences[0].ccd: must be an array, not "ATP"`,
  ],
  ['ligand without codes', chains({ type: 'ligand', ccd: [] }), 'needs smiles or ccd'],
  [
    'ligand with a sequence',
    chains({ type: 'ligand', ccd: ['ATP'], sequence: 'M' }),
    'has no field "sequence"',
  ],
  [
    'too long in all copies',
    chains(protein({ sequence: 'A'.repeat(2731), id: ['A', 'B', 'C'] })),
    `${at}.sequences: have 8193 tokens with every copy counted; at most 8192`,
  ],
  [
    'bond to nowhere',
    withTwo({ covalent_bonds: [{ ...bond, chain_id2: 'Z' }] }),
    `${at}.covalent_bonds[0].chain_id2: names no chain of this input (chains: A, L)`,
  ],
  [
    'bond past the end',
    withTwo({ covalent_bonds: [{ ...bond, res_idx1: 5 }] }),
    'covalent_bonds[0].res_idx1: is 5, but chain A has residues 0 to 4',
  ],
  [
    'bond with five fields',
    withTwo({ covalent_bonds: [{ ...bond, atom_idx2: undefined }] }),
    'covalent_bonds[0].atom_idx2: is required',
  ],
  ['bonds no array', withTwo({ covalent_bonds: bond }), `${at}.covalent_bonds: must be an array`],
  [
    'pocket without contacts',
    withTwo({ pocket: { binder_chain_id: 'L' } }),
    `${at}.pocket.contacts: is required`,
  ],
  [
    'pocket of nobody',
    withTwo({ pocket: { binder_chain_id: 'B', contacts: [['A', 0]] } }),
    'pocket.binder_chain_id: names no chain',
  ],
  [
    'contact of three',
    withTwo({ pocket: { binder_chain_id: 'L', contacts: [['A', 0, 1]] } }),
    'pocket.contacts[0]: must be a pair',
  ],
  [
    'contact the wrong way',
    withTwo({ pocket: { binder_chain_id: 'L', contacts: [[0, 'A']] } }),
    'pocket.contacts[0][0]: must be a string, not 0',
  ],
  [
    'contact with nobody',
    withTwo({ pocket: { binder_chain_id: 'L', contacts: [['Q', 0]] } }),
    'pocket.contacts[0][0]: names no chain',
  ],
  [
    'contact past the end',
    withTwo({ pocket: { binder_chain_id: 'L', contacts: [['A', 5]] } }),
    'pocket.contacts[0][1]: is 5, but chain A',
  ],
  [
    'distogram of nobody',
    withTwo({ distogram_conditioning: [{ chain_id: 'B', distogram: square(5) }] }),
    'distogram_conditioning[0].chain_id: names no chain',
  ],
  [
    'ragged distogram',
    withTwo({ distogram_conditioning: [{ chain_id: 'A', distogram: [[1, 2], [1]] }] }),
    'distogram_conditioning[0].distogram[1]: has 1 entries, but the first row has 2',
  ],
  [
    'distogram of fractions',
    withTwo({ distogram_conditioning: [{ chain_id: 'A', distogram: [[0.5]] }] }),
    'distogram[0]: must be an array of integers',
  ],
];

describe('Submit refuses with 400, path and mend, and stores nothing', () => {
  test.each(refused)('%s', async (_name, body, ...texts) => {
    const before = await storedBatches();
    const answer = await call('submit', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      status: 'error',
      message: expect.any(String),
      request_id: expect.stringMatching(/^req_/),
    });
    for (const text of texts) expect(answer.body.message).toContain(text);
    expect(await storedBatches()).toBe(before);
  });

  test('every mistake of a body is named, up to a bound', async () => {
    const answer = await call('submit', { endpoint: 'x', payload: [fold('1'), fold('2')], repeat: 0 });
    for (const path of ['endpoint', 'payload[0]', 'payload[1]', 'repeat'])
      expect(answer.body.message).toContain(`${path}`);
    const many = await call('submit', batch(Array(2000).fill(7)));
    expect(String(many.body.message).length).toBeLessThan(1500);
  });
});

describe('what is allowed is queued', () => {
  const allowed: [string, unknown][] = [
    ['lower-case letters', chains(protein({ sequence: 'MKt' }))],
    ['letters beyond the twenty', chains(protein({ sequence: 'MBJOUXZ' }))],
    ['IUPAC codes', chains({ type: 'rna', sequence: 'ACGTURYSWKMBDHVN' })],
    ['no alignment of RNA', chains({ type: 'rna', sequence: 'ACG', msa: null })],
    ['an empty list of ids', chains(protein({ id: [] }))],
    ['an id with a space', chains(protein({ id: 'heavy chain' }))],
    ['a ligand with both', chains({ type: 'ligand', smiles: 'not one', ccd: ['GOL'] })],
    [
      'a position modified twice',
      chains(protein({ modifications: ['SEP', 'TPO'].map((ccd) => ({ position: 1, ccd })) })),
    ],
    ['a bond past the components of a ligand', withTwo({ covalent_bonds: [{ ...bond, res_idx2: 2 }] })],
    ['a bond past the atoms', withTwo({ covalent_bonds: [{ ...bond, atom_idx1: 999 }] })],
    ['a bond of an atom to itself', withTwo({ covalent_bonds: [{ ...bond, chain_id2: 'A' }] })],
    ['a pocket without contacts', withTwo({ pocket: { binder_chain_id: 'L', contacts: [] } })],
    [
      'distograms of any size, for a ligand, and twice for a chain',
      withTwo({
        distogram_conditioning: ['A', 'A', 'L'].map((chain_id) => ({ chain_id, distogram: square(4) })),
      }),
    ],
    [
      'nulls wherever the spec allows them',
      batch([
        input({
          sequences: [{ type: 'protein', sequence: 'MK', id: null, modifications: null, msa: null }],
          covalent_bonds: null,
          pocket: null,
          distogram_conditioning: null,
        }),
      ]),
    ],
    [
      'no alignment, said of every kind of polymer',
      chains({ type: 'rna', sequence: 'ACGUN', msa: null }, protein({ msa: null }), {
        type: 'dna',
        sequence: 'ACGTN',
        msa: null,
      }),
    ],
    [
      'unnamed chains beside named ones',
      chains({ type: 'rna', sequence: 'ACGUN' }, protein(), { type: 'dna', sequence: 'ACGTN' }),
    ],
    [
      'a reference to an unnamed chain by the letter it gets',
      batch([
        input({
          sequences: [protein({ id: 'B' }), { type: 'ligand', smiles: 'CCO' }],
          pocket: { binder_chain_id: 'A', contacts: [['B', 4]] },
        }),
      ]),
    ],
    ['copies', chains(protein({ id: ['A', 'B', 'heavy-1'] }))],
    [
      'every conditioning at once',
      withTwo({
        covalent_bonds: [bond],
        pocket: { binder_chain_id: 'L', contacts: [['A', 0]] },
        distogram_conditioning: [{ chain_id: 'A', distogram: square(5) }],
      }),
    ],
    ['disclosed sequences of concern', batch([fold('MK', { potential_sequence_of_concern: true })])],
    ['2000 tasks', batch([fold('MK'), fold('MR')], { repeat: 1000 })],
  ];
  test.each(allowed)('%s', async (_name, body) => {
    const before = await storedBatches();
    const answer = await call('submit', body);
    expect(answer.body).toMatchObject({ status: 'success', data: { batch_id: expect.any(String) } });
    expect(await storedBatches()).toBe(before + 1);
    await call('cancel', { batch_id: answer.data.batch_id });
  });
});

describe('List, Status and Cancel refuse with 400', () => {
  const bad: [string, unknown, string][] = [
    ['list', {}, 'batch_id: is required'],
    ['list', { batch_id: 7 }, 'batch_id: must be a string, not 7'],
    ['list', { batch_id: '' }, 'batch_id: must have at least 1 characters'],
    ['list', { batch_id: 'x', limit: 0 }, 'limit: must be at least 1'],
    ['list', { batch_id: 'x', limit: 1001 }, 'limit: must be at most 1000'],
    ['list', { batch_id: 'x', limit: '10' }, 'limit: must be an integer'],
    ['list', { batch_id: 'x', status: 'running' }, 'status: must be one of "queued", "in_progress"'],
    ['list', { batch_id: 'x', include_responses: 'yes' }, 'include_responses: must be true or false'],
    ['list', { batch_id: 'x', page_size: 10 }, 'has no field "page_size"'],
    ['status', {}, 'task_id: is required'],
    ['status', { task_id: null }, 'task_id: must be a string, not null'],
    ['status', { task_id: 'a', batch_id: 'b' }, 'has no field "batch_id"'],
    ['cancel', {}, 'needs exactly one of task_id and batch_id, not neither'],
    ['cancel', { task_id: null, batch_id: null }, 'not neither'],
    ['cancel', { task_id: 'a', batch_id: 'b' }, 'not both'],
    ['cancel', { task_id: ['a'] }, 'task_id: must be a string'],
    ['cancel', 'null', 'must be an object'],
  ];
  test.each(bad)('%s %j', async (operation, body, text) => {
    const answer = await call(operation, body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(text);
  });

  test.each(['submit', 'list', 'status', 'cancel'])('%s without a JSON body', async (operation) => {
    expect((await call(operation, '')).body.message).toContain('is empty');
    expect((await call(operation, '{"batch_id":')).body.message).toContain('is not JSON');
    const typed = await call(operation, '{}', { 'content-type': 'text/plain' });
    expect([typed.status, typed.body.message]).toEqual([
      400,
      expect.stringContaining('Content-Type: application/json'),
    ]);
  });
});

describe('authentication', () => {
  test.each([
    'submit',
    'list',
    'status',
    'cancel',
  ])('%s without a token is 401 with its text under error', async (name) => {
    for (const authorization of ['', 'Basic eA==', 'Bearer', 'Bearer  ']) {
      const answer = await call(name, {}, { authorization });
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ status: 'error', error: expect.stringContaining('Bearer') });
      expect(answer.body).not.toHaveProperty('message');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  test('lets only the listed keys pass, where there is a list; the scheme is not case sensitive', async () => {
    const keyed = await startHeld({ apiKeys: ['alpha', 'beta'] });
    expect((await client(keyed.url, 'alpha')('list', { batch_id: 'x' })).status).toBe(404);
    expect((await client(keyed.url, 'gamma')('list', { batch_id: 'x' })).status).toBe(401);
    expect(
      (await client(keyed.url)('list', { batch_id: 'x' }, { authorization: 'bearer beta' })).status,
    ).toBe(404);
    await keyed.sandbox.close();
  });
});

test('paths and methods that do not exist are JSON 404 and 405, and every answer names the sandbox', async () => {
  for (const [method, path, status] of [
    ['GET', '/', 200],
    ['GET', '/nowhere', 404],
    ['GET', '/api/v1/batch/submit', 405],
    ['DELETE', '/api/v1/batch/list', 405],
    ['POST', '/downloads/results/x.json', 405],
    ['GET', '/downloads/results/x.json', 403],
  ] as const) {
    const response = await fetch(`${sandbox.url}${path}`, { method });
    expect([path, response.status]).toEqual([path, status]);
    expect(response.headers.get('x-sandbox')).toBe('1');
    expect(isJson(await response.json())).toBe(true);
    if (status === 405) expect(response.headers.get('allow')).toMatch(/^(POST|GET, HEAD)$/);
  }
});

test('a body over the limit is 413', async () => {
  const answer = await call('submit', `"${'x'.repeat(33 * 1024 * 1024)}"`);
  expect(answer.status).toBe(413);
});
