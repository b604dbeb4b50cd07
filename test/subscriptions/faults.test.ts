// When things go wrong around a watch or a look-up: an upstream that answers badly for a while, a store that does not answer at all.
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../src/gateway.ts';
import { createProgressHub } from '../../src/progress/progress-hub.ts';
import type { LeasedDocumentStore } from '../../src/store/documents/leased-documents.ts';
import { openAgent, type Upstream } from '../../src/upstream/http/upstream-client.ts';
import { runs } from '../property-runs.ts';
import { at } from '../support.ts';
import { answersOf, submit, subscribe, TOKEN } from './streams.ts';
import { endedLookup, fault, get, KNOWN, openGateway, run, startLookup, unknownHash } from './support.ts';

const PACE = { first: 30, slowest: 90 };
const WATCH =
  'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { total done settled } } changedTasks { taskId state } } }';

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

const rules = fc.array(
  fc.record(
    {
      times: fc.integer({ min: 1, max: 4 }),
      status: fc.constantFrom(429, 500, 502, 503, 504),
      spoil: fc.constantFrom('reset', 'truncate', 'garbage'),
      delay_ms: fc.integer({ min: 0, max: 60 }),
    },
    { requiredKeys: ['times'] },
  ),
  { maxLength: 5 },
);

describe('an upstream that answers badly for a while', () => {
  it('costs a watcher nothing but time', async () => {
    await fc.assert(
      fc.asyncProperty(rules, async (wrong) => {
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
            states.set(at(task, 'taskId'), at(task, 'state'));
        }
        expect(last).toMatchObject({ final: true, batch: { counts: { total: 5, done: 5 } } });
        expect([...states.values()]).toEqual(['DONE', 'DONE', 'DONE', 'DONE', 'DONE']);
      }),
      { numRuns: runs(4) },
    );
  }, 120_000);

  it('costs a bulk look-up nothing but time', async () => {
    let first = 0;
    await fc.assert(
      fc.asyncProperty(rules, rules, async (wrongStart, wrongPoll) => {
        for (const rule of wrongStart) await fault(sandbox.url, { operation: 'bulk', ...rule });
        for (const rule of wrongPoll) await fault(sandbox.url, { operation: 'bulkJob', ...rule });
        first += 1000;
        const hashes = [...KNOWN, ...Array.from({ length: 160 }, (_, i) => unknownHash(first + i))];
        const lookup = await startLookup(gateway, { hashes, structure: false, residueFeatures: false });
        const ended = await endedLookup(gateway, at(lookup, 'lookupId'), 60_000);
        expect(ended).toMatchObject({ state: 'COMPLETE', completedCount: hashes.length });
        await fetch(`${sandbox.url}/control/faults`, { method: 'DELETE' });
        const rows = (await (await get(gateway, at(ended, 'tsvUrl'))).text()).trimEnd().split('\n').slice(1);
        expect(rows.map((row) => row.split('\t').slice(0, 2))).toEqual(
          hashes.map((hash, i) => [hash, i < KNOWN.length ? 'FOUND' : 'NOT_IN_ATLAS']),
        );
      }),
      { numRuns: 2 },
    );
  }, 240_000);
});

describe('a store that does not answer', () => {
  it('costs the sharing between replicas, not the progress', async () => {
    const gone = async (): Promise<never> => {
      throw new Error('the store is gone');
    };
    const broken: LeasedDocumentStore = {
      shared: true,
      get: gone,
      put: gone,
      remove: gone,
      keys: gone,
      claim: gone,
      release: gone,
      close: async () => undefined,
    };
    let errors = 0;
    const live = createProgressHub({ documents: broken, pace: PACE, onError: () => (errors += 1) });
    const agent = openAgent();
    const upstream: Upstream = {
      settings: {
        baseUrl: sandbox.url,
        batchPrefix: '/api/v1/batch',
        atlasPrefix: '/atlas/protein/api/v1alpha1',
        listLimitField: 'limit',
        listCursorField: 'cursor',
        downloadHosts: [],
      },
      agent,
      token: TOKEN.authorization.slice('Bearer '.length),
      requestId: 'broken-store-test',
      signal: undefined,
      onCall: () => undefined,
    };
    const id = await submit(gateway, 2);
    const finals: boolean[] = [];
    for await (const news of live.watch('somebody', id, { upstream, signal: undefined, tasks: true })) {
      expect(news.kind).toBe('progress');
      if (news.kind === 'progress') finals.push(news.final);
    }
    expect(finals.at(-1)).toBe(true);
    expect(errors).toBeGreaterThan(0);
    expect(live.rooms).toBe(0);
    await live.nudge('somebody', id);
    live.close();
    await agent.close();
  });
});
