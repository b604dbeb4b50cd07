// Batches and tasks through GraphQL: paging over the upstream's pages, counts and statuses, names,
// what each costs.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DIALECTS } from '../../sandbox/src/wire/conventions.ts';
import { at, listAt } from '../support.ts';
import { type Bench, INSULIN_A, INSULIN_B, openBench, protein, tiny } from './bench.ts';

describe.each(DIALECTS)('on a service that speaks %s:', (dialect) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench({}, { dialect, limits: { runningTasks: 1, submissionsPerMinute: 1000 } });
    await bench.control('queue', { hold: true });
  });
  afterAll(() => bench.close());
  beforeEach(() => bench.forget());

  const WALK = `query($id: ID!, $first: Int, $after: String, $statuses: [TaskStatus!]) {
  batch(batchId: $id) { tasks(first: $first, after: $after, statuses: $statuses) {
    totalCount edges { cursor node { taskId index inputIndex repeatIndex name status } } nodes { taskId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  } }
}`;

  async function walk(
    id: string,
    first: number,
    status?: string,
  ): Promise<{ nodes: unknown[]; pages: number }> {
    const nodes: unknown[] = [];
    let after: unknown = null;
    for (let pages = 1; ; pages++) {
      const { data, errors } = await bench.ask(WALK, { id, first, after, statuses: status && [status] });
      expect(errors).toBeUndefined();
      const page = at(data, 'batch.tasks');
      const edges = listAt(page, 'edges');
      expect(listAt(page, 'nodes')).toHaveLength(edges.length);
      nodes.push(...edges.map((edge) => at(edge, 'node')));
      expect(at(page, 'pageInfo.hasPreviousPage')).toBe(pages > 1);
      expect(at(page, 'pageInfo.startCursor')).toBe(at(edges[0], 'cursor'));
      expect(at(page, 'pageInfo.endCursor')).toBe(at(edges.at(-1), 'cursor'));
      if (at(page, 'pageInfo.hasNextPage') === false) return { nodes, pages };
      expect(edges).toHaveLength(first);
      after = at(page, 'pageInfo.endCursor');
    }
  }

  const limits = () =>
    bench.calls
      .filter(({ operation }) => operation === 'list')
      .map(({ body }): unknown => at(JSON.parse(body), 'limit'));

  describe('a batch of 2,000 tasks', () => {
    let id: string;
    beforeAll(async () => {
      id = await bench.submit({ items: tiny(1000), repeat: 2, label: 'big' });
    });

    it('is walked completely, in order, in as many List calls as pages', async () => {
      const { nodes, pages } = await walk(id, 300);
      expect(pages).toBe(7);
      expect(bench.counts()).toEqual({ list: 7 });
      expect(limits()).toEqual(Array(7).fill(300));
      expect(nodes).toEqual(
        Array.from({ length: 2000 }, (_, index) => ({
          taskId: `${id}-${String(index).padStart(5, '0')}`,
          index,
          inputIndex: index % 1000,
          repeatIndex: Math.floor(index / 1000),
          name: `tiny-${index % 1000}`,
          status: 'QUEUED',
        })),
      );
    });

    it('ends with its last full page: the empty page behind it is never asked for', async () => {
      const { nodes, pages } = await walk(id, 1000);
      expect([nodes.length, pages]).toEqual([2000, 2]);
      expect(bench.counts()).toEqual({ list: 2 });
    });

    it('tells existence, counts and a page in one call', async () => {
      const { data } = await bench.ask(
        `query($id: ID!) { batch(batchId: $id) { label status upstreamState counts { total queued done settled percentSettled } submittedAt queueDeadline tasks(first: 2) { totalCount nodes { index } } } }`,
        { id },
      );
      expect(data).toMatchObject({
        batch: {
          ...{ label: 'big', status: 'IN_PROGRESS', upstreamState: 'in_progress' },
          counts: { total: 2000, queued: 2000, done: 0, settled: 0, percentSettled: 0 },
          tasks: { totalCount: 2000, nodes: [{ index: 0 }, { index: 1 }] },
        },
      });
      expect(bench.counts()).toEqual({ list: 1 });
    });

    it('can be entered at any cursor', async () => {
      const { data } = await bench.ask(WALK, { id, first: 10 });
      const cursor = at(listAt(data, 'batch.tasks.edges')[3], 'cursor');
      bench.forget();
      const { data: rest } = await bench.ask(WALK, { id, first: 8, after: cursor });
      expect(listAt(rest, 'batch.tasks.edges').map((edge) => at(edge, 'node.index'))).toEqual([
        4, 5, 6, 7, 8, 9, 10, 11,
      ]);
      expect(bench.counts()).toEqual({ list: 2 });
    });

    it('refuses page sizes and cursors that are none', async () => {
      for (const variables of [{ first: 1001 }, { first: -1 }, { after: 'nonsense' }, { statuses: [] }]) {
        const { errors } = await bench.ask(WALK, { id, ...variables });
        expect(errors).toMatchObject([{ path: ['batch', 'tasks'], extensions: { code: 'BAD_USER_INPUT' } }]);
      }
      // The error concerns the batch alone; its other fields are answered.
      expect(bench.counts()).toEqual({ list: 4 });
      const { data } = await bench.ask(WALK, { id, first: 1 });
      const after = at(data, 'batch.tasks.pageInfo.endCursor');
      const { errors } = await bench.ask(WALK, { id, first: 1, after, statuses: ['DONE'] });
      expect(errors?.[0]?.message).toMatch(/in this order and with this filter/);
    });

    it('gives an empty page for first: 0 and says that there is more', async () => {
      const { data } = await bench.ask(WALK, { id, first: 0 });
      expect(at(data, 'batch.tasks')).toMatchObject({
        totalCount: 2000,
        edges: [],
        pageInfo: { hasNextPage: true, endCursor: null },
      });
    });
  });

  describe('an upstream that pages in its own way', () => {
    const page = (indexes: number[], cursor: string | null, status = 'queued', count = 5) => ({
      operation: 'list',
      status: 200,
      body: {
        data: {
          ...{ batch_id: 'b', status: 'in_progress', counts: { [status]: count }, cursor },
          items: indexes.map((index) => ({ task_id: `b-0000${index}`, status })),
        },
      },
    });
    /** A whole batch of nine, of which some are in a state. */
    const mixed = (inState: number[], status: string) => {
      const others = Array.from({ length: 9 }, (_, index) => index).filter((one) => !inState.includes(one));
      const named = (list: number[], word: string) =>
        list.map((index) => ({ task_id: `b-0000${index}`, status: word }));
      const counts = { [status]: inState.length, in_progress: others.length };
      const items = [...named(inState, status), ...named(others, 'in_progress')];
      const data = { batch_id: 'b', status: 'in_progress', counts, cursor: null, items };
      return { operation: 'list', status: 200, body: { data } };
    };
    const first = (n: number, status?: string) =>
      bench.ask(WALK, { id: 'b', first: n, statuses: status && [status] });
    const indexes = (data: unknown) =>
      listAt(data, 'batch.tasks.edges').map((edge) => at(edge, 'node.index'));
    const cursors = () =>
      bench.calls
        .filter(({ operation }) => operation === 'list')
        .map(({ body }): unknown => at(JSON.parse(body), 'cursor'));

    it('gives shorter pages than asked for, and an empty one between: the page is filled all the same', async () => {
      for (const rule of [page([0, 1], 'x'), page([], 'y'), page([2, 3, 4], null)]) await bench.fault(rule);
      const { data } = await first(4);
      expect(indexes(data)).toEqual([0, 1, 2, 3]);
      expect(at(data, 'batch.tasks.pageInfo.hasNextPage')).toBe(true);
      expect(cursors()).toEqual([undefined, 'x', 'y']);
      // The rest is behind the cursor, in the middle of the upstream's page, and behind the rest is
      // nothing.
      let after = at(data, 'batch.tasks.pageInfo.endCursor');
      for (const left of [[4], []]) {
        await bench.fault(page([2, 3, 4], null));
        const { data: rest } = await bench.ask(WALK, { id: 'b', first: 4, after });
        expect(indexes(rest)).toEqual(left);
        expect(at(rest, 'batch.tasks.pageInfo.hasNextPage')).toBe(false);
        after = at(rest, 'batch.tasks.pageInfo.endCursor');
      }
    });

    it.each([
      ['a page of tasks', 'tasks(first: 4)'],
      ['a page of tasks in one state', 'tasks(first: 4, statuses: [QUEUED])'],
      ['a ranking of all tasks', 'tasks(orderBy: NAME)'],
    ])('gives its first page again, as if it did not know our cursor: %s is an error', async (_, tasks) => {
      for (let times = 0; times < 2; times += 1) await bench.fault(page([0, 1], 'x'));
      const { errors } = await bench.ask(
        `{ batch(batchId: "b") { ${tasks} { totalCount nodes { index } } } }`,
      );
      expect(errors).toMatchObject([
        {
          message: expect.stringContaining('set UPSTREAM_LIST_FIELDS'),
          extensions: { code: 'UPSTREAM_DRIFT', retryable: true },
        },
      ]);
    });

    it('promises more for ever: it is not asked for ever, and its empty list is an error', async () => {
      for (const cursor of ['x', 'y', 'z', 'u', 'v']) await bench.fault(page([], cursor));
      expect((await first(4)).errors).toMatchObject([
        {
          message: expect.stringContaining('expected 5 items by the counts, seen 0 and a page without any'),
          extensions: { code: 'UPSTREAM_DRIFT' },
        },
      ]);
      expect(cursors()).toHaveLength(3);
      bench.forget();
      expect((await first(4, 'QUEUED')).errors?.[0]?.extensions.code).toBe('UPSTREAM_DRIFT');
      expect(cursors()).toHaveLength(1);
      await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    });

    it.each([
      ['enters', 'DONE', [1, 3, 5, 7, 8], [0, 1, 3, 5, 7], [1, 3, 5, 7]],
      ['leaves', 'QUEUED', [0, 1, 2, 3, 4], [1, 2, 3, 4, 6], [0, 1, 2, 3]],
      ['was the last one seen and leaves', 'QUEUED', [0, 1, 2, 3, 4], [0, 2, 3, 4, 6], [0, 1, 2, 3]],
      ['was the last one seen and leaves with the rest', 'QUEUED', [0, 1, 2, 3, 4], [0], [0, 1]],
      ['stands in another order', 'QUEUED', [0, 2, 1, 3, 4], [0, 2, 1, 3, 4], [0, 1, 2, 3]],
    ])('has tasks change between two pages of a filter: one that %s repeats and hides none', async (_, state, before, after, seen) => {
      await bench.fault(mixed(before, state.toLowerCase()));
      const { data } = await first(2, state);
      await bench.fault(mixed(after, state.toLowerCase()));
      const cursor = at(data, 'batch.tasks.pageInfo.endCursor');
      const { data: more } = await bench.ask(WALK, { id: 'b', first: 2, statuses: [state], after: cursor });
      expect([...indexes(data), ...indexes(more)]).toEqual(seen);
    });
  });

  describe('states', () => {
    it('are filtered, counted by the filter and walked to their end, in one List call a page', async () => {
      const id = await bench.submit({ items: tiny(7) });
      for (const index of [1, 3, 5, 6]) {
        await bench.ask('mutation($id: ID!) { cancelTask(taskId: $id) { __typename } }', {
          id: `${id}-0000${index}`,
        });
      }
      bench.forget();
      const { nodes } = await walk(id, 2, 'CANCELLED');
      expect(nodes.map((node) => at(node, 'index'))).toEqual([1, 3, 5, 6]);
      expect(bench.counts()).toEqual({ list: 2 });
      const { data } = await bench.ask(WALK, { id, statuses: ['QUEUED'] });
      expect(at(data, 'batch.tasks.totalCount')).toBe(3);
      expect(listAt(data, 'batch.tasks.edges').map((edge) => at(edge, 'node.name'))).toEqual([
        'tiny-0',
        'tiny-2',
        'tiny-4',
      ]);
      const none = await bench.ask(WALK, { id, statuses: ['FAILED'] });
      expect(at(none.data, 'batch.tasks')).toMatchObject({
        totalCount: 0,
        edges: [],
        pageInfo: { hasNextPage: false },
      });
    });

    it('are UNKNOWN for an unknown word, beside the word of the service', async () => {
      const id = await bench.submit({ items: tiny(2) });
      await bench.fault({
        operation: 'list',
        status: 200,
        body: {
          status: 'success',
          data: {
            ...{ batch_id: id, status: 'paused', counts: { done: 1, napping: 1 }, cursor: null },
            items: [
              { task_id: `${id}-00000`, status: 'done', response_available: true },
              { task_id: `${id}-00001`, status: 'napping' },
            ],
          },
        },
      });
      const { data } = await bench.ask(
        'query($id: ID!) { batch(batchId: $id) { status upstreamState counts { total done settled } queueDeadline tasks { nodes { status upstreamState } } } }',
        { id },
      );
      expect(data).toEqual({
        batch: {
          ...{ status: 'UNKNOWN', upstreamState: 'paused', queueDeadline: null },
          counts: { total: 2, done: 1, settled: 1 },
          tasks: {
            nodes: [
              { status: 'DONE', upstreamState: 'done' },
              { status: 'UNKNOWN', upstreamState: 'napping' },
            ],
          },
        },
      });
    });

    it.each([
      ['done', { done: 3 }, 'DONE'],
      ['done', { done: 1, failed: 2 }, 'PARTLY_FAILED'],
      ['done', { done: 1, cancelled: 2 }, 'PARTLY_FAILED'],
      ['done', { failed: 3 }, 'FAILED'],
      ['failed', { failed: 3 }, 'FAILED'],
      ['done', { cancelled: 2, failed: 1 }, 'FAILED'],
      ['cancelled', { cancelled: 2 }, 'CANCELLED'],
      ['cancelled', { cancelled: 2, in_progress: 1 }, 'CANCELLED'],
      ['canceled', { done: 3 }, 'CANCELLED'],
      ['in_progress', { queued: 2, done: 1 }, 'IN_PROGRESS'],
      ['in_progress', { queued: 2 }, 'IN_PROGRESS'],
      ['done', { queued: 2, cancelled: 1 }, 'IN_PROGRESS'],
      ['in_progress', {}, 'IN_PROGRESS'],
      ['in_progress', { done: 2 }, 'DONE'],
      ['done', { done: 1, paused: 1 }, 'UNKNOWN'],
      ['done', {}, 'UNKNOWN'],
      ['archived', { done: 3 }, 'UNKNOWN'],
    ])('are for a batch that is %s with %j: %s', async (word, counts, status) => {
      const body = { data: { status: word, counts, cursor: null } };
      await bench.fault({ operation: 'list', status: 200, body });
      const { data } = await bench.ask('{ batch(batchId: "any") { status } }');
      expect(data).toEqual({ batch: { status } });
    });
  });

  describe('a call that fails', () => {
    const refused = { status: 403, body: { message: 'no' } };
    it('keeps what the gateway itself holds where it is List', async () => {
      const id = await bench.submit({ items: tiny(1), label: 'kept' });
      await bench.fault({ operation: 'list', times: 99, ...refused });
      const { data, errors } = await bench.ask(
        '{ myBatches(first: 1) { nodes { batchId label status upstreamState counts { total } warnings tasks { totalCount } } } }',
      );
      const lost = { status: null, upstreamState: null, counts: null, warnings: null, tasks: null };
      expect(at(data, 'myBatches.nodes')).toEqual([{ batchId: id, label: 'kept', ...lost }]);
      expect(new Set(errors?.map(({ path }) => path?.at(-1)))).toEqual(new Set(Object.keys(lost)));
      await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    });

    it('keeps the state and the counts of the batch where it is that of the tasks', async () => {
      const id = await bench.submit({ items: tiny(2), label: 'kept' });
      const items = [{ status: 4 }, { status: 4 }];
      const body = { data: { status: 'in_progress', counts: { queued: 2 }, items, cursor: null } };
      await bench.fault({ operation: 'list', status: 200, body });
      const { data, errors } = await bench.ask(
        'query($id: ID!) { batch(batchId: $id) { label status counts { queued } tasks { nodes { taskId } } } }',
        { id },
      );
      expect(at(data, 'batch')).toEqual({
        ...{ label: 'kept', status: 'IN_PROGRESS', counts: { queued: 2 } },
        tasks: null,
      });
      expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
        ['batch.tasks', 'UPSTREAM_DRIFT'],
      ]);
    });
  });

  describe('absence', () => {
    it('is null, for batches and tasks that do not exist and of others', async () => {
      const id = await bench.submit({ items: tiny(2) });
      const query =
        'query($b: ID!, $t: ID!) { batch(batchId: $b) { status tasks { totalCount } } task(taskId: $t) { status } }';
      expect(await bench.ask(query, { b: 'nobody', t: 'nobody-00000' })).toEqual({
        data: { batch: null, task: null },
      });
      expect(await bench.ask(query, { b: id, t: `${id}-00000` }, 'another-key')).toEqual({
        data: { batch: null, task: null },
      });
      expect(await bench.ask(query, { b: id, t: `${id}-00001` })).toMatchObject({
        data: { task: { status: 'QUEUED' } },
      });
    });
  });

  describe('a task', () => {
    it('is read through Status, with its name, its place and its batch from the ledger', async () => {
      const id = await bench.submit({
        items: [protein(INSULIN_A, 'a'), protein(INSULIN_B, 'b')],
        repeat: 2,
        label: 'two',
      });
      bench.forget();
      const query = `query($id: ID!) { task(taskId: $id) { id name index inputIndex repeatIndex status result { ptm } error { message } batch { batchId label } inputChains { ids kind length proteinHash } } }`;
      const { data } = await bench.ask(query, { id: `${id}-00003` });
      expect(data).toMatchObject({
        task: {
          ...{ name: 'b', index: 3, inputIndex: 1, repeatIndex: 1, status: 'QUEUED' },
          ...{ result: null, error: null },
          batch: { batchId: id, label: 'two' },
          inputChains: [
            { ids: [], kind: 'PROTEIN', length: 30, proteinHash: expect.stringMatching(/^[0-9a-f]{32}$/) },
          ],
        },
      });
      expect(bench.counts()).toEqual({ status: 1 });
      const node = await bench.ask('query($id: ID!) { node(id: $id) { __typename ... on Task { name } } }', {
        id: at(data, 'task.id'),
      });
      expect(node.data).toEqual({ node: { __typename: 'Task', name: 'b' } });
    });

    it('has an opaque id where it is alone in its batch, and is known all the same', async () => {
      const id = await bench.submit({ items: [protein(INSULIN_A, 'alone')] });
      const { data } = await bench.ask(WALK, { id });
      const [edge] = listAt(data, 'batch.tasks.edges');
      expect(at(edge, 'node')).toMatchObject({ index: 0, inputIndex: 0, repeatIndex: 0, name: 'alone' });
      const taskId = at(edge, 'node.taskId');
      expect(String(taskId)).not.toContain(id);
      const { data: task } = await bench.ask(
        'query($id: ID!) { task(taskId: $id) { name index batch { batchId } } }',
        { id: taskId },
      );
      expect(task).toEqual({ task: { name: 'alone', index: 0, batch: { batchId: id } } });
    });

    it('has no name where its batch was not submitted here, and List proves the batch', async () => {
      const answer = await fetch(`${bench.sandboxUrl}/api/v1/batch/submit`, {
        method: 'POST',
        headers: { authorization: 'Bearer key-of-a-test', 'content-type': 'application/json' },
        body: JSON.stringify({
          endpoint: 'fold_max_accuracy',
          payload: [1, 2].map(() => ({
            model: 'foldmodel2-2026-05-cutoff-2025',
            all_atom_input: { sequences: [{ type: 'protein', sequence: 'GIV' }] },
          })),
        }),
      });
      const id = at(await answer.json(), 'data.batch_id');
      bench.forget();
      const { data } = await bench.ask(
        'query($t: ID!) { task(taskId: $t) { name inputIndex index inputChains { kind } batch { label counts { total } } } }',
        { t: `${id}-00001` },
      );
      expect(data).toEqual({
        task: {
          name: null,
          inputIndex: null,
          index: 1,
          inputChains: null,
          batch: { label: null, counts: { total: 2 } },
        },
      });
      expect(bench.counts()).toEqual({ status: 1, list: 1 });
    });
  });

  describe('what stands in an answer', () => {
    const task = (id: string, selection: string) =>
      bench.ask(`query($id: ID!) { task(taskId: $id) { ${selection} } }`, { id });

    it('artifacts are shown with the time until which their addresses work', async () => {
      const id = await bench.submit({ items: tiny(2) });
      const artifacts = { embeddings: 'https://files.example/e?signature=x' };
      const body = {
        status: 'success',
        data: { status: 'done', response: 'https://files.example/r', artifacts, artifacts_expire_in: 900 },
      };
      await bench.fault({ operation: 'status', status: 200, body });
      const { data } = await task(`${id}-00000`, 'artifacts { name url expiresAt }');
      const [artifact] = listAt(data, 'task.artifacts');
      expect(artifact).toMatchObject({ name: 'embeddings', url: artifacts.embeddings });
      const left = Date.parse(String(at(artifact, 'expiresAt'))) - Date.now();
      expect(left).toBeGreaterThan(880_000);
      expect(left).toBeLessThanOrEqual(900_000);
    });

    it.each([
      [
        'an object',
        { code: 'LIGAND_FAILED', message: 'no such ligand', more: 1 },
        'LIGAND_FAILED',
        'no such ligand',
      ],
      ['a sentence', 'CUDA out of memory', null, 'CUDA out of memory'],
      ['an object inside', { error: { message: 'no such ligand' }, code: 17 }, '17', 'no such ligand'],
      [
        'fields of its own',
        { reason: 'oom' },
        null,
        'The task failed; the upstream gave its reason in a form that is not known.',
      ],
    ])('an error is read from %s, and kept as it came', async (_, error, code, message) => {
      await bench.fault({ operation: 'status', status: 200, body: { data: { status: 'failed', error } } });
      const { data } = await task('any', 'status error { code message raw }');
      expect(data).toEqual({
        task: { status: 'FAILED', error: { code, message, raw: error } },
      });
    });

    it.each(['', {}])('of an error that is %j is none', async (error) => {
      const query = 'status error { message raw }';
      await bench.fault({ operation: 'status', status: 200, body: { data: { status: 'done', error } } });
      expect((await task('any', query)).data).toEqual({ task: { status: 'DONE', error: null } });
      await bench.fault({ operation: 'status', status: 200, body: { data: { status: 'failed', error } } });
      expect((await task('any', query)).data).toEqual({
        task: {
          status: 'FAILED',
          error: { message: 'The task failed; the upstream gives no reason.', raw: null },
        },
      });
    });

    it('an error that List leaves out is read from Status, for the table too', async () => {
      const items = [{ task_id: 't', status: 'failed' }];
      const body = { data: { status: 'done', counts: { failed: 1 }, cursor: null, items } };
      const error = { data: { status: 'failed', error: 'CUDA out of memory' } };
      await bench.fault({ operation: 'list', status: 200, body, times: 3 });
      await bench.fault({ operation: 'status', status: 200, body: error, times: 2 });
      const { data } = await bench.ask('{ batch(batchId: "b") { tasks { nodes { error { message } } } } }');
      expect(at(data, 'batch.tasks.nodes')).toEqual([{ error: { message: 'CUDA out of memory' } }]);
      const table = async () => {
        const headers = { authorization: 'Bearer key' };
        const url = 'http://gateway.test/batches/b/scores.tsv';
        return (await bench.gateway.fetch(new Request(url, { headers }))).text();
      };
      expect(await table()).toContain('CUDA out of memory');
      await bench.fault({ operation: 'status', status: 403, body: { message: 'not now' } });
      expect(await table()).toContain('Why it failed cannot be read: not now');
    });

    it('warnings are shown, wherever they stand', async () => {
      await bench.fault({
        operation: 'status',
        status: 200,
        body: { data: { status: 'queued', warning_messages: ['slow'] }, warning_messages: ['busy'] },
      });
      expect((await task('any', 'warnings')).data).toEqual({ task: { warnings: ['busy', 'slow'] } });
      await bench.fault({
        operation: 'list',
        status: 200,
        body: { data: { status: 'done', counts: { done: 1 } }, warning_messages: ['w'] },
      });
      expect((await bench.ask('{ batch(batchId: "any") { warnings } }')).data).toEqual({
        batch: { warnings: ['w'] },
      });
      const items = [
        { task_id: 'any-00000', status: 'in_progress' },
        { task_id: 'any-00001', status: 'queued' },
      ];
      const counts = { in_progress: 1, queued: 1 };
      await bench.fault({
        operation: 'list',
        status: 200,
        body: { data: { status: 'in_progress', counts, items, cursor: null } },
      });
      await bench.fault({
        operation: 'status',
        status: 200,
        body: { data: { status: 'in_progress', warning_messages: ['slow'] } },
      });
      bench.forget();
      expect((await bench.ask('{ batch(batchId: "any") { tasks { nodes { warnings } } } }')).data).toEqual({
        batch: { tasks: { nodes: [{ warnings: ['slow'] }, { warnings: [] }] } },
      });
      expect(bench.counts()).toEqual({ list: 1, status: 1 });
      await bench.fault({
        operation: 'submit',
        status: 200,
        body: { data: { batch_id: 'b', total_items: 1, warning_messages: ['late'] } },
      });
      const { data } = await bench.ask(
        'mutation($input: SubmitFoldInput!) { submitFold(input: $input) { ... on FoldSubmitted { warnings { code message } } } }',
        {
          input: { items: tiny(1) },
        },
      );
      expect(data).toEqual({ submitFold: { warnings: [{ code: 'UPSTREAM_WARNING', message: 'late' }] } });
      await bench.fault({
        operation: 'cancel',
        status: 200,
        body: { data: { cancelled: 1, warning_messages: ['charged'] }, warning_messages: ['soon'] },
      });
      const cancelled = await bench.ask(
        'mutation { cancelBatch(batchId: "b") { ... on Cancelled { warnings } } }',
      );
      expect(cancelled.data).toEqual({ cancelBatch: { warnings: ['soon', 'charged'] } });
    });
  });

  describe('myBatches', () => {
    it('is newest first, paged, the caller’s own, and free of upstream calls unless states are selected', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.push(await bench.submit({ items: tiny(2), label: `n${i}` }, 'lister'));
      bench.forget();
      const query =
        'query($after: String) { myBatches(first: 2, after: $after) { totalCount nodes { batchId label submittedAt } pageInfo { hasNextPage endCursor } } }';
      const seen: unknown[] = [];
      let after: unknown = null;
      for (;;) {
        const { data } = await bench.ask(query, { after }, 'lister');
        expect(at(data, 'myBatches.totalCount')).toBe(5);
        seen.push(...listAt(data, 'myBatches.nodes').map((node) => at(node, 'batchId')));
        if (at(data, 'myBatches.pageInfo.hasNextPage') === false) break;
        after = at(data, 'myBatches.pageInfo.endCursor');
      }
      expect(seen).toEqual([...ids].reverse());
      expect(bench.counts()).toEqual({});
      const { data } = await bench.ask(
        '{ myBatches(first: 3) { nodes { counts { queued } } } }',
        {},
        'lister',
      );
      expect(listAt(data, 'myBatches.nodes')).toEqual(Array(3).fill({ counts: { queued: 2 } }));
      expect(bench.counts()).toEqual({ list: 3 });
    });
  });

  describe('cancelling', () => {
    const CANCEL = `mutation($id: ID!) { cancelBatch(batchId: $id) {
    __typename
    ... on Cancelled { cancelledCount stillRunningCount alreadyCancelled batch { status counts { queued cancelled inProgress } } task { status } }
    ... on Problem { message hint }
    ... on NothingToCancel { left: batch { status counts { done } } }
  } }`;

    const COUNT =
      'mutation($id: ID!) { cancelBatch(batchId: $id) { ... on Cancelled { cancelledCount alreadyCancelled } } }';

    // An answer that does not say how many costs reading the counts before and after it.
    it('says what it did, and what was done already', async () => {
      const id = await bench.submit({ items: tiny(3) });
      bench.forget();
      const { data } = await bench.ask(CANCEL, { id });
      expect(data).toMatchObject({
        cancelBatch: {
          ...{
            __typename: 'Cancelled',
            cancelledCount: 3,
            stillRunningCount: 0,
            alreadyCancelled: false,
            task: null,
          },
          batch: { status: 'CANCELLED', counts: { queued: 0, cancelled: 3, inProgress: 0 } },
        },
      });
      expect(bench.counts()).toEqual({ list: 2, cancel: 1 });
      bench.forget();
      const again = await bench.ask(COUNT, { id });
      expect(again.data).toEqual({ cancelBatch: { cancelledCount: 0, alreadyCancelled: true } });
      expect(bench.counts()).toEqual({ list: 1, cancel: 1 });
    });

    it('counts only what was cancelled now', async () => {
      const id = await bench.submit({ items: tiny(4) });
      const task = `mutation($id: ID!) { cancelTask(taskId: $id) { ... on Cancelled { cancelledCount alreadyCancelled } } }`;
      bench.forget();
      expect((await bench.ask(task, { id: `${id}-00001` })).data).toEqual({
        cancelTask: { cancelledCount: 1, alreadyCancelled: false },
      });
      expect((await bench.ask(task, { id: `${id}-00001` })).data).toEqual({
        cancelTask: { cancelledCount: 0, alreadyCancelled: true },
      });
      expect(bench.counts()).toEqual({ status: 2, cancel: 2 });
      bench.forget();
      expect((await bench.ask(COUNT, { id })).data).toEqual({
        cancelBatch: { cancelledCount: 3, alreadyCancelled: false },
      });
      expect(bench.counts()).toEqual({ cancel: 1, list: dialect === 'plain' ? 2 : 1 });
    });

    it('reads nothing before where no count is selected', async () => {
      const id = await bench.submit({ items: tiny(2) });
      bench.forget();
      const { data } = await bench.ask('mutation($id: ID!) { cancelBatch(batchId: $id) { __typename } }', {
        id,
      });
      expect(data).toEqual({ cancelBatch: { __typename: 'Cancelled' } });
      expect(bench.counts()).toEqual({ cancel: 1 });
    });

    it('is done although the counts cannot be read, and a count that is not known is an error', async () => {
      const id = await bench.submit({ items: tiny(2) });
      await bench.fault({ operation: 'list', status: 404, times: 1, body: { message: 'no such batch' } });
      const { data, errors } = await bench.ask(COUNT, { id });
      if (dialect === 'rich') expect(at(data, 'cancelBatch.cancelledCount')).toBe(2);
      else
        expect(errors?.[0]).toMatchObject({
          path: ['cancelBatch', 'cancelledCount'],
          extensions: { code: 'UPSTREAM_DRIFT' },
        });
      const { data: after } = await bench.ask('query($id: ID!) { batch(batchId: $id) { status } }', { id });
      expect(after).toEqual({ batch: { status: 'CANCELLED' } });
    });

    it('one task leaves the others', async () => {
      const id = await bench.submit({ items: tiny(3) });
      const { data } = await bench.ask(
        'mutation($id: ID!) { cancelTask(taskId: $id) { ... on Cancelled { cancelledCount task { status name } batch { counts { queued cancelled } } } } }',
        { id: `${id}-00001` },
      );
      expect(data).toEqual({
        cancelTask: {
          cancelledCount: 1,
          task: { status: 'CANCELLED', name: 'tiny-1' },
          batch: { counts: { queued: 2, cancelled: 1 } },
        },
      });
    });

    it.each([0, 1])('one task of a batch that List does not know has no batch: %i', async (cancelled) => {
      await bench.fault({ operation: 'cancel', status: 200, body: { data: { cancelled } } });
      const { data, errors } = await bench.ask(
        'mutation { cancelTask(taskId: "unknown-00001") { ... on Cancelled { cancelledCount batch { batchId } } } }',
      );
      expect([errors, data]).toEqual([undefined, { cancelTask: { cancelledCount: cancelled, batch: null } }]);
    });

    it('tells how many go on', async () => {
      await bench.fault({ operation: 'cancel', status: 200, body: { data: { cancelled: 1 } } });
      const counts = { queued: 1, in_progress: 2 };
      await bench.fault({
        operation: 'list',
        status: 200,
        body: { data: { status: 'in_progress', counts } },
      });
      const { data } = await bench.ask(
        'mutation { cancelBatch(batchId: "b") { ... on Cancelled { stillRunningCount } } }',
      );
      expect(data).toEqual({ cancelBatch: { stillRunningCount: 2 } });
    });

    it('is NotFound for what does not exist, Refused for a bad key, and an error in trouble', async () => {
      expect((await bench.ask(CANCEL, { id: 'nobody' })).data).toMatchObject({
        cancelBatch: { __typename: 'NotFound', hint: expect.stringContaining('Check the id') },
      });
      const refused = await bench.ask(CANCEL, { id: 'nobody' }, 'sandbox-revoked');
      expect(refused.data).toMatchObject({ cancelBatch: { __typename: 'Refused' } });
      await bench.fault({ operation: 'cancel', status: 500, times: 10, body: { message: 'boom' } });
      const { errors } = await bench.ask(CANCEL, { id: 'nobody' });
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true });
      await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    });
  });

  it('limits are those of the spec', async () => {
    const { data } = await bench.ask(
      '{ limits { maxItems maxTasks queueDeadlineHours resultRetentionDays maxBulkHashes maxSimilaritySequenceLength maxQueryDepth maxQueryCost } }',
    );
    expect(data).toEqual({
      limits: {
        ...{ maxItems: 2000, maxTasks: 2000, queueDeadlineHours: 24, resultRetentionDays: 31 },
        ...{ maxBulkHashes: 500, maxSimilaritySequenceLength: 2048, maxQueryDepth: 12, maxQueryCost: 12_000 },
      },
    });
  });
});
