// The calls of a client that was written for the real service, with its own prefixes and model,
// sent over HTTP to a sandbox that knows nothing of it: submit, poll, download, parse, cancel, and
// what it reads of the Atlas.
import { strFromU8, unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, listAt } from '../../../test/support.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import { DIALECTS } from '../../src/wire/conventions.ts';

const BATCH = '/api/v2/inference/batch';
const ATLAS = '/forge/protein/api/v1alpha1';
const MODEL = 'client-fold-2026-05';
const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const DONE = /^(done|failed|cancelled)$/;

/** Inputs as the client writes them: keys that it does not use are null. */
const chain = (type: string, sequence: string, id: string | null = null) => ({
  ...{ type, id, sequence, modifications: null },
  ...(type === 'protein' || type === 'rna' ? { msa: null } : {}),
});
const item = (...sequences: object[]) => ({
  model: MODEL,
  all_atom_input: { sequences, covalent_bonds: null, pocket: null, distogram_conditioning: null },
  potential_sequence_of_concern: false,
  include_pae: true,
  include_pair_chains_iptm: false,
  include_embeddings: false,
});

describe.each(DIALECTS)('a client of the service on a sandbox that speaks %s', (dialect) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    const wire = { batchPrefix: BATCH, atlasPrefix: ATLAS, models: [MODEL], jobThreshold: 1 };
    sandbox = await startSandbox({ size: 'small', speed: 5_000, dialect, wire });
  });
  afterAll(() => sandbox.close());

  const send = async (operation: string, body: unknown) => {
    const response = await fetch(`${sandbox.url}${BATCH}/${operation}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer client-key',
        'content-type': 'application/json',
        'user-agent': 'client-sdk/3.2.1 python/3.12',
      },
      body: JSON.stringify(body),
    });
    const json: unknown = await response.json();
    return { status: response.status, json };
  };
  const submit = async (payload: object[], repeat?: number) => {
    const { status, json } = await send('submit', {
      endpoint: 'fold_max_accuracy',
      payload,
      ...(repeat === undefined ? {} : { repeat }),
    });
    expect(status, JSON.stringify(json)).toBe(200);
    expect(json).toMatchObject({ status: 'success', request_id: expect.any(String) });
    expect(at(json, 'data')).toMatchObject({ message: expect.any(String), batch_id: expect.any(String) });
    return json;
  };

  /** Asks for the state of a task until it is a last one. */
  async function poll(taskId: unknown): Promise<unknown> {
    for (let tries = 0; tries < 500; tries++) {
      const { status, json } = await send('status', { task_id: taskId });
      expect(status).toBe(200);
      expect(at(json, 'status')).toBe('success');
      if (DONE.test(String(at(json, 'data.status')))) return at(json, 'data');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('The task does not end.');
  }

  it('submits one input, polls its task, downloads the result without its key, and parses it', async () => {
    const submitted = await submit([item(chain('protein', 'MKTAYIAKQR', 'A'), chain('rna', 'GGAUCC', 'R'))]);
    expect(at(submitted, 'data.total_items')).toBe(1);
    const task = await poll(at(submitted, 'data.task_id'));
    expect(task).toMatchObject({ status: 'done', response: expect.stringMatching(/^https?:\/\//) });
    const file = await fetch(String(at(task, 'response')));
    expect(file.status).toBe(200);
    const result: unknown = await file.json();
    const tokens = listAt(result, 'complex.sequence');
    expect(tokens).toHaveLength(16);
    expect(tokens.slice(0, 2)).toEqual(['MET', 'LYS']);
    expect(listAt(result, 'complex.token_to_atoms')).toHaveLength(16);
    expect(listAt(result, 'pae')).toHaveLength(16);
    expect(listAt(result, 'complex.atom_positions')).toHaveLength(
      listAt(result, 'complex.atom_names').length,
    );
    for (const score of listAt(result, 'complex.plddt')) {
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }
    expect(at(result, 'ptm')).toEqual(expect.any(Number));
  });

  it('lists a batch until every task has ended, in the order of the contract', async () => {
    const submitted = await submit([item(chain('protein', 'MKTAYIAKQR')), item(chain('dna', 'GATTACA'))], 2);
    const batch_id = at(submitted, 'data.batch_id');
    expect(at(submitted, 'data')).toMatchObject({ total_items: 4 });
    expect(at(submitted, 'data')).not.toHaveProperty('task_id');
    const list = () => send('list', { batch_id, include_responses: true });
    let listed = await list();
    for (let tries = 0; at(listed.json, 'data.status') === 'in_progress'; tries++) {
      if (tries === 500) throw new Error('The batch does not end.');
      await new Promise((resolve) => setTimeout(resolve, 20));
      listed = await list();
    }
    expect(at(listed.json, 'data')).toMatchObject({ status: 'done', counts: { done: 4 }, cursor: null });
    expect(listAt(listed.json, 'data.items').map((one) => at(one, 'task_id'))).toEqual(
      [0, 1, 2, 3].map((index) => `${String(batch_id)}-0000${index}`),
    );
  });

  it('cancels what is queued, once more without an error, and is refused where nothing is left', async () => {
    const submitted = await submit([item(chain('protein', 'MKTAYIAKQR'.repeat(30)))], 2000);
    const batch_id = at(submitted, 'data.batch_id');
    for (const _ of ['first', 'again']) {
      const { status, json } = await send('cancel', { batch_id });
      expect(status).toBe(200);
      expect(json).toMatchObject({ status: 'success', data: expect.any(Object) });
    }
    const { json } = await send('list', { batch_id, include_responses: false });
    expect(at(json, 'data.counts')).not.toHaveProperty('queued');
    expect(at(json, 'data.counts.cancelled')).toBeGreaterThan(0);
    const finished = await submit([item(chain('protein', 'MKT'))]);
    await poll(at(finished, 'data.task_id'));
    const refused = await send('cancel', { batch_id: at(finished, 'data.batch_id') });
    expect(refused).toMatchObject({ status: 409, json: { status: 'error', message: expect.any(String) } });
  });

  it('is told what is wrong in the form that it reads', async () => {
    const [one] = [item(chain('protein', 'MKT'))];
    const wrong = await send('submit', {
      endpoint: 'fold_max_accuracy',
      payload: [{ ...one, model: 'another' }],
    });
    expect(wrong).toMatchObject({
      status: 400,
      json: { status: 'error', message: expect.stringContaining(MODEL), request_id: expect.any(String) },
    });
    expect((await send('status', { task_id: 'nobody' })).status).toBe(404);
  });

  it('reads a protein, its cluster and a bulk job below its own prefix, without a key', async () => {
    const get = (path: string) => fetch(`${sandbox.url}${path}`);
    const protein: unknown = await (await get(`${ATLAS}/proteins/${INSULIN}?fold_on_miss=false`)).json();
    expect(protein).toMatchObject({ protein_hash: INSULIN, sequence_length: 110 });
    const sent = await fetch(`${sandbox.url}${ATLAS}/proteins/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ protein_hashes: [INSULIN, 'f'.repeat(32)], include_features: false }),
    });
    expect(sent.status).toBe(202);
    const handle: unknown = await sent.json();
    expect(handle).toMatchObject({ status: 'pending', job_id: expect.any(String) });
    let job = await get(String(at(handle, 'poll_url')));
    for (let tries = 0; job.status === 202; tries++) {
      if (tries === 500) throw new Error('The job does not end.');
      await job.arrayBuffer();
      await new Promise((resolve) => setTimeout(resolve, 20));
      job = await get(String(at(handle, 'poll_url')));
    }
    const ended: unknown = await job.json();
    expect(ended).toMatchObject({ status: 'completed', download_url: expect.stringMatching(/^https?:\/\//) });
    const zip = await fetch(String(at(ended, 'download_url')));
    const files = unzipSync(new Uint8Array(await zip.arrayBuffer()));
    expect(Object.keys(files)).toContain(`structures/${INSULIN}.pdb`);
    expect(strFromU8(files['sequences.fasta'] ?? new Uint8Array())).toMatch(new RegExp(`^>${INSULIN}\\|`));
  });
});
