// Batch.tasks in orders and behind filters that the service does not have: the tasks, their
// cursors, and the upstream calls.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { at, listAt } from '../support.ts';
import { type Bench, INSULIN_A, INSULIN_B, openBench, protein, tiny } from './bench.ts';

const TASKS = `query($id: ID!, $orderBy: TaskOrder, $minIptm: Float, $minIpsae: Float, $statuses: [TaskStatus!], $first: Int, $after: String) {
  batch(batchId: $id) { tasks(orderBy: $orderBy, minIptm: $minIptm, minIpsae: $minIpsae, statuses: $statuses, first: $first, after: $after) {
    totalCount unscoredCount edges { cursor node { taskId name index status scores { iptm ptm meanPlddt ipsae chainPairs { a b iptm ipsae ipsaeMax pDockQ pDockQ2 lis meanPae minPae } } } } pageInfo { hasNextPage hasPreviousPage endCursor }
  } }
}`;

const pair = (name: string, cut: number) => ({
  name,
  chains: [
    { protein: { ids: ['A'], sequence: INSULIN_A } },
    { protein: { ids: ['B'], sequence: INSULIN_B.slice(0, cut) } },
  ],
});

let bench: Bench;
let id: string;
const names = ['d10', 'd2', 'single', 'd1', 'fails', 'd20', 'd3'];
beforeAll(async () => {
  bench = await openBench({}, { limits: { runningTasks: 100 } });
  id = await bench.submit({
    items: names.map((name, i) =>
      name === 'single'
        ? protein(INSULIN_A, name)
        : name === 'fails'
          ? protein('V'.repeat(4100), name)
          : pair(name, 30 - 3 * i),
    ),
  });
  await bench.pass(120_000);
});
afterAll(() => bench.close());
beforeEach(() => bench.forget());

const ask = async (variables: Record<string, unknown>, key?: string) => {
  const { data, errors } = await bench.ask(TASKS, { id, ...variables }, key);
  return { page: at(data, 'batch.tasks'), errors };
};
const listNodes = (page: unknown) => listAt(page, 'edges').map((edge) => at(edge, 'node'));
const listNames = (page: unknown) => listNodes(page).map((node) => at(node, 'name'));
const listIptm = (page: unknown) =>
  listNodes(page).flatMap((node) =>
    at(node, 'scores.iptm') == null ? [] : [Number(at(node, 'scores.iptm'))],
  );

describe('a ranking', () => {
  it('puts the best ipTM first, single chains behind, tasks without scores last', async () => {
    const { page, errors } = await ask({ orderBy: 'IPTM' });
    expect(errors).toBeUndefined();
    const iptm = listIptm(page);
    expect(iptm).toHaveLength(5);
    expect(iptm).toEqual([...iptm].sort((a, b) => b - a));
    expect(listNames(page).slice(5)).toEqual(['single', 'fails']);
    expect(page).toMatchObject({ totalCount: 7, unscoredCount: 0 });
    // One List, and each of the six results once.
    expect(bench.counts()).toEqual({ list: 1, status: 6, download: 6 });
  });

  it('costs one List call when the scores are stored, whatever the order and the filter', async () => {
    for (const args of [{ orderBy: 'PTM' }, { orderBy: 'PLDDT' }, { minIptm: 0.1 }]) {
      bench.forget();
      expect((await ask(args)).errors).toBeUndefined();
      expect(bench.counts()).toEqual({ list: 1 });
    }
    const { page } = await ask({ orderBy: 'PLDDT' });
    const plddt = listNodes(page).flatMap((node) => at(node, 'scores.meanPlddt') ?? []);
    expect(plddt).toEqual(plddt.toSorted((a, b) => Number(b) - Number(a)));
  });

  it('orders names as people read them, and by submission without an order', async () => {
    expect(listNames((await ask({ orderBy: 'NAME', statuses: ['DONE'] })).page)).toEqual([
      ...['d1', 'd2', 'd3', 'd10', 'd20', 'single'],
    ]);
    expect(listNames((await ask({ statuses: ['DONE', 'FAILED'] })).page)).toEqual(names);
    expect(bench.counts()).toEqual({ list: 2 });
  });

  it('filters by ipTM and by statuses', async () => {
    const all = listIptm((await ask({ orderBy: 'IPTM' })).page);
    const bound = all[2] ?? 0;
    const { page } = await ask({ orderBy: 'IPTM', minIptm: bound });
    expect(listIptm(page)).toEqual(all.filter((iptm) => iptm >= bound));
    expect(at(page, 'totalCount')).toBe(all.filter((iptm) => iptm >= bound).length);
    expect(listNames((await ask({ statuses: ['FAILED'] })).page)).toEqual(['fails']);
    expect(listNames((await ask({ statuses: ['FAILED', 'CANCELLED'] })).page)).toEqual(['fails']);
    expect(listNames((await ask({ statuses: ['UNKNOWN'] })).page)).toEqual([]);
    expect(at((await ask({ minIptm: 1 })).page, 'totalCount')).toBe(0);
  });

  it('is walked page by page, each task once', async () => {
    const whole = listNames((await ask({ orderBy: 'IPTM' })).page);
    const walked: unknown[] = [];
    for (let after: unknown = null; ; ) {
      const { page } = await ask({ orderBy: 'IPTM', first: 2, after });
      expect(at(page, 'pageInfo.hasPreviousPage')).toBe(walked.length > 0);
      walked.push(...listNames(page));
      if (at(page, 'pageInfo.hasNextPage') === false) break;
      after = at(page, 'pageInfo.endCursor');
    }
    expect(walked).toEqual(whole);
    const { page } = await ask({ orderBy: 'IPTM', first: whole.length });
    expect(at(page, 'pageInfo.hasNextPage')).toBe(false);
  });

  it('refuses what it cannot do, before it asks', async () => {
    const after = at((await ask({ orderBy: 'IPTM', first: 1 })).page, 'pageInfo.endCursor');
    bench.forget();
    for (const args of [
      { minIptm: 1.1 },
      { minIptm: -0.1 },
      { minIpsae: 1.1 },
      { statuses: [] },
      { orderBy: 'PTM', after },
      { orderBy: 'IPTM', statuses: ['DONE'], after },
      { after },
      { orderBy: 'IPTM', first: 1001 },
    ]) {
      const { errors } = await ask(args);
      expect([args, errors?.[0]?.extensions.code]).toEqual([args, 'BAD_USER_INPUT']);
    }
    expect(bench.counts().status).toBeUndefined();
  });

  it('says nothing to another caller', async () => {
    const { page, errors } = await ask({ orderBy: 'IPTM' }, 'another-key');
    expect([page, errors]).toEqual([undefined, undefined]);
  });
});

