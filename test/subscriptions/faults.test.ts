// When things go wrong around a watch or a look-up: an upstream that answers badly for a while, a
// store that does not answer at all.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import type { Gateway } from '../../src/gateway.ts';
import { createProgressHub } from '../../src/progress/progress-hub.ts';
import { type DocumentStore, openDocuments } from '../../src/store/documents.ts';
import type { Upstream } from '../../src/upstream/http/call.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { toUpstreamSettings } from '../../src/upstream/settings.ts';
import { runs } from '../property-runs.ts';
import { at } from '../support.ts';
import { openLiar, says } from '../upstream/liar.ts';
import { answersOf, submit, subscribe, TOKEN } from './streams.ts';
import { fault, openGateway, run, until } from './support.ts';

const PACE = { first: 30, slowest: 90 };
const WATCH =
  'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { total done settled } } changedTasks { taskId status } } }';

const clock = new ManualClock(Date.now());
let sandbox: Sandbox;
let gateway: Gateway;
let running: { stop(): void };
beforeAll(async () => {
  sandbox = await startSandbox({
    size: 'small',
    clock,
    control: true,
    limits: { submissionsPerMinute: 10_000, runningTasks: 40 },
  });
  // With the usual rules twenty faults in a row are two minutes of leaving the upstream alone.
  gateway = openGateway(sandbox.url, {}, PACE, { failures: 10, first: 200, longest: 1000 });
  running = run(clock, 10);
});
afterAll(async () => {
  running.stop();
  await gateway.close();
  await sandbox.close();
});
afterEach(() => fetch(`${sandbox.url}/control/faults`, { method: 'DELETE' }));

/** Faults of one operation. @param most - rules at most, of up to four faults each */
const rules = (most: number) =>
  fc.array(
    fc.record(
      {
        times: fc.integer({ min: 1, max: 4 }),
        status: fc.constantFrom(429, 500, 502, 503, 504),
        spoil: fc.constantFrom('reset', 'truncate', 'garbage'),
        delay_ms: fc.integer({ min: 0, max: 60 }),
      },
      { requiredKeys: ['times'] },
    ),
    { maxLength: most },
  );

describe('a client that subscribes again', () => {
  it('gets the present state first, not the one of before, also when the first read fails', async () => {
    const id = await submit(gateway, 3);
    const open = (init = {}) => subscribe((request) => gateway.fetch(request), WATCH, { id }, init);
    const leaving = new AbortController();
    await answersOf(await open({ signal: leaving.signal })).next();
    leaving.abort();
    clock.advance(600_000);
    // Long enough for the next poll to be due.
    await sleep(2 * PACE.slowest);
    await fault(sandbox.url, { operation: 'list', status: 500, times: 3 });
    const { value } = await answersOf(await open()).next();
    expect(at(value, 'data.batchProgress')).toMatchObject({ final: true, batch: { counts: { done: 3 } } });
  });
});

describe('an upstream that answers badly for a while', () => {
  it('costs a watcher nothing but time', async () => {
    await fc.assert(
      fc.asyncProperty(rules(5), async (wrong) => {
        const id = await submit(gateway, 5);
        for (const rule of wrong) await fault(sandbox.url, { operation: 'list', ...rule });
        const states = new Map<unknown, unknown>();
        let sequence = 0;
        let last: unknown;
        for await (const answer of answersOf(
          await subscribe((request) => gateway.fetch(request), WATCH, { id }),
        )) {
          if (answer.errors !== undefined) {
            expect(answer.errors[0]?.extensions.code).toMatch(/^(UPSTREAM_|RATE_LIMITED)/);
            continue;
          }
          last = at(answer.data, 'batchProgress');
          expect(Number(at(last, 'sequence'))).toBeGreaterThan(sequence);
          sequence = Number(at(last, 'sequence'));
          for (const task of at(last, 'changedTasks') as unknown[])
            states.set(at(task, 'taskId'), at(task, 'status'));
        }
        expect(last).toMatchObject({ final: true, batch: { counts: { total: 5, done: 5 } } });
        expect([...states.values()]).toEqual(['DONE', 'DONE', 'DONE', 'DONE', 'DONE']);
      }),
      { numRuns: runs(4) },
    );
  });
});

