// batchProgress over Server-Sent Events: what a watcher sees from the first event to the last, and
// what the upstream is asked meanwhile.
import { createClient } from 'graphql-sse';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../src/gateway.ts';
import { type Answer, at, listAt } from '../support.ts';
import { answersOf, eventsOf, serve, submit, subscribe, TOKEN } from './streams.ts';
import { ask, fault, openGateway, pollsEnded, run, until } from './support.ts';

const PACE = { first: 60, slowest: 200 };
/** A pace at which no test sees a poll that it does not cause. */
const HOUR = 3_600_000;
const WATCH = `subscription($id: ID!) { batchProgress(batchId: $id) {
  sequence final nextPollSeconds estimatedSecondsLeft
  batch { batchId status counts { total queued inProgress done failed cancelled settled } }
  changedTasks { taskId index name status }
} }`;
const COUNTS =
  'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { queued done cancelled } } } }';

const clock = new ManualClock(Date.now());
const seen: { operation: string; body: string }[] = [];
let sandbox: Sandbox;
let gateway: Gateway;
let running: { stop(): void } | undefined;
/** Milliseconds by which the clock of the sandbox moves with each poll. */
let perPoll = 0;

beforeAll(async () => {
  const onRequest = (call: (typeof seen)[number]): void => {
    seen.push(call);
    if (call.operation === 'list') clock.advance(perPoll);
  };
  sandbox = await startSandbox({ size: 'small', clock, control: true, onRequest });
});
afterAll(() => sandbox.close());
beforeEach(() => {
  gateway = openGateway(sandbox.url, {}, PACE);
  seen.length = 0;
});
afterEach(async () => {
  running?.stop();
  running = undefined;
  perPoll = 0;
  await gateway.close();
  await fetch(`${sandbox.url}/control/faults`, { method: 'DELETE' });
});

const lists = () => seen.filter(({ operation }) => operation === 'list');
const silence = () => pollsEnded(() => lists().length, 3 * PACE.slowest);
const open = (query: string, id: string, init = {}) =>
  subscribe((request) => gateway.fetch(request), query, { id }, init);
const progress = (answer: Answer | undefined): unknown => {
  expect(answer?.errors).toBeUndefined();
  return at(answer?.data, 'batchProgress');
};