describe('a ranking by ipSAE', () => {
  // To the sandbox hydrophobic chains bind well.
  const STICKY = 'MAVILFWCVALIMFAVWLICAVFILMWVCA';
  const binder = (name: string, cut: number) => ({
    name,
    includePae: true,
    chains: [
      { protein: { ids: ['A'], sequence: STICKY } },
      { protein: { ids: ['B'], sequence: STICKY.slice(0, cut) } },
    ],
  });
  const DESIGNS = [
    { ...binder('without', 30), includePae: false },
    ...[30, 24, 18, 12, 6].map((cut) => binder(`cut${cut}`, cut)),
    { ...protein(INSULIN_A, 'alone'), includePae: true },
  ];
  const RESULT = `query($id: ID!) { task(taskId: $id) { result { chainPairs { a b iptm ipsae ipsaeMax pDockQ pDockQ2 lis meanPae minPae } } } }`;

  it('puts the best interface first, reads each result once, and stores what the result says', async () => {
    const own = await bench.submit({ items: DESIGNS });
    await bench.pass(120_000);
    bench.forget();
    const { page, errors } = await ask({ id: own, orderBy: 'IPSAE' });
    expect(errors).toBeUndefined();
    expect(bench.counts()).toEqual({ list: 1, status: 7, download: 7 });
    const ipsae = listNodes(page).map((node) => at(node, 'scores.ipsae'));
    expect(ipsae.slice(0, 5).every((score) => Number(score) > 0)).toBe(true);
    expect(ipsae.slice(0, 5)).toEqual(ipsae.slice(0, 5).toSorted((a, b) => Number(b) - Number(a)));
    expect(new Set(listNames(page).slice(5))).toEqual(new Set(['without', 'alone']));
    expect(ipsae.slice(5)).toEqual([null, null]);
    for (const node of listNodes(page)) {
      const { data } = await bench.ask(RESULT, { id: at(node, 'taskId') });
      const found = listAt(data, 'task.result.chainPairs');
      expect(found).toHaveLength(at(node, 'name') === 'alone' ? 0 : 2);
      expect(at(node, 'scores.chainPairs')).toEqual(found);
    }
    const bound = Number(ipsae[2]);
    bench.forget();
    expect(at((await ask({ id: own, minIpsae: bound })).page, 'totalCount')).toBe(3);
    const both = await ask({ id: own, minIpsae: bound, minIptm: 1 });
    expect(at(both.page, 'totalCount')).toBe(0);
    expect(bench.counts()).toEqual({ list: 2 });
  });

  it('has the scores of the best interface in the table', async () => {
    const own = await bench.submit({
      items: [
        {
          name: 'trimer',
          includePae: true,
          chains: [
            { protein: { ids: ['A', 'B'], sequence: STICKY } },
            { protein: { ids: ['C'], sequence: INSULIN_B } },
          ],
        },
      ],
    });
    await bench.pass(120_000);
    const answer = await bench.download(`/batches/${own}/scores.tsv`);
    const [head = [], row = []] = (await answer.text()).split('\n').map((line) => line.split('\t'));
    const cells = Object.fromEntries(head.map((name, k) => [name, row[k] ?? '']));
    const { page } = await ask({ id: own, orderBy: 'IPSAE' });
    const pairs = listAt(listNodes(page)[0], 'scores.chainPairs');
    const [best, back] = [pairs[0], pairs[1]];
    const rounded = (one: unknown, name: string) => String(Number(Number(at(one, name)).toFixed(4)));
    expect(cells).toMatchObject({
      interface: `${at(best, 'a')}-${at(best, 'b')}`,
      ipsae: rounded(best, 'ipsaeMax'),
      ipsae_min: String(Math.min(Number(rounded(best, 'ipsae')), Number(rounded(back, 'ipsae')))),
      pdockq: rounded(best, 'pDockQ'),
      pdockq2: rounded(best, 'pDockQ2'),
      lis: rounded(best, 'lis'),
      mean_pae: rounded(best, 'meanPae'),
      min_pae: rounded(best, 'minPae'),
      interfaces: [0, 2, 4]
        .map((k) => `${at(pairs[k], 'a')}-${at(pairs[k], 'b')}:${rounded(pairs[k], 'ipsaeMax')}`)
        .join(' '),
    });
  });
});

