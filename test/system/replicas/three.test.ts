// Three gateways as processes of their own over one Redis: what they share while all live, that
// they ask the store no more often for a request than one of them would, and that nothing is lost
// and nothing is paid twice when one is killed in the middle of its work.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../../store/redis-place.ts';
import { answersOf, subscribe } from '../../subscriptions/streams.ts';
import { fault, unknownHash, until, usualPause } from '../../subscriptions/support.ts';
import { at } from '../../support.ts';
import {
  batchIds,
  type Ending,
  queuedBatches,
  type ServerProcess,
  startServer,
  submitOnce,
} from '../server-process.ts';

const WATCH =
  'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { queued } } } }';
const PER_MINUTE = 300;

/** When the list of a batch was asked for. */
const polls: number[] = [];
let sandbox: Sandbox;
let place: RedisPlace;
let replicas: readonly ServerProcess[] = [];

/** The replica that gets the n-th request. */
const replica = (n: number): ServerProcess => replicas[n % replicas.length] as ServerProcess;

const open = (): Promise<ServerProcess> =>
  startServer({
    STORE_URL: place.url,
    GATEWAY_SECRET: 'one secret that all replicas share',
    UPSTREAM_URL: sandbox.url,
    RATE_LIMIT_PER_MINUTE: String(PER_MINUTE),
  });

const hold = (on: boolean): Promise<unknown> =>
  fetch(`${sandbox.url}/control/queue`, { method: 'POST', body: JSON.stringify({ hold: on }) });

