// A batch from Submit to its results, row by row of the spec. It costs credits: a few dozen
// residues.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  hasToken,
  isJson,
  isOurs,
  type Json,
  listAt,
  maySpend,
  objectAt,
  openTarget,
  patience,
  type Target,
  textAt,
} from './target.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const states = ['queued', 'in_progress', 'done', 'failed', 'cancelled'];

describe.skipIf(!maySpend || !hasToken)('a batch', patience, () => {
  let target: Target;
  let submittedAt: number;
  let batchId: string;
  /**
   * Position 0 is a protein with a matrix of errors, position 1 a protein with RNA and a ligand.
   */
  const payload = (): Json[] => [
    {
      model: target.names.model,
      all_atom_input: { sequences: [{ type: 'protein', id: 'A', sequence: 'MQIFVKTLTGK', msa: null }] },
      include_pae: true,
    },
    {
      model: target.names.model,
      all_atom_input: {
        sequences: [
          { type: 'protein', id: ['A', 'B'], sequence: 'MKTAYIAKQR' },
          { type: 'rna', sequence: 'GGCUUC' },
          { type: 'ligand', ccd: ['ATP'] },
        ],
      },
      include_pair_chains_iptm: true,
    },
  ];
  const submit = (more: Json) => target.batch('submit', { endpoint: 'fold_max_accuracy', ...more });

  async function settled(id: string): Promise<Json> {
    for (let tries = 0; tries < 120; tries++) {
      const { data } = await target.batch('list', { batch_id: id });
      const { queued, in_progress } = objectAt(data, 'counts');
      if (queued === undefined && in_progress === undefined) return data;
      await target.wait(15_000);
    }
    throw new Error('the batch did not end in half an hour');
  }

  beforeAll(async () => {
    target = await openTarget();
    submittedAt = Date.now();
    const answer = await submit({ payload: payload(), repeat: 2 });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'success', request_id: expect.any(String) });
    expect(answer.data).toMatchObject({ message: expect.any(String), total_items: 4 });
    expect(answer.data).not.toHaveProperty('task_id');
    batchId = textAt(answer.data, 'batch_id');
  });
  afterAll(() => target.close());

  test('List: aggregate state, counts without zeros, deadline after 24 hours, expiry after 31 days', async () => {
    const { status, data } = await target.batch('list', { batch_id: batchId });
    expect(status).toBe(200);
    expect(['in_progress', 'done', 'failed', 'cancelled']).toContain(data.status);
    const counts = Object.entries(objectAt(data, 'counts'));
    expect(counts.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(4);
    for (const [state, count] of counts) {
      expect(states).toContain(state);
      expect(count).not.toBe(0);
    }
    expect(Math.abs(Date.parse(textAt(data, 'expires_at')) - submittedAt - DAY)).toBeLessThan(HOUR);
    expect(Math.abs(Date.parse(textAt(data, 'results_expire_at')) - submittedAt - 31 * DAY)).toBeLessThan(
      HOUR,
    );
  });

  test('List: items are <batch_id>-<five digits> from 00000, page after page until the cursor is null', async () => {
    const seen: string[] = [];
    let cursor: unknown;
    let pages = 0;
    do {
      const { data } = await target.batch('list', {
        batch_id: batchId,
        include_responses: true,
        [target.names.limitField]: 2,
        ...(typeof cursor === 'string' ? { [target.names.cursorField]: cursor } : {}),
      });
      const items = listAt(data, 'items');
      for (const item of items) expect(states).toContain(item.status);
      seen.push(...items.map((item) => textAt(item, 'task_id')));
      ({ cursor } = data);
      pages += 1;
    } while (cursor !== null && pages < 10);
    expect(seen).toEqual([0, 1, 2, 3].map((number) => `${batchId}-0000${number}`));
    expect([2, 3]).toContain(pages);
  });

  test('List: the status filter narrows the page and not the counts', async () => {
    const { data } = await target.batch('list', {
      batch_id: batchId,
      include_responses: true,
      status: 'cancelled',
    });
    expect(listAt(data, 'items')).toEqual([]);
    expect(
      Object.values(objectAt(data, 'counts')).reduce<number>((sum, count) => sum + Number(count), 0),
    ).toBe(4);
  });

  test('Status: a batch id is 404, and the message points to List or an item', async () => {
    const { status, body } = await target.batch('status', { task_id: batchId });
    expect(status).toBe(404);
    expect(textAt(body, 'message')).toMatch(/list|item|task/i);
  });

  test('a done task has a signed URL to its result, readable without a token; repeats come first in the order', async () => {
    const data = await settled(batchId);
    expect(data).toMatchObject({ status: 'done', counts: { done: 4 } });
    const tokens: number[] = [];
    for (const number of [0, 1, 2, 3]) {
      const { data: task } = await target.batch('status', { task_id: `${batchId}-0000${number}` });
      expect(task.status).toBe('done');
      const response = await fetch(textAt(task, 'response'));
      expect(response.status).toBe(200);
      const result: unknown = await response.json();
      tokens.push(checkResult(result, number % 2 === 0));
      if (task.artifacts !== undefined) {
        expect(task.artifacts_expire_in).toEqual(expect.any(Number));
        for (const url of Object.values(objectAt(task, 'artifacts')))
          expect((await fetch(String(url))).status).toBe(200);
      }
    }
    expect(tokens[0]).toBe(11);
    expect(tokens[2]).toBe(tokens[0]);
    expect(tokens[3]).toBe(tokens[1]);
  });

  /** @returns the number of tokens */
  function checkResult(result: unknown, withPae: boolean): number {
    const complex = objectAt(result, 'complex');
    const { sequence, atom_positions, atom_names, atom_elements, token_to_atoms, chain_id, plddt } = complex;
    if (!Array.isArray(sequence) || !Array.isArray(atom_positions) || !Array.isArray(plddt))
      throw new Error('no arrays');
    for (const list of [atom_names, atom_elements, complex.atom_hetero])
      expect(list).toHaveLength(atom_positions.length);
    for (const list of [token_to_atoms, chain_id, plddt]) expect(list).toHaveLength(sequence.length);
    for (const value of plddt) expect(Number(value) >= 0 && Number(value) <= 1).toBe(true);
    const { pae, pair_chains_iptm } = isJson(result) ? result : {};
    if (withPae) expect(pae).toHaveLength(sequence.length);
    else expect(pae ?? null).toBe(null);
    if (!withPae && Array.isArray(pair_chains_iptm) && pair_chains_iptm.length > 0)
      expect(pair_chains_iptm).toHaveLength(
        Object.keys(objectAt(objectAt(complex, 'metadata'), 'chain_lookup')).length,
      );
    return sequence.length;
  }

  test('List after the end: items say whether a response is stored, and never a URL of an artifact', async () => {
    await settled(batchId);
    const { data } = await target.batch('list', { batch_id: batchId, include_responses: true });
    for (const item of listAt(data, 'items')) {
      expect(item.status).toBe('done');
      expect(item.response !== undefined || item.response_available === true).toBe(true);
      expect(item).not.toHaveProperty('artifacts');
    }
  });

  test('Cancel: 409 for a batch without cancellable work', async () => {
    await settled(batchId);
    expect((await target.batch('cancel', { batch_id: batchId })).status).toBe(409);
  });

  test('a batch of one names its task; the default of repeat is 1', async () => {
    const { data } = await submit({ payload: payload().slice(0, 1) });
    expect(data.total_items).toBe(1);
    const { data: task } = await target.batch('status', { task_id: textAt(data, 'task_id') });
    expect(states).toContain(task.status);
    expect(task).toMatchObject({ expires_at: expect.any(String), results_expire_at: expect.any(String) });
  });

  test('Cancel: queued tasks are cancelled, running ones go on, and cancelling again succeeds', async () => {
    const { data } = await submit({ payload: payload().slice(0, 1), repeat: 40 });
    const id = textAt(data, 'batch_id');
    const first = await target.batch('cancel', { batch_id: id });
    expect(first.status).toBe(200);
    expect((await target.batch('cancel', { batch_id: id })).status).toBe(200);
    const after = await settled(id);
    expect(after.status).toBe('cancelled');
    expect(Number(objectAt(after, 'counts').cancelled)).toBeGreaterThan(0);
  });

  test.skipIf(!isOurs)(
    'the 24-hour limit cancels what has not started; after 31 days Status is 410, List has bare statuses',
    async () => {
      await target.control('queue', { hold: true });
      const { data } = await submit({ payload: payload(), repeat: 1 });
      const id = textAt(data, 'batch_id');
      await target.wait(DAY);
      expect((await target.batch('list', { batch_id: id })).data).toMatchObject({
        status: 'cancelled',
        counts: { cancelled: 2 },
      });
      await target.control('queue', { hold: false });
      await target.wait(30 * DAY);
      const gone = await target.batch('status', { task_id: `${batchId}-00000` });
      expect(gone.status).toBe(410);
      expect(gone.body).toMatchObject({
        status: 'error',
        message: expect.any(String),
        results_expire_at: expect.any(String),
      });
      const bare = await target.batch('list', { batch_id: batchId, include_responses: true });
      for (const item of listAt(bare.data, 'items'))
        expect(Object.keys(item).sort()).toEqual(['status', 'task_id']);
    },
  );
});
