// The machine's clock is set by a day, forward or back, and an operator sees nothing.
// Watched batches go on, keys stay spent, no caller is shut out for a day, and health checks tell
// of the present. (Only what is remembered for 31 days goes by that clock.)
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../../src/gateway.ts';
import { openRateLimiters } from '../../../src/http/access/rate-limit.ts';
import { createStoreGuard } from '../../../src/store/cache/shared-cache.ts';
import { openDocuments } from '../../../src/store/documents.ts';
import { answersOf, submit, subscribe, TOKEN } from '../../subscriptions/streams.ts';
import { ask, get, openGateway, until } from '../../subscriptions/support.ts';
import { at } from '../../support.ts';
import { submitOnce } from '../server-process.ts';

const DAY = 86_400_000;
const JUMPS = [
  ['forward', DAY],
  ['back', -DAY],
] as const;

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-clock-'));
// The upstream is another machine, with a clock of its own.
const clock = new ManualClock(Date.now());
const realNow = Date.now.bind(Date);
let jumped = 0;
let sandbox: Sandbox;
let gateway: Gateway;
let files = 0;

const jump = (by: number): void => {
  jumped += by;
};

beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small', clock, control: true });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  jumped = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + jumped);
  files += 1;
  gateway = openGateway(
    sandbox.url,
    { STORE_URL: `sqlite:${join(folder, `${files}.db`)}`, RATE_LIMIT_PER_MINUTE: '0' },
    { first: 80, slowest: 200 },
  );
});
afterEach(async () => {
  await gateway.close();
  vi.restoreAllMocks();
});

describe.each(JUMPS)('when the clock is set %s', (_, by) => {
  it('a watched batch is polled on and ends', async () => {
    const id = await submit(gateway, 2);
    const query = 'subscription($id: ID!) { batchProgress(batchId: $id) { final } }';
    const answers = answersOf(await subscribe((request) => gateway.fetch(request), query, { id }));
    await answers.next();
    jump(by);
    clock.advance(600_000);
    let last: unknown;
    for await (const answer of answers) {
      expect(answer.errors).toBeUndefined();
      last = at(answer.data, 'batchProgress.final');
    }
    expect(last).toBe(true);
  });

  it('a key stays spent, results can be fetched, and records are still found', async () => {
    const asker = {
      ask: (query: string, variables: Record<string, unknown> = {}) => ask(gateway, query, variables, TOKEN),
    };
    const first = await submitOnce(asker, 'once');
    clock.advance(600_000);
    jump(by);
    expect(await submitOnce(asker, 'once')).toMatchObject({ replayed: true, batchId: first.batchId });
    const { data, errors } = await ask(
      gateway,
      'query($id: ID!) { batch(batchId: $id) { tasks { nodes { taskId status } } } protein(hash: "12e9c9e4e2835c302e8ba615115edda3") { length } }',
      { id: first.batchId },
      TOKEN,
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'batch.tasks.nodes.0.status')).toBe('DONE');
    const url = `http://gateway.test/tasks/${at(data, 'batch.tasks.nodes.0.taskId')}/result.json`;
    expect((await get(gateway, url, TOKEN)).status).toBe(200);
    expect(at(data, 'protein.length')).toBe(110);
  });

  it('a caller who has used up a rate limit is told to wait a minute at most', async () => {
    const limiters = openRateLimiters('memory:', (error) => expect.unreachable(String(error)));
    const callers = limiters.create('caller', 40);
    for (let i = 0; i < 40; i += 1) await callers.consume('a caller');
    expect((await callers.consume('a caller')).isAllowed).toBe(false);
    jump(by);
    expect((await callers.consume('a caller')).resetSeconds).toBeLessThanOrEqual(60);
    await limiters.close();
  });

  it('a lease of a process that died does not outlive its time', async () => {
    const url = `sqlite:${join(folder, `leases-${by}.db`)}`;
    const [dead, alive] = [openDocuments(url), openDocuments(url)];
    const lease = { expected: 0, lifetimeMs: 45_000 };
    expect(await dead.put('work', '', lease)).toBe(1);
    expect(await alive.put('work', '', lease)).toBeNull();
    jump(by);
    expect(await alive.put('work', '', lease)).toBe(1);
    expect(await dead.put('work', '', lease)).toBeNull();
    await Promise.all([dead.close(), alive.close()]);
  });

  it('a cache that was left alone for a moment is not left alone for a day', async () => {
    const guard = createStoreGuard(
      () => undefined,
      () => undefined,
    );
    await guard(() => Promise.reject(new Error('gone')));
    const use = () => guard(async () => 'here');
    expect(await use()).toBeUndefined();
    jump(by);
    await until('it to be used again', async () => (await use()) === 'here');
  });

  it('readiness is looked at anew', async () => {
    const gone = await startSandbox({ size: 'small', clock });
    const other = openGateway(gone.url);
    const state = async (): Promise<unknown> =>
      at(await (await get(other, 'http://gateway.test/ready')).json(), 'state');
    expect(await state()).toBe('ready');
    jump(by);
    await gone.close();
    await until('the upstream to be missed', async () => (await state()) === 'degraded');
    await other.close();
  });
});