describe('tasks that finish while a ranking is walked', () => {
  it('never repeat or move those that were seen', async () => {
    await bench.control('queue', { hold: true });
    const own = await bench.submit({ items: [pair('a', 30), pair('b', 20), pair('c', 10)] });
    const waiting = await bench.ask(TASKS, { id: own, orderBy: 'IPTM', first: 1 });
    expect(listNames(at(waiting.data, 'batch.tasks'))).toEqual(['a']);
    const after = at(waiting.data, 'batch.tasks.pageInfo.endCursor');
    await bench.control('queue', { hold: false });
    await bench.pass(120_000);
    const { data } = await bench.ask(TASKS, { id: own, orderBy: 'IPTM', after });
    expect(listNames(at(data, 'batch.tasks'))).not.toContain('a');
    const again = await bench.ask(TASKS, { id: own, orderBy: 'IPTM' });
    expect(listNames(at(again.data, 'batch.tasks')).toSorted()).toEqual(['a', 'b', 'c']);
  });
});

describe('many that ask for the same ranking at once', () => {
  it('read each result once between them, also when the first of them leaves', async () => {
    const own = await bench.submit({ items: Array.from({ length: 20 }, (_, i) => pair(`p${i}`, 30 - i)) });
    await bench.pass(120_000);
    bench.forget();
    const leaving = new AbortController();
    const first = bench.gateway
      .fetch(
        new Request('http://gateway.test/graphql', {
          method: 'POST',
          signal: leaving.signal,
          headers: { 'content-type': 'application/json', authorization: 'Bearer key-of-a-test' },
          body: JSON.stringify({ query: TASKS, variables: { id: own, orderBy: 'IPTM' } }),
        }),
      )
      .catch(() => undefined);
    const others = ['IPTM', 'PTM', 'PLDDT'].map((orderBy) => bench.ask(TASKS, { id: own, orderBy }));
    while ((bench.counts().download ?? 0) < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    leaving.abort();
    await first;
    for (const { data, errors } of await Promise.all(others)) {
      expect(errors).toBeUndefined();
      expect(listIptm(at(data, 'batch.tasks'))).toHaveLength(20);
    }
    // Results that the first one had under way when it left may be read twice.
    expect(bench.counts().download).toBeLessThanOrEqual(20 + 8);
  });
});

describe('results that cannot be read', () => {
  it('make the ranking an error while the service fails, and nothing is read twice', async () => {
    const own = await bench.submit({ items: [pair('a', 30), pair('b', 20), pair('c', 10)] });
    await bench.pass(120_000);
    bench.forget();
    await bench.ask('query($id: ID!) { task(taskId: $id) { scores { iptm } } }', { id: `${own}-00001` });
    await bench.fault({ operation: 'status', status: 503, times: 99 });
    const failed = await bench.ask(TASKS, { id: own, orderBy: 'IPTM' });
    expect(failed.errors?.[0]).toMatchObject({
      message: expect.stringMatching(/^Scores of 0 of 2 finished tasks were read; ask again for the rest\./),
      extensions: { retryable: true },
    });
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    bench.forget();
    const { data, errors } = await bench.ask(TASKS, { id: own, orderBy: 'IPTM' });
    expect(errors).toBeUndefined();
    expect(listIptm(at(data, 'batch.tasks'))).toHaveLength(3);
    expect(bench.counts().download).toBe(2);
  });

  it('are not asked for one after the other where the reason holds for all of them', async () => {
    const own = await bench.submit({ items: tiny(20) });
    await bench.pass(120_000);
    bench.forget();
    await bench.fault({ operation: 'status', status: 401, times: 99 });
    const { errors } = await bench.ask(TASKS, { id: own, orderBy: 'IPTM' });
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(/^Scores of 0 of 20 finished tasks were read/),
      extensions: { code: 'UNAUTHENTICATED' },
    });
    // Eight were under way already.
    expect(bench.counts().status).toBeLessThanOrEqual(8);
  });

  it('are an error when the time is up, which says how many were read, and to ask again', async () => {
    const slow = await openBench({ REQUEST_TIMEOUT_MS: '3000' }, { limits: { runningTasks: 100 } });
    onTestFinished(() => slow.close());
    const own = await slow.submit({ items: Array.from({ length: 10 }, (_, i) => pair(`s${i}`, 12 + i)) });
    await slow.pass(120_000);
    await slow.fault({ operation: 'download', delay_ms: 20_000, times: 2 });
    const { errors } = await slow.ask(TASKS, { id: own, orderBy: 'IPTM' });
    expect(errors).toMatchObject([
      {
        message: expect.stringMatching(
          /^Scores of \d+ of 10 finished tasks were read; ask again for the rest\./,
        ),
        extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true },
      },
    ]);
  });

  it('count as unscored when the store refuses some of them, and are an error when it refuses all', async () => {
    const own = await bench.submit({ items: [pair('a', 30), pair('b', 20), pair('c', 10)] });
    await bench.pass(120_000);
    await bench.fault({ operation: 'download', status: 403, times: 99 });
    const all = await bench.ask(TASKS, { id: own, orderBy: 'IPTM' });
    expect(all.errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true });
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    await bench.ask('query($id: ID!) { task(taskId: $id) { scores { iptm } } }', { id: `${own}-00001` });
    await bench.fault({ operation: 'download', status: 403, times: 99 });
    const { data, errors } = await bench.ask(TASKS, { id: own, orderBy: 'IPTM' });
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    expect(at(data, 'batch.tasks')).toMatchObject({ totalCount: 3, unscoredCount: 2 });
    expect(listIptm(at(data, 'batch.tasks'))).toHaveLength(1);
    // The field of each task says why.
    expect(errors?.map(({ path }) => path?.at(-1))).toEqual(['scores', 'scores']);
  });

  it('count as unscored when they are damaged or expired', async () => {
    const own = await bench.submit({ items: [pair('a', 30), pair('b', 20)] });
    await bench.pass(120_000);
    await bench.fault({ operation: 'download', status: 200, body: 'no JSON', times: 1 });
    const { data, errors } = await bench.ask(TASKS, { id: own, orderBy: 'IPTM' });
    expect(at(data, 'batch.tasks.unscoredCount')).toBe(1);
    expect(listIptm(at(data, 'batch.tasks'))).toHaveLength(1);
    // The field of the task says why.
    expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual([
      ['scores', 'UPSTREAM_DRIFT'],
    ]);
    await bench.pass(32 * 24 * 3_600_000);
    bench.forget();
    const late = await bench.ask(TASKS, { id: own, orderBy: 'IPTM' });
    expect(at(late.data, 'batch.tasks.unscoredCount')).toBe(1);
    expect(listIptm(at(late.data, 'batch.tasks'))).toHaveLength(1);
    expect(bench.counts().download).toBeUndefined();
  });
});

describe('the cost of a ranking', () => {
  const readCost = async (selection: string, first = 100) => {
    const { data, errors, ...rest } = await bench.query(
      `query($id: ID!) { batch(batchId: $id) { ${selection.replaceAll('FIRST', `first: ${first}`)} } }`,
      { id },
      { authorization: 'Bearer key-of-a-test', 'x-upstream-report': '1' },
    );
    return Number(at(rest, 'extensions.upstream.cost'));
  };

  it('is that of the largest batch, once for all rankings of a batch', async () => {
    expect(await readCost('tasks(orderBy: IPTM, FIRST) { totalCount }')).toBe(4004);
    expect(await readCost('tasks(orderBy: NAME, FIRST) { totalCount }')).toBe(4);
    expect(
      await readCost(
        'a: tasks(orderBy: IPTM, FIRST) { totalCount } b: tasks(orderBy: PTM, FIRST) { totalCount }',
      ),
    ).toBe(4004);
  });
});