describe.skipIf(NO_REDIS)('three processes that share a Redis', () => {
  beforeAll(async () => {
    place = await openRedisPlace();
    sandbox = await startSandbox({
      size: 'small',
      control: true,
      onRequest: ({ operation }) => {
        if (operation === 'list') polls.push(performance.now());
      },
    });
    replicas = await Promise.all([open(), open(), open()]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((one) => one.end('SIGKILL')));
    await sandbox.close();
    await place.remove();
  });

  it('pay once for a key that comes to all at the same moment', async () => {
    const before = await queuedBatches(sandbox.url);
    const key = randomUUID();
    const endings = await Promise.all(
      Array.from({ length: 6 }, (_, i) => submitOnce(replica(i), key, 'racer')),
    );
    expect(endings.map(({ kind }) => kind)).toEqual(endings.map(() => 'FoldSubmitted'));
    expect(endings.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    const queued = (await queuedBatches(sandbox.url)).filter((id) => !before.includes(id));
    expect(queued).toEqual([endings[0]?.batchId]);
  });

  it('have one poller for a batch that is watched at all of them', async () => {
    await hold(true);
    const { batchId } = await submitOnce(replica(0), randomUUID(), 'watcher');
    const leave = new AbortController();
    const streams = await Promise.all(
      replicas.map(async ({ url }) =>
        answersOf(
          await subscribe(
            fetch,
            WATCH,
            { id: batchId },
            {
              url: `${url}/graphql`,
              headers: { authorization: 'Bearer watcher' },
              signal: leave.signal,
            },
          ),
        ),
      ),
    );
    const next = () =>
      Promise.all(streams.map(async (answers) => at((await answers.next()).value?.data, 'batchProgress')));
    expect((await next()).map((event) => at(event, 'sequence'))).toEqual([1, 1, 1]);
    polls.length = 0;
    await until('some polls', () => polls.length >= 5);
    // Two seconds between polls, a fifth less by jitter; two pollers would need half as long.
    expect(usualPause(polls)).toBeGreaterThan(1600);
    await hold(false);
    for (const event of await next()) expect(at(event, 'sequence')).toBe(2);
    leave.abort();
    await Promise.all(streams.map((answers) => answers.return(undefined).catch(() => undefined)));
  });

  it('let a caller do as much as one of them would, not three times as much', async () => {
    const since = Date.now();
    // When it is tried again, nothing is spent yet.
    const spender = randomUUID();
    const ask = async ({ url }: ServerProcess): Promise<number> => {
      const answer = await fetch(`${url}/graphql?query={__typename}`, {
        headers: { authorization: `Bearer ${spender}` },
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    const statuses: number[] = [];
    for (let sent = 0; sent < PER_MINUTE * 1.5; sent += 30)
      statuses.push(...(await Promise.all(Array.from({ length: 30 }, (_, i) => ask(replica(i))))));
    const refills = ((Date.now() - since) / 60_000) * PER_MINUTE;
    const allowed = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(allowed).toBeLessThanOrEqual(PER_MINUTE + Math.ceil(refills));
    // Each of them may still hold a little that the other one cannot spend.
    expect(allowed).toBeGreaterThanOrEqual(PER_MINUTE * 0.8);
    expect((await replica(0).ask('{ __typename }', {}, 'somebody else')).errors).toBeUndefined();
  });

  it('ask the store as often for a request as one of them alone', async () => {
    const client = createClient({ url: place.url });
    await client.connect();
    const commands = async (): Promise<number> =>
      Number(/^total_commands_processed:(\d+)/m.exec(await client.info('stats'))?.[1]);
    // A client's allowance is taken from the store in portions, so each kind is asked for in the
    // same number and by new clients.
    const countFor = async (name: string, ask: (n: number) => Promise<unknown>, shared: boolean) => {
      await sleep(300);
      const before = await commands();
      for (let n = 0; n < 12; n += 1) await ask(shared ? n : 0);
      await sleep(300);
      const after = await commands();
      return { name, each: (after - before) / 12 };
    };
    const { batchId } = await submitOnce(replica(0), randomUUID(), 'reader');
    let asked = 0;
    const tasks = 'query($id: ID!) { batch(batchId: $id) { tasks(first: 10) { nodes { taskId name } } } }';
    for (const [name, ask] of Object.entries({
      submissions: (n: number) => submitOnce(replica(n), randomUUID(), 'submitter'),
      pages: (n: number) => replica(n).ask(tasks, { id: batchId }, 'reader'),
      proteins: (n: number) =>
        replica(n).ask(
          'query($h: ProteinHash!) { protein(hash: $h) { length } }',
          { h: unknownHash(asked++) },
          'reader',
        ),
    })) {
      await Promise.all(replicas.map((_, n) => ask(n)));
      const alone = await countFor(name, ask, false);
      const together = await countFor(name, ask, true);
      expect(alone.each, name).toBeGreaterThan(0);
      // Portions of allowances and leases are taken by each of them.
      expect(together.each, name).toBeLessThanOrEqual(alone.each * 1.25 + 1);
    }
    client.destroy();
  });

  it('lose no batch and pay for nothing twice when one is killed under load', async () => {
    // When it is tried again, one of them is gone, and a payer may submit only so much in a minute.
    const payer = `payer-${randomUUID()}`;
    replicas = await Promise.all(
      replicas.map((one) => (one.child.exitCode === null && one.child.signalCode === null ? one : open())),
    );
    const before = new Set(await queuedBatches(sandbox.url));
    const [victim, survivor] = [replica(0), replica(1)];
    // Submissions take long enough that some are always under way.
    await fault(sandbox.url, { operation: 'submit', delay_ms: 120, times: 10_000 });
    const answered = new Map<string, Ending>();
    const lost = new Set<string>();
    let going = true;
    const load = async (one: ServerProcess): Promise<void> => {
      while (going) {
        const key = randomUUID();
        try {
          answered.set(key, await submitOnce(one, key, payer));
        } catch {
          lost.add(key);
          if (one === victim) return;
        }
      }
    };
    const loads = replicas.flatMap((one) => Array.from({ length: 4 }, () => load(one)));
    // By count, not by time: a fast machine would else use up what the service lets one key submit
    // in a minute.
    const haveBeenAnswered = async (count: number): Promise<void> => {
      while (answered.size < count) await sleep(20);
    };
    await haveBeenAnswered(40);
    await victim.end('SIGKILL');
    await haveBeenAnswered(60);
    going = false;
    await Promise.all(loads);
    await fetch(`${sandbox.url}/control/faults`, { method: 'DELETE' });

    expect(lost.size).toBeGreaterThan(0);
    expect(answered.size).toBeGreaterThan(lost.size);
    for (const { kind } of answered.values()) expect(kind).toBe('FoldSubmitted');
    const known = new Set(await batchIds(survivor, payer));
    for (const { batchId } of answered.values()) expect(known).toContain(batchId);

    // A caller without an answer asks again with the same key: it is the batch, or its outcome is
    // unknown, or it was never sent.
    const again = await Promise.all(
      [...lost].map(async (key) => ({ key, ...(await submitOnce(survivor, key, payer)) })),
    );
    for (const { kind } of again) expect(['FoldSubmitted', 'OutcomeUnknown']).toContain(kind);
    const unknown = again.filter(({ kind }) => kind === 'OutcomeUnknown').length;
    const queued = (await queuedBatches(sandbox.url)).filter((id) => !before.has(id));
    // Each key has at most one batch: those whose batch is known have one, the unknown ones none or
    // one.
    const certain = answered.size + again.length - unknown;
    expect(queued.length).toBeGreaterThanOrEqual(certain);
    expect(queued.length).toBeLessThanOrEqual(certain + unknown);
    const batches = [...answered.values(), ...again].flatMap(({ kind, batchId }) =>
      kind === 'FoldSubmitted' ? [batchId] : [],
    );
    expect(new Set(batches).size).toBe(certain);
    // And the same keys once more send nothing at all.
    await Promise.all([...answered.keys()].slice(0, 10).map((key) => submitOnce(survivor, key, payer)));
    expect((await queuedBatches(sandbox.url)).filter((id) => !before.has(id))).toHaveLength(queued.length);
  });
});
