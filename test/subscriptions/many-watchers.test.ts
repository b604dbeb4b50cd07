// Crowds: 1,000 watchers of 50 batches cost the upstream what 50 do; a reader that stops delays no
// other and costs nothing; replicas that share a store poll once between them.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { createBroadcast } from '../../src/async/broadcast.ts';
import type { Gateway } from '../../src/gateway.ts';
import { startCpuTimer } from '../cpu-time.ts';
import { at } from '../support.ts';
import { answersOf, serve, submit, subscribe, TOKEN } from './streams.ts';
import { openGateway, run, until, usualPause } from './support.ts';

const WATCH =
  'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { queued inProgress done } } changedTasks { taskId status } } }';

/** One caller may be a crowd here. */
const MANY = { MAX_SUBSCRIPTIONS: '0', RATE_LIMIT_PER_MINUTE: '0', MAX_CONCURRENT_REQUESTS: '0' };

const clock = new ManualClock(Date.now());
const asked: string[] = [];
const lists: { batchId: string; items: boolean; at: number }[] = [];
let sandbox: Sandbox;
let gateway: Gateway;

beforeAll(async () => {
  sandbox = await startSandbox({
    size: 'small',
    clock,
    limits: { runningTasks: 200, submissionsPerMinute: 1000 },
    onRequest: ({ operation, body }) => {
      asked.push(operation);
      if (operation !== 'list') return;
      const { batch_id, include_responses } = JSON.parse(body) as {
        batch_id: string;
        include_responses: boolean;
      };
      lists.push({ batchId: batch_id, items: include_responses, at: Date.now() });
    },
  });
});
afterAll(() => sandbox.close());
beforeEach(() => {
  lists.length = 0;
});
afterEach(() => gateway.close());

describe('1,000 watchers on 50 batches', () => {
  it('cause the upstream calls of 50, and all see the end', { timeout: 300_000 }, async () => {
    // Signs of life for 1,000 clients three times a second would be most of what is measured here.
    gateway = openGateway(sandbox.url, MANY, { first: 500, slowest: 1000 }, undefined, 12_000);
    const ids: string[] = [];
    for (let i = 0; i < 50; i += 1) ids.push(await submit(gateway, 3));
    void globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    const spent = startCpuTimer();
    const started = Date.now();
    let finals = 0;
    let events = 0;
    const sequences: boolean[] = [];
    const watchOne = async (id: string) => {
      let last = 0;
      for await (const answer of answersOf(
        await subscribe((request) => gateway.fetch(request), WATCH, { id }),
      )) {
        events += 1;
        const sequence = Number(at(answer.data, 'batchProgress.sequence'));
        sequences.push(sequence > last);
        last = sequence;
        if (at(answer.data, 'batchProgress.final') === true) finals += 1;
      }
    };
    const watching: Promise<void>[] = [];
    while (watching.length < 1000) {
      watching.push(watchOne(ids[watching.length % 50] ?? ''));
      // A hundred come at once: however long all take, none of them waits too long for its
      // connection.
      if (watching.length % 100 === 0)
        await Promise.race([
          until('all to be told the present state', () => events >= watching.length),
          Promise.all(watching),
        ]);
    }
    void globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed - before;
    const metrics = await (await gateway.fetch(new Request('http://gateway.test/metrics'))).text();
    expect(metrics).toMatch(/^foldatlas_pollers 50$/m);
    expect(metrics).toMatch(/^foldatlas_watchers 1000$/m);
    const running = run(clock, 10);
    onTestFinished(running.stop);
    await Promise.all(watching);
    running.stop();
    const milliseconds = Date.now() - started;
    expect(finals).toBe(1000);
    expect(sequences.every(Boolean)).toBe(true);
    // 50 watchers cause at most one poll an interval (jitter shortens it by a fifth), and a page of
    // items for each event.
    const perBatch = new Map<string, { counts: number; items: number }>();
    for (const { batchId, items } of lists) {
      const of = perBatch.get(batchId) ?? { counts: 0, items: 0 };
      perBatch.set(batchId, { counts: of.counts + (items ? 0 : 1), items: of.items + (items ? 1 : 0) });
    }
    expect([...perBatch.keys()].sort()).toEqual([...ids].sort());
    for (const { counts, items } of perBatch.values()) {
      expect(counts).toBeLessThanOrEqual(Math.ceil(milliseconds / 400) + 1);
      expect(items).toBeLessThanOrEqual(counts);
    }
    // Streams, requests and contexts of 1,000 clients included.
    expect(heap / 1000).toBeLessThan(200 * 1024);
    process.stdout.write(
      `1,000 watchers, 50 batches: ${lists.length} List calls, ${events} events, ${milliseconds} ms, CPU ${Math.round(spent())} ms, heap ${Math.round(heap / 1000 / 1024)} KiB a watcher\n`,
    );
  });
});

