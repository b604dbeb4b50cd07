// bulkLookupProgress: the present state, every change, the end; for clients without a token, over replicas and after a restart.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { JOB_LIMITS } from '../../sandbox/src/atlas/bulk-jobs.ts';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../src/gateway.ts';
import { answersOf, subscribe } from '../subscriptions/streams.ts';
import {
  ask,
  knownJobs,
  openGateway,
  run,
  startLookup,
  unknownHash,
  until,
} from '../subscriptions/support.ts';
import { at } from '../support.ts';

const WATCH =
  'subscription($id: ID!) { bulkLookupProgress(lookupId: $id) { state completedCount requestedCount parts { state } } }';
const ANONYMOUS = { headers: { authorization: '' } };
const input = {
  hashes: Array.from({ length: 1200 }, (_, i) => unknownHash(i)),
  structure: false,
  residueFeatures: false,
};

const clock = new ManualClock(Date.now());
let jobs = 0;
let sandbox: Sandbox;
let running: { stop(): void } | undefined;
const opened: Gateway[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({
    size: 'small',
    clock,
    onRequest: ({ operation }) => {
      if (operation === 'bulk') jobs += 1;
    },
  });
});
afterAll(() => sandbox.close());
afterEach(async () => {
  running?.stop();
  running = undefined;
  await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
  jobs = 0;
});

const open = (env: Record<string, string> = {}): Gateway => {
  const gateway = openGateway(sandbox.url, env);
  opened.push(gateway);
  return gateway;
};
const watch = async (gateway: Gateway, id: unknown) =>
  answersOf(await subscribe((request) => gateway.fetch(request), WATCH, { id }, ANONYMOUS));

/** Reads to the end. @returns every state seen, each change once, and the last event */
async function toTheEnd(answers: Awaited<ReturnType<typeof watch>>) {
  const states: string[] = [];
  const completed: number[] = [];
  for await (const { data, errors } of answers) {
    expect(errors).toBeUndefined();
    const state = String(at(data, 'bulkLookupProgress.state'));
    if (states.at(-1) !== state) states.push(state);
    completed.push(Number(at(data, 'bulkLookupProgress.completedCount')));
  }
  return { states, completed };
}

describe('progress of a bulk look-up', () => {
  it('comes at once, grows, and ends with the look-up, for any number of watchers', async () => {
    const gateway = open();
    const id = at(await startLookup(gateway, input), 'lookupId');
    const watching = [await watch(gateway, id), await watch(gateway, id)].map(toTheEnd);
    await until('the parts to be sent', () => jobs === 3);
    running = run(clock, 20);
    for (const { states, completed } of await Promise.all(watching)) {
      expect(states).toEqual(['PENDING', 'COMPLETE']);
      expect(completed[0]).toBe(0);
      expect(completed).toEqual([...completed].sort((a, b) => a - b));
      expect(completed.length).toBeGreaterThan(3);
      expect(completed.at(-1)).toBe(1200);
    }
    // Who comes after the end is told it, once.
    expect(await toTheEnd(await watch(gateway, id))).toEqual({ states: ['COMPLETE'], completed: [1200] });
  });

  it('refuses an unknown look-up and ends', async () => {
    const { value } = await (await watch(open(), 'nobody')).next();
    expect(value?.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  });

  it('is told by a replica that does not work on it, and goes on when the one that does stops', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bulk-replicas-'));
    const env = { STORE_URL: `sqlite:${join(folder, 'store.db')}` };
    const [worker, other] = [open(env), open(env)];
    const id = at(await startLookup(worker, input), 'lookupId');
    const watching = toTheEnd(await watch(other, id));
    await knownJobs(worker, id, 3);
    clock.advance(250 * JOB_LIMITS.msPerProtein);
    await worker.close();
    running = run(clock, 20);
    const { states, completed } = await watching;
    expect(states).toEqual(['PENDING', 'COMPLETE']);
    expect(completed.at(-1)).toBe(1200);
    expect(jobs).toBe(3);
    await other.close();
    opened.length = 0;
    rmSync(folder, { recursive: true });
  });

  it('shows a cancel through a replica that does not work on it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bulk-cancel-'));
    const env = { STORE_URL: `sqlite:${join(folder, 'store.db')}` };
    const [worker, other] = [open(env), open(env)];
    const id = at(await startLookup(worker, input), 'lookupId');
    const watching = toTheEnd(await watch(worker, id));
    await knownJobs(worker, id, 3);
    const { data } = await ask(
      other,
      'mutation($id: ID!) { cancelBulkLookup(lookupId: $id) { ... on BulkLookup { state } } }',
      { id },
    );
    expect(at(data, 'cancelBulkLookup.state')).toBe('CANCELLED');
    expect((await watching).states.at(-1)).toBe('CANCELLED');
    await Promise.all([worker.close(), other.close()]);
    opened.length = 0;
    rmSync(folder, { recursive: true });
  });
});
