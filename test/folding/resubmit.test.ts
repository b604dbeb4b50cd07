// resubmitFold: only the tasks in the named states go upstream again, in their order and under their names.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, listAt } from '../support.ts';
import { type Bench, INSULIN_A, openBench, protein, tiny } from './bench.ts';

const AGAIN = `mutation($id: ID!, $input: SubmitFoldInput!, $states: [TaskState!], $taskIds: [ID!]) {
  resubmitFold(batchId: $id, input: $input, states: $states, taskIds: $taskIds) {
    __typename
    ... on FoldSubmitted { replayed warnings { code path } batch { batchId label counts { total } tasks { nodes { name index } } } }
    ... on InvalidInput { issues { path code } }
    ... on OutcomeUnknown { idempotencyKey }
    ... on Problem { message hint }
  }
}`;

let bench: Bench;
beforeAll(async () => {
  bench = await openBench({}, { limits: { runningTasks: 100 } });
});
afterAll(() => bench.close());
beforeEach(() => bench.forget());

const again = async (
  id: string,
  input: Record<string, unknown>,
  states?: string[],
  more: Record<string, unknown> = {},
) => {
  const variables = { id, input, ...(states === undefined ? {} : { states }), ...more };
  const { data, errors } = await bench.ask(AGAIN, variables);
  expect(errors).toBeUndefined();
  return at(data, 'resubmitFold');
};
const sent = () => {
  const call = bench.calls.find(({ operation }) => operation === 'submit');
  const body: unknown = JSON.parse(call?.body ?? '{}');
  return {
    repeat: at(body, 'repeat'),
    lengths: listAt(body, 'payload').map(
      (item) => String(at(item, 'all_atom_input.sequences.0.sequence')).length,
    ),
  };
};