const upstreamAt = (baseUrl: string, connections: Upstream['connections']): Upstream => ({
  settings: toUpstreamSettings(readConfig({}), baseUrl),
  connections,
  token: TOKEN.authorization.slice('Bearer '.length),
  requestId: 'broken-store-test',
  signal: undefined,
});

describe('an upstream that is away and then refuses', () => {
  it('sends subscribers its last event or an error that says why before each stream ends', async () => {
    const liar = await openLiar();
    const own = openGateway(liar.url, {}, PACE, { failures: 1_000_000, first: 1, longest: 1 });
    const counts = { queued: 2 };
    liar.script('list', says(200, { data: { batch_id: 'b1', status: 'in_progress', counts } }));
    const codes: unknown[] = [];
    for await (const { errors } of answersOf(
      await subscribe((request) => own.fetch(request), WATCH, { id: 'b1' }),
    )) {
      codes.push(errors?.[0]?.extensions.code);
      const isAway = codes.length === 1;
      liar.script('list', isAway ? says(503, { message: 'away' }) : says(403, { message: 'key revoked' }));
    }
    expect(codes).toEqual([undefined, 'UPSTREAM_UNAVAILABLE', 'FORBIDDEN']);
    await Promise.all([own.close(), liar.close()]);
  });
});

describe('a batch whose tasks cannot be read', () => {
  const COUNTS = 'subscription($id: ID!) { batchProgress(batchId: $id) { final batch { counts { done } } } }';

  it.each([
    ['because they are no list', says(200, {}), 'UPSTREAM_DRIFT', 'UPSTREAM_DRIFT'],
    ['for a while', says(503, { message: 'away' }), 'UPSTREAM_UNAVAILABLE', 2],
  ])('%s shows its counts to those who watch only them, to the end', async (_, failing, code, last) => {
    const liar = await openLiar();
    const own = openGateway(liar.url, {}, PACE, { failures: 1_000_000, first: 1, longest: 1 });
    let done = 1;
    let hasRecovered = false;
    liar.script('list', (call) => {
      const { include_responses: all } = JSON.parse(call.body) as { include_responses: boolean };
      const counts = done === 2 ? { done } : { done, in_progress: 1 };
      const items = [0, 1].map((i) => ({ task_id: `b1-0000${i}`, status: 'done' }));
      const page = { status: 'in_progress', counts, cursor: null, ...(all ? { items } : {}) };
      if (all && !hasRecovered) failing(call);
      else says(200, { data: page })(call);
    });
    const watch = async (query: string, seen: unknown[]) => {
      const opened = await subscribe((request) => own.fetch(request), query, { id: 'b1' });
      for await (const { data, errors } of answersOf(opened))
        seen.push(errors?.[0]?.extensions.code ?? at(data, 'batchProgress.batch.counts.done'));
    };
    const tasks: unknown[] = [];
    const watchedTasks = watch(WATCH, tasks);
    const counts: unknown[] = [];
    const watchedCounts = watch(COUNTS, counts);
    await until('both to be told', () => counts.length === 1 && tasks.length === 1);
    done = 2;
    await watchedCounts;
    expect(counts).toEqual([1, 2]);
    hasRecovered = last === 2;
    await watchedTasks;
    expect(tasks).toEqual([code, last]);
    // The poller reads the tasks again: a new subscription does not end with the stored failure.
    hasRecovered = true;
    const later: unknown[] = [];
    await watch(WATCH, later);
    expect(later).toEqual([2]);
    await Promise.all([own.close(), liar.close()]);
  });
});