describe('a watched batch', () => {
  it('tells the present state at once, then every change with just the tasks that changed, then ends', async () => {
    const id = await submit(gateway, 12);
    const response = await open(WATCH, id);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events: unknown[] = [];
    const states = new Map<string, string>();
    for await (const answer of answersOf(response)) {
      const event = progress(answer);
      perPoll = 300;
      for (const task of listAt(event, 'changedTasks')) {
        const taskId = String(at(task, 'taskId'));
        expect(at(task, 'status')).not.toBe(states.get(taskId));
        expect(at(task, 'name')).toBe(`peptide ${at(task, 'index')}`);
        states.set(taskId, String(at(task, 'status')));
      }
      // Counts and tasks of one event belong together: tasks may only be ahead.
      const settled = [...states.values()].filter((state) => state === 'DONE').length;
      expect(settled).toBeGreaterThanOrEqual(Number(at(event, 'batch.counts.done')));
      events.push(event);
    }
    expect(events[0]).toMatchObject({
      sequence: 1,
      final: false,
      changedTasks: [],
      batch: { counts: { total: 12, queued: 12 } },
    });
    expect(at(events[0], 'nextPollSeconds')).toBe(1);
    // Nothing finished yet; in the end nothing is left.
    expect(at(events[0], 'estimatedSecondsLeft')).toBeNull();
    expect(at(events.at(-1), 'estimatedSecondsLeft')).toBe(0);
    const sequences = events.map((event) => Number(at(event, 'sequence')));
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
    expect(events.length).toBeGreaterThan(3);
    expect(events.at(-1)).toMatchObject({
      final: true,
      nextPollSeconds: null,
      batch: { status: 'DONE', counts: { total: 12, done: 12, settled: 12 } },
    });
    expect(events.slice(0, -1).some((event) => at(event, 'final'))).toBe(false);
    expect([...states.values()]).toEqual(Array.from({ length: 12 }, () => 'DONE'));
  });

  it('asks for item pages only when somebody wants tasks and the counts moved', async () => {
    const id = await submit(gateway, 6);
    const counts = answersOf(await open(COUNTS, id));
    await counts.next();
    // A watcher that wanted tasks and has left wants none.
    const leaving = new AbortController();
    await answersOf(await open(WATCH, id, { signal: leaving.signal })).next();
    leaving.abort();
    await until('one watcher', async () => {
      const metrics = await (await gateway.fetch(new Request('http://gateway.test/metrics'))).text();
      return /^foldatlas_watchers 1$/m.test(metrics);
    });
    running = run(clock, 20);
    for (let more = await counts.next(); more.done !== true; more = await counts.next());
    expect(lists().length).toBeGreaterThan(3);
    expect(lists().every(({ body }) => JSON.parse(body).include_responses === false)).toBe(true);
    seen.length = 0;
    // Settled: who comes later is told without a poll of the counts, tasks are read once.
    const late: Answer[] = [];
    for await (const answer of answersOf(await open(WATCH, id))) late.push(answer);
    expect(late).toHaveLength(1);
    expect(listAt(progress(late[0]), 'changedTasks')).toHaveLength(6);
    expect(at(progress(late[0]), 'final')).toBe(true);
    expect(lists().length).toBeLessThanOrEqual(2);
  });

  it('keeps silent while nothing changes, and stops polling within one interval after the last watcher left', async () => {
    const id = await submit(gateway, 2);
    const one = new AbortController();
    const two = new AbortController();
    const first = eventsOf(await open(COUNTS, id, { signal: one.signal }));
    const second = eventsOf(await open(COUNTS, id, { signal: two.signal }));
    const next = async (events: typeof first) => {
      for (;;) {
        const { value } = await events.next();
        if (value?.kind === 'next') return value.answer;
      }
    };
    expect(at(progress(await next(first)), 'sequence')).toBe(1);
    expect(at(progress(await next(second)), 'sequence')).toBe(1);
    await until('some polls', () => lists().length > 4);
    one.abort();
    const before = lists().length;
    await until('polls for the one that stays', () => lists().length > before);
    two.abort();
    await silence();
  });

  it('tells an unknown batch and a refused token as an error, and ends', async () => {
    seen.length = 0;
    for (const [id, status, code] of [
      ['nobody', undefined, 'NOT_FOUND'],
      ['nobody-either', 401, 'UNAUTHENTICATED'],
    ] as const) {
      if (status !== undefined)
        await fault(sandbox.url, { operation: 'list', status, body: { error: 'no' } });
      const answers: Answer[] = [];
      for await (const answer of answersOf(await open(COUNTS, id))) answers.push(answer);
      expect(answers).toHaveLength(1);
      expect(lists()).toHaveLength(1);
      seen.length = 0;
      expect(answers[0]?.errors?.[0]).toMatchObject({ path: ['batchProgress'], extensions: { code } });
    }
  });

  it('goes on through failed reads: tells of them after the third in a row, and of the recovery', async () => {
    await gateway.close();
    // The breaker has tests of its own.
    gateway = openGateway(sandbox.url, {}, PACE, { failures: 100, first: 1000, longest: 1000 });
    const id = await submit(gateway, 2);
    const answers = answersOf(await open(COUNTS, id));
    expect(at(progress((await answers.next()).value), 'sequence')).toBe(1);
    // Each read tries three times before it counts as failed; after ten failures List would be left
    // alone for a while.
    await fault(sandbox.url, { operation: 'list', status: 503, times: 3 * 3 });
    const told = (await answers.next()).value;
    expect(told?.errors?.[0]).toMatchObject({
      path: ['batchProgress'],
      extensions: {
        code: 'UPSTREAM_UNAVAILABLE',
        retryable: true,
        upstream: { operation: 'list', status: 503 },
      },
    });
    const recovered = progress((await answers.next()).value);
    expect(recovered).toMatchObject({ sequence: 2, final: false, batch: { counts: { queued: 2 } } });
    running = run(clock, 20);
    let last: unknown;
    for (let more = await answers.next(); more.done !== true; more = await answers.next())
      last = progress(more.value);
    expect(last).toMatchObject({ final: true, batch: { counts: { done: 2 } } });
  });

  it('polls at once after a cancel through this gateway', async () => {
    await gateway.close();
    gateway = openGateway(sandbox.url, {}, { first: HOUR, slowest: HOUR });
    const id = await submit(gateway, 3);
    const answers = answersOf(await open(WATCH, id));
    expect(at(progress((await answers.next()).value), 'nextPollSeconds')).toBeGreaterThanOrEqual(2880);
    const cancel = await ask(
      gateway,
      'mutation($id: ID!) { cancelBatch(batchId: $id) { __typename } }',
      { id },
      TOKEN,
    );
    expect(at(cancel.data, 'cancelBatch.__typename')).toBe('Cancelled');
    const last = progress((await answers.next()).value);
    expect(last).toMatchObject({
      sequence: 2,
      final: true,
      batch: { status: 'CANCELLED', counts: { cancelled: 3 } },
    });
    expect(listAt(last, 'changedTasks').map((task) => at(task, 'status'))).toEqual([
      'CANCELLED',
      'CANCELLED',
      'CANCELLED',
    ]);
    expect((await answers.next()).done).toBe(true);
  });

  it('keeps callers apart: another token sees nothing of the batch', async () => {
    const id = await submit(gateway, 1);
    await answersOf(await open(COUNTS, id)).next();
    const { value } = await answersOf(
      await open(COUNTS, id, { headers: { authorization: 'Bearer other' } }),
    ).next();
    expect(value?.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  });

  it('reads each event with loaders of its own', async () => {
    const id = await submit(gateway, 2);
    const query =
      'subscription($id: ID!) { batchProgress(batchId: $id) { final batch { counts { done } tasks { nodes { status } } } } }';
    let last: unknown;
    for await (const answer of answersOf(await open(query, id))) {
      last = progress(answer);
      running ??= run(clock, 20);
    }
    expect(listAt(last, 'batch.tasks.nodes')).toEqual([{ status: 'DONE' }, { status: 'DONE' }]);
  });
});

describe('over real HTTP', () => {
  it('speaks the GraphQL over SSE protocol by GET and by POST, with comments to keep the connection', async () => {
    const served = await serve(gateway);
    try {
      const id = await submit(gateway, 2);
      const client = createClient({ url: served.url, headers: TOKEN, singleConnection: false });
      const results = client.iterate({ query: COUNTS, variables: { id } });
      expect((await results.next()).value).toMatchObject({ data: { batchProgress: { sequence: 1 } } });
      const search = new URLSearchParams({ query: COUNTS, variables: JSON.stringify({ id }) });
      const got = await fetch(`${served.url}?${search}`, {
        headers: { ...TOKEN, accept: 'text/event-stream' },
      });
      expect(got.headers.get('content-type')).toContain('text/event-stream');
      expect(got.headers.get('cache-control')).toBe('private, no-store, no-transform');
      const kinds: string[] = [];
      for await (const event of eventsOf(got)) {
        kinds.push(event.kind);
        if (kinds.filter((kind) => kind === 'ping').length === 3) running ??= run(clock, 20);
      }
      expect(kinds.slice(0, 2)).toEqual(['ping', 'next']);
      expect(kinds.at(-1)).toBe('complete');
      let last: unknown;
      for await (const result of results) last = result;
      expect(last).toMatchObject({ data: { batchProgress: { final: true } } });
      client.dispose();
    } finally {
      await served.close();
    }
  });

  it('needs no token where the gateway on loopback holds the key, and a proof where it asks for one', async () => {
    const search = (id: string) => new URLSearchParams({ query: COUNTS, variables: JSON.stringify({ id }) });
    const accept = { accept: 'text/event-stream' };
    for (const [keys, given, status] of [
      ['', {}, 200],
      ['my-key-of-this-test', {}, 401],
      ['my-key-of-this-test', { authorization: 'Bearer my-key-of-this-test' }, 200],
    ] as const) {
      const own = openGateway(sandbox.url, { UPSTREAM_API_KEY: 'upstream', GATEWAY_API_KEYS: keys }, PACE);
      const served = await serve(own);
      // Asks by a name of this machine, which a gateway without proof of callers needs.
      const throughSocket = async (request: Request) =>
        fetch(served.url, {
          method: request.method,
          headers: request.headers,
          body: await request.text(),
        });
      const id = await submit({ ...own, fetch: throughSocket }, 1, {
        authorization: 'Bearer my-key-of-this-test',
      });
      const response = await fetch(`${served.url}?${search(id)}`, { headers: { ...accept, ...given } });
      expect(response.status).toBe(status);
      if (status === 200) expect(at(progress((await answersOf(response).next()).value), 'sequence')).toBe(1);
      await served.close();
      await own.close();
    }
  });

  it('notices a client whose connection is gone', async () => {
    const served = await serve(gateway);
    try {
      const id = await submit(gateway, 1);
      const leaving = new AbortController();
      const events = eventsOf(
        await subscribe(fetch, COUNTS, { id }, { url: served.url, signal: leaving.signal }),
      );
      await events.next();
      await until('some polls', () => lists().length > 3);
      leaving.abort();
      await silence();
    } finally {
      await served.close();
    }
  });

  it('completes every stream when it drains, so that clients can go elsewhere and find the present state there', async () => {
    const served = await serve(gateway);
    const id = await submit(gateway, 2);
    const kinds: string[] = [];
    for await (const event of eventsOf(await subscribe(fetch, COUNTS, { id }, { url: served.url }))) {
      kinds.push(event.kind);
      if (event.kind === 'next') gateway.drain();
    }
    expect(kinds.filter((kind) => kind !== 'ping')).toEqual(['next', 'complete']);
    // A stream that is opened now completes at once.
    const late = await subscribe(fetch, COUNTS, { id }, { url: served.url });
    for await (const event of eventsOf(late)) expect(event.kind).not.toBe('next');
    await served.close();
    const elsewhere = openGateway(sandbox.url, {}, PACE);
    const again = await subscribe((request) => elsewhere.fetch(request), COUNTS, { id });
    expect(at(progress((await answersOf(again).next()).value), 'batch.counts.queued')).toBe(2);
    await elsewhere.close();
  });
});