describe('resubmitting', () => {
  // The second item is longer than the service can fold: it fails in both repeats.
  const input = {
    label: 'first',
    repeat: 2,
    items: [
      protein(INSULIN_A, 'fine'),
      protein('V'.repeat(4100), 'too long'),
      protein('W'.repeat(4200), 'too long as well'),
    ],
  };
  let id: string;
  // Each test has a batch of its own: what was submitted again once is not submitted again twice.
  beforeEach(async () => {
    id = await bench.submit(input);
    await bench.pass(120_000);
    bench.forget();
  });

  it('sends the failed tasks of all repeats, order and names kept', async () => {
    const ending = await again(id, { ...input, label: 'second' });
    expect(ending).toMatchObject({
      __typename: 'FoldSubmitted',
      replayed: false,
      batch: {
        label: 'second',
        counts: { total: 4 },
        tasks: {
          nodes: ['too long', 'too long as well', 'too long', 'too long as well'].map((name, index) => ({
            name,
            index,
          })),
        },
      },
    });
    const paths = ['items.1', 'items.2', 'items.1', 'items.2'];
    expect(listAt(ending, 'warnings')).toEqual(paths.map((path) => ({ code: 'LONG_ITEM', path })));
    expect(sent()).toEqual({ repeat: 1, lengths: [4100, 4200, 4100, 4200] });
    expect(bench.counts()).toMatchObject({ submit: 1 });
  });

  it('tells mistakes that the service finds at the items of the input', async () => {
    const loc = ['body', 'payload', 1, 'all_atom_input', 'sequences', 0, 'protein', 'sequence'];
    const body = { detail: [{ loc, msg: 'too long', type: 'value_error' }] };
    await bench.fault({ operation: 'submit', status: 422, body });
    expect(at(await again(id, input), 'issues')).toEqual([
      { path: 'items.2.chains.0.protein.sequence', code: 'REFUSED_BY_UPSTREAM' },
    ]);
  });

  it('takes the states it is told', async () => {
    await again(id, input, ['DONE']);
    expect(sent()).toEqual({ repeat: 1, lengths: [21, 21] });
  });

  it('happens once for an idempotency key', async () => {
    const keyed = { ...input, idempotencyKey: 'again' };
    const one = await again(id, keyed);
    const two = await again(id, keyed);
    expect(two).toMatchObject({ replayed: true, batch: { batchId: at(one, 'batch.batchId') } });
    // The order of a list and what stands in it twice make no other request.
    const swapped = await again(id, keyed, ['CANCELLED', 'FAILED', 'FAILED']);
    expect(swapped).toMatchObject({ replayed: true, batch: { batchId: at(one, 'batch.batchId') } });
    expect(bench.counts()).toMatchObject({ submit: 1 });
    const others = [
      () => again(id, keyed, ['DONE']),
      () => again(id, keyed, undefined, { taskIds: [`${id}-00001`] }),
      () => again(id, { ...keyed, items: [protein('GIV', 'too long')], repeat: 1 }),
      async () => again(await bench.submit(input), keyed),
    ];
    for (const other of others) expect(at(await other(), '__typename')).toBe('IdempotencyConflict');
  });

  it('happens for one of two under one key where the first is refused meanwhile', async () => {
    await bench.fault({ operation: 'submit', status: 429, delay_ms: 300, body: { message: 'slow down' } });
    const keyed = { ...input, idempotencyKey: `one of ${id}` };
    const first = again(id, keyed);
    await expect.poll(() => bench.counts().submit).toBe(1);
    expect(await again(id, keyed)).toMatchObject({ __typename: 'FoldSubmitted', replayed: false });
    expect(await first).toMatchObject({ __typename: 'Refused' });
    expect(await again(id, keyed)).toMatchObject({ replayed: true });
  });

  it('is refused for another input, for no such task, for no such batch, and sends nothing', async () => {
    const issues = async (...args: Parameters<typeof again>) => listAt(await again(...args), 'issues');
    const nameless = { ...input, items: [...input.items, protein(INSULIN_A)] };
    expect(await issues(id, nameless)).toEqual([
      { path: 'items.3.name', code: 'NAME_NEEDED' },
      { path: 'repeat', code: 'OTHER_INPUT' },
    ]);
    const named = [protein('GIV', 'other'), protein('GIV', 'fine'), protein('GI', 'fine')];
    expect(await issues(id, { items: named })).toEqual([
      { path: 'items.0.name', code: 'UNKNOWN_NAME' },
      { path: 'items.2.name', code: 'AMBIGUOUS_NAME' },
    ]);
    expect(await issues(id, nameless, undefined, { taskIds: ['x'] })).toEqual([
      { path: 'items.3.name', code: 'NAME_NEEDED' },
      { path: 'repeat', code: 'OTHER_INPUT' },
      { path: 'taskIds.0', code: 'UNKNOWN_TASK' },
    ]);
    expect(await issues(id, { ...input, repeat: 3 })).toEqual([{ path: 'repeat', code: 'OTHER_INPUT' }]);
    expect(await issues(id, input, ['CANCELLED'])).toEqual([{ path: 'states', code: 'NOTHING_TO_RESUBMIT' }]);
    // checkFold cannot report this one, and is not recommended.
    expect(await again(id, input, ['CANCELLED'])).toMatchObject({ hint: 'Nothing was sent.' });
    expect(await again('nobody', input)).toMatchObject({ __typename: 'NotFound' });
    expect(await issues(id, { items: [] })).toEqual([{ path: 'items', code: 'EMPTY_LIST' }]);
    expect(await issues(id, input, undefined, { taskIds: ['x', `${id}-00000`] })).toEqual([
      { path: 'taskIds.0', code: 'UNKNOWN_TASK' },
      { path: 'taskIds.1', code: 'OTHER_STATE' },
    ]);
    expect(bench.counts()).not.toHaveProperty('submit');
  });

  const warningsOf = (ending: unknown) =>
    listAt(ending, 'warnings')
      .map((warning) => at(warning, 'code'))
      .filter((code) => code !== 'LONG_ITEM');

  it('needs a state, which the service must have, and a task where tasks are named', async () => {
    for (const [variables, message] of [
      [{ states: [] }, '`states` is empty'],
      [{ states: ['FAILED', 'UNKNOWN'] }, '`states` cannot hold UNKNOWN'],
      [{ taskIds: [] }, '`taskIds` is empty'],
    ] as const) {
      const { errors } = await bench.ask(AGAIN, { id, input, ...variables });
      expect(errors).toMatchObject([
        { message: expect.stringContaining(message), extensions: { code: 'BAD_USER_INPUT' } },
      ]);
    }
    expect(bench.counts().submit).toBeUndefined();
  });

  it('takes mended items alone, under their names, and says what it left out', async () => {
    const ending = await again(id, { items: [protein('MQIFVKTLTGK', 'too long')] });
    expect(sent()).toEqual({ repeat: 1, lengths: [11, 11] });
    expect(warningsOf(ending)).toEqual(['LEFT_OUT']);
    expect(at(ending, 'batch.tasks.nodes')).toEqual([
      { name: 'too long', index: 0 },
      { name: 'too long', index: 1 },
    ]);
    // An item that is done is not folded again.
    expect(listAt(await again(id, { items: [protein('GIV', 'fine')] }), 'issues')).toEqual([
      { path: 'states', code: 'NOTHING_TO_RESUBMIT' },
    ]);
  });

  it('does not guess which of two different items is meant that have one name', async () => {
    const twins = await bench.submit({
      items: [protein('V'.repeat(4100), 'twin'), protein('W'.repeat(4100), 'twin')],
    });
    await bench.pass(120_000);
    bench.forget();
    expect(listAt(await again(twins, { items: [protein('GIV', 'twin')] }), 'issues')).toEqual([
      { path: 'items.0.name', code: 'AMBIGUOUS_NAME' },
    ]);
    expect(bench.counts().submit).toBeUndefined();
  });

  it('takes the tasks that are named', async () => {
    const ending = await again(id, input, undefined, { taskIds: [`${id}-00004`] });
    expect(sent()).toEqual({ repeat: 1, lengths: [4100] });
    const keyed = { ...input, idempotencyKey: `two of ${id}` };
    const both = await again(id, keyed, undefined, { taskIds: [`${id}-00001`, `${id}-00002`] });
    const taskIds = [`${id}-00002`, `${id}-00001`, `${id}-00002`];
    expect(await again(id, keyed, undefined, { taskIds })).toMatchObject({
      replayed: true,
      batch: { batchId: at(both, 'batch.batchId') },
    });
    expect(at(ending, 'batch.counts.total')).toBe(1);
  });

  it('never pays twice without a key: the same again is the same batch, the rest a new one', async () => {
    const part = { taskIds: [`${id}-00001`] };
    const one = await again(id, input, undefined, part);
    for (const label of ['first', 'second'])
      expect(await again(id, { ...input, label }, undefined, part)).toMatchObject({
        replayed: true,
        batch: { batchId: at(one, 'batch.batchId') },
      });
    expect(bench.counts().submit).toBe(1);
    const rest = await again(id, input);
    expect([at(rest, 'replayed'), at(rest, 'batch.counts.total')]).toEqual([false, 3]);
    expect(warningsOf(rest)).toEqual(['ALREADY_RESUBMITTED']);
    expect(bench.counts().submit).toBe(2);
    // All were sent by now, in two batches; with other input it is no repetition, and nothing is sent.
    const mended = await again(id, { items: [protein('MQIFVKTLTGK', 'too long')] });
    expect(listAt(mended, 'issues')).toEqual([{ path: 'batchId', code: 'ALREADY_RESUBMITTED' }]);
    expect(bench.counts().submit).toBe(2);
  });

  it('happens once for many that ask at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => again(id, input)));
    expect(bench.counts().submit).toBe(1);
    expect(new Set(all.map((ending) => at(ending, 'batch.batchId'))).size).toBe(1);
    expect(all.filter((ending) => at(ending, 'replayed') === false)).toHaveLength(1);
  });

  it('is never sent again when its outcome is unknown, unless by a key of the caller', async () => {
    await bench.fault({ operation: 'submit', break_off_after: 1 });
    for (let tries = 0; tries < 2; tries += 1)
      expect(await again(id, input)).toMatchObject({ __typename: 'OutcomeUnknown', idempotencyKey: null });
    expect(await again(id, input, undefined, { taskIds: [`${id}-00001`] })).toMatchObject({
      __typename: 'IdempotencyConflict',
      message: expect.stringContaining('outcome is unknown'),
    });
    expect(bench.counts().submit).toBe(1);
    const keyed = await again(id, { ...input, idempotencyKey: `I accept that for ${id}` });
    expect(at(keyed, '__typename')).toBe('FoldSubmitted');
    expect(bench.counts().submit).toBe(2);
  });

  it.each([
    ['some', undefined],
    ['all', 'hers'],
  ])('happens once for many at the same time also where %s have keys of their own', async (_, third) => {
    await bench.fault({ operation: 'submit', delay_ms: 300 });
    const keys = ['mine', 'yours', third].map((key) => key && `${key} of ${id}`);
    const all = await Promise.all(keys.map((idempotencyKey) => again(id, { ...input, idempotencyKey })));
    expect(bench.counts().submit).toBe(1);
    expect(new Set(all.map((ending) => at(ending, 'batch.batchId'))).size).toBe(1);
    expect(all.filter((ending) => at(ending, 'replayed') === false)).toHaveLength(1);
  });

  it('is never sent again without a key when that under a key has an unknown outcome', async () => {
    await bench.fault({ operation: 'submit', break_off_after: 1 });
    const keyed = (key: string) => again(id, { ...input, idempotencyKey: `${key} of ${id}` });
    expect(await keyed('first')).toMatchObject({
      __typename: 'OutcomeUnknown',
      idempotencyKey: `first of ${id}`,
    });
    expect(await again(id, input)).toMatchObject({ __typename: 'OutcomeUnknown', idempotencyKey: null });
    expect(bench.counts().submit).toBe(1);
    // A caller that accepts to pay twice says so by another key, also a second time, and after that all is known again.
    await bench.fault({ operation: 'submit', break_off_after: 1 });
    expect(await keyed('second')).toMatchObject({ __typename: 'OutcomeUnknown' });
    expect(await keyed('third')).toMatchObject({ __typename: 'FoldSubmitted', replayed: false });
    expect(await again(id, input)).toMatchObject({ __typename: 'FoldSubmitted', replayed: true });
    expect(bench.counts().submit).toBe(3);
  });

  it('links the batches, and goes on from the second to a third', async () => {
    const second = String(at(await again(id, input), 'batch.batchId'));
    await bench.pass(120_000);
    const LINKED = `query($id: ID!) { batch(batchId: $id) { resubmissionOf { batchId } resubmissions { batchId } } }`;
    const linksOf = async (batchId: string) => at((await bench.ask(LINKED, { id: batchId })).data, 'batch');
    // The name stands twice there, once for each repeat.
    const mended = { items: [protein('GIV', 'too long as well')] };
    const third = at(await again(second, mended), 'batch.batchId');
    expect(await linksOf(id)).toEqual({ resubmissionOf: null, resubmissions: [{ batchId: second }] });
    expect(await linksOf(second)).toEqual({
      resubmissionOf: { batchId: id },
      resubmissions: [{ batchId: third }],
    });
    expect(at((await bench.ask(LINKED, { id }, 'another-key')).data, 'batch')).toBeNull();
  });

  it('finds the cancelled tasks of a large batch over several pages', async () => {
    await bench.control('queue', { hold: true });
    const big = { items: tiny(1500) };
    const bigId = await bench.submit(big);
    await bench.ask('mutation($id: ID!) { cancelBatch(batchId: $id) { __typename } }', { id: bigId });
    bench.forget();
    const ending = await again(bigId, big);
    expect(at(ending, 'batch.counts.total')).toBe(1500);
    expect(bench.counts()).toEqual({ list: 2, submit: 1 });
    await bench.control('queue', { hold: false });
  });
});