describe('a batch with tasks in a state that the gateway does not know', () => {
  it('ends when the service says that it is done, and not before', async () => {
    const liar = await openLiar();
    const own = openGateway(liar.url, {}, PACE);
    const list = (status: string) =>
      says(200, { data: { batch_id: 'b1', status, counts: { done: 1, timed_out: 1 } } });
    liar.script('list', list('in_progress'));
    const query = 'subscription($id: ID!) { batchProgress(batchId: $id) { final batch { status } } }';
    const events: unknown[] = [];
    for await (const { data } of answersOf(
      await subscribe((request) => own.fetch(request), query, { id: 'b1' }),
    )) {
      events.push(at(data, 'batchProgress'));
      liar.script('list', list('done'));
    }
    expect(events).toEqual([
      { final: false, batch: { status: 'IN_PROGRESS' } },
      { final: true, batch: { status: 'UNKNOWN' } },
    ]);
    await Promise.all([own.close(), liar.close()]);
  });
});

describe('a store that does not answer', () => {
  it('costs the sharing between replicas, not the progress', async () => {
    const gone = async (): Promise<never> => {
      throw new Error('the store is gone');
    };
    const broken: DocumentStore = {
      isShared: true,
      get: gone,
      keys: gone,
      put: gone,
      close: async () => undefined,
    };
    let errors = 0;
    const live = createProgressHub({ documents: broken, pace: PACE, onError: () => (errors += 1) });
    const connections = openServiceConnections();
    const upstream = upstreamAt(sandbox.url, connections);
    const id = await submit(gateway, 2);
    const finals: boolean[] = [];
    for await (const news of live.watch('a-caller', id, { upstream, signal: undefined, hasTasks: true })) {
      expect(news.kind).toBe('progress');
      if (news.kind === 'progress') finals.push(news.final);
    }
    expect(finals.at(-1)).toBe(true);
    expect(errors).toBeGreaterThan(0);
    expect(live.pollers).toBe(0);
    await live.pollNow('somebody', id);
    live.close();
    await connections.close();
  });

  it('costs no watcher of any replica the end of its batch, when it is away for a while', async () => {
    const liar = await openLiar();
    const store = openDocuments('memory:');
    const connections = openServiceConnections();
    const upstream = upstreamAt(liar.url, connections);
    const away = new Set<string>();
    const replica = (name: string) => {
      const reach =
        <A extends unknown[], R>(use: (...args: A) => Promise<R>) =>
        async (...args: A): Promise<R> => {
          if (away.has(name)) throw new Error('the store is gone');
          return use(...args);
        };
      const { get, put } = store;
      const documents: DocumentStore = { ...store, get: reach(get), put: reach(put), isShared: true };
      const live = createProgressHub({ documents, pace: PACE, onError: () => undefined });
      const seen: { done: number | undefined; final: boolean }[] = [];
      const watch = async (): Promise<void> => {
        for await (const event of live.watch('a-caller', 'b1', {
          upstream,
          signal: undefined,
          hasTasks: false,
        }))
          if (event.kind === 'progress') seen.push({ done: event.page.counts.done, final: event.final });
      };
      return { seen, watch, last: () => seen.at(-1) };
    };
    let done = 0;
    liar.script('list', (call) => {
      const counts = done === 9 ? { done } : { done, in_progress: 9 - done };
      says(200, { data: { batch_id: 'b1', status: 'in_progress', counts } })(call);
    });
    const [first, second] = [replica('first'), replica('second')];
    const watched = [first.watch()];
    await until('the first event', () => first.seen.length === 1);
    away.add('first').add('second');
    // The first sees five changes by itself; to the second, which comes later, they are one.
    for (done = 1; done <= 5; done += 1)
      await until(`${done} tasks to be done`, () => first.last()?.done === done);
    done = 5;
    watched.push(second.watch());
    await until('the second to watch', () => second.last()?.done === 5);
    away.delete('second');
    done = 6;
    await until('the second to go on', () => second.last()?.done === 6);
    away.delete('first');
    await until('the first to go on', () => first.last()?.done === 6);
    done = 9;
    await Promise.all(watched);
    expect([first.last(), second.last()]).toEqual([
      { done: 9, final: true },
      { done: 9, final: true },
    ]);
    await Promise.all([connections.close(), liar.close(), store.close()]);
  });
});
