// resubmitFold: only the tasks in the named states go upstream again, in their order and under their names.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, listAt } from '../support.ts';
import { type Bench, INSULIN_A, openBench, protein, tiny } from './bench.ts';

const AGAIN = `mutation($id: ID!, $input: SubmitFoldInput!, $states: [TaskState!]) {
  resubmitFold(batchId: $id, input: $input, states: $states) {
    __typename
    ... on FoldSubmitted { replayed warnings { code } batch { batchId label counts { total } tasks { nodes { name index } } } }
    ... on InvalidInput { issues { path code } }
    ... on Problem { message }
  }
}`;

let bench: Bench;
beforeAll(async () => {
  bench = await openBench({}, { limits: { runningTasks: 100 } });
});
afterAll(() => bench.close());
beforeEach(() => bench.forget());

const again = async (id: string, input: Record<string, unknown>, states?: string[]) => {
  const { data, errors } = await bench.ask(AGAIN, { id, input, ...(states === undefined ? {} : { states }) });
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
  beforeAll(async () => {
    id = await bench.submit(input);
    await bench.pass(120_000);
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
    expect(listAt(ending, 'warnings').map((warning) => at(warning, 'code'))).toEqual(
      Array(4).fill('LONG_ITEM'),
    );
    expect(sent()).toEqual({ repeat: 1, lengths: [4100, 4200, 4100, 4200] });
    expect(bench.counts()).toMatchObject({ submit: 1 });
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
    expect(bench.counts()).toMatchObject({ submit: 1 });
    expect(at(await again(id, keyed, ['DONE']), '__typename')).toBe('IdempotencyConflict');
  });

  it('is refused for another input, for no such task, for no such batch, and sends nothing', async () => {
    const issue = async (...args: Parameters<typeof again>) => listAt(await again(...args), 'issues')[0];
    const other = { ...input, items: [...input.items].reverse() };
    expect(await issue(id, other)).toEqual({ path: 'input', code: 'OTHER_INPUT' });
    expect(await issue(id, { ...input, repeat: 3 })).toEqual({ path: 'input', code: 'OTHER_INPUT' });
    expect(await issue(id, input, ['CANCELLED'])).toEqual({ path: 'states', code: 'NOTHING_TO_RESUBMIT' });
    expect(await issue('nobody', input)).toEqual({ path: 'batchId', code: 'UNKNOWN_BATCH' });
    expect(await issue(id, { items: [] })).toEqual({ path: 'items', code: 'EMPTY_LIST' });
    expect(bench.counts()).not.toHaveProperty('submit');
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