describe('an event that asks the upstream more', () => {
  it('asks once for all who ask the same, and anew for everybody else', async () => {
    gateway = openGateway(sandbox.url, MANY, { first: 60_000, slowest: 60_000 });
    const id = await submit(gateway, 3);
    clock.advance(120_000);
    const statuses = () => asked.filter((operation) => operation === 'status').length;
    asked.length = 0;
    const watch = (selection: string, headers?: Record<string, string>) =>
      subscribe(
        (request) => gateway.fetch(request),
        `subscription($id: ID!) { batchProgress(batchId: $id) { final changedTasks { ${selection} } } }`,
        { id },
        headers === undefined ? {} : { headers },
      );
    const toldTo = async (response: Response) => {
      const told = [];
      for await (const { data, errors } of answersOf(response)) told.push(JSON.stringify({ data, errors }));
      return told.join();
    };
    // Over sockets they come at the same time only where the connections are there already.
    const hello = () =>
      gateway.fetch(new Request('http://gateway.test/health')).then((response) => response.text());
    await Promise.all(Array.from({ length: 20 }, hello));
    const many = await Promise.all(Array.from({ length: 20 }, () => watch('taskId result { signedUrl }')));
    const told = await Promise.all(many.map(toldTo));
    expect(new Set(told).size).toBe(1);
    expect(told[0]).toMatch(/"final":true.*http/);
    expect(statuses()).toBe(3);
    // Another question, and another caller's address of the gateway, are answered by themselves.
    await toldTo(await watch('status result { signedUrl }'));
    expect(statuses()).toBe(6);
    expect(
      await toldTo(await watch('taskId result { signedUrl }', { authorization: 'Bearer another' })),
    ).toMatch(/"errors":\[/);
  });
});

describe('a slow reader', () => {
  it('costs a few words, however much it misses', async () => {
    gateway = openGateway(sandbox.url);
    const topic = createBroadcast<{ n: number; load: string }>();
    const slow = Array.from({ length: 2000 }, () =>
      topic.watch(
        (value) => value.n,
        undefined,
        () => undefined,
      ),
    );
    for (let n = 1; n <= 3000; n += 1) topic.publish({ n, load: 'x'.repeat(10_000) });
    // 2,000 queues of 3,000 values each would be 6 million entries.
    expect((await slow[0]?.next())?.value).toBe(3000);
    expect((await slow[1999]?.next())?.value).toBe(3000);
  });

  it('delays no other, and gets the latest when it reads again', async () => {
    gateway = openGateway(sandbox.url, MANY, { first: 40, slowest: 80 });
    const served = await serve(gateway);
    const sockets: Socket[] = [];
    try {
      const id = await submit(gateway, 400);
      // A client that opens a stream and never reads a byte of it.
      const body = JSON.stringify({ query: WATCH, variables: { id } });
      const { hostname, port } = new URL(served.url);
      for (let i = 0; i < 5; i += 1) {
        const socket = connect(Number(port), hostname);
        socket.pause();
        socket.write(
          `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nAuthorization: ${TOKEN.authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
        sockets.push(socket);
      }
      const running = run(clock, 2);
      onTestFinished(running.stop);
      let last: unknown;
      let events = 0;
      for await (const answer of answersOf(await subscribe(fetch, WATCH, { id }, { url: served.url }))) {
        last = answer.data;
        events += 1;
      }
      running.stop();
      expect(last).toMatchObject({
        batchProgress: { final: true, batch: { counts: { queued: 0, inProgress: 0 } } },
      });
      expect(events).toBeGreaterThan(1);
    } finally {
      for (const socket of sockets) socket.destroy();
      await served.close();
    }
  });
});

describe('replicas that share a store', () => {
  it('poll once between them, agree on the sequence, and hear of a cancel through another', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'replicas-'));
    const env = { STORE_URL: `sqlite:${join(folder, 'store.db')}` };
    const pace = { first: 600, slowest: 1200 };
    gateway = openGateway(sandbox.url, env, pace);
    const other = openGateway(sandbox.url, env, pace);
    try {
      const id = await submit(gateway, 4);
      const here = answersOf(await subscribe((request) => gateway.fetch(request), WATCH, { id }));
      const there = answersOf(await subscribe((request) => other.fetch(request), WATCH, { id }));
      const readSequence = async (answers: typeof here) =>
        at((await answers.next()).value?.data, 'batchProgress.sequence');
      expect([await readSequence(here), await readSequence(there)]).toEqual([1, 1]);
      lists.length = 0;
      const since = Date.now();
      await until('some polls', () => lists.length > 6);
      // Alone, each would poll every 480 to 1,440 ms.
      expect(lists.length).toBeLessThanOrEqual(Math.ceil((Date.now() - since) / 480) + 1);
      expect(usualPause(lists.map((list) => list.at))).toBeGreaterThan(pace.first * 0.8);
      const cancel = await other.fetch(
        new Request('http://gateway.test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...TOKEN },
          body: JSON.stringify({
            query: 'mutation($id: ID!) { cancelBatch(batchId: $id) { __typename } }',
            variables: { id },
          }),
        }),
      );
      expect(await cancel.json()).toMatchObject({ data: { cancelBatch: { __typename: 'Cancelled' } } });
      for (const answers of [here, there])
        expect((await answers.next()).value?.data).toMatchObject({
          batchProgress: { sequence: 2, final: true },
        });
    } finally {
      await other.close();
      await gateway.close();
      gateway = openGateway(sandbox.url);
      rmSync(folder, { recursive: true });
    }
  });
});
