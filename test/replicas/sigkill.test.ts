// Two gateways as processes of their own over one Redis: what they share while both live, and that nothing is lost and nothing is
// paid twice when one of them is killed in the middle of its work.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { answersOf, subscribe } from '../live/streams.ts';
import { fault } from '../live/support.ts';
import {
  batchIds,
  type Ending,
  queuedBatches,
  type ServerProcess,
  startServer,
  submitOnce,
} from '../server-process.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../store/redis-place.ts';
import { at } from '../support.ts';

const WATCH =
  'subscription($id: ID!) { batchProgress(batchId: $id) { sequence final batch { counts { queued } } } }';
const PER_MINUTE = 300;

let lists = 0;
let sandbox: Sandbox;
let place: RedisPlace;
let replicas: [ServerProcess, ServerProcess];

const open = (): Promise<ServerProcess> =>
  startServer({
    STORE_URL: place.url,
    GATEWAY_SECRET: 'one secret that all replicas share',
    UPSTREAM_URL: sandbox.url,
    RATE_LIMIT_PER_MINUTE: String(PER_MINUTE),
  });

const hold = (on: boolean): Promise<unknown> =>
  fetch(`${sandbox.url}/control/queue`, { method: 'POST', body: JSON.stringify({ hold: on }) });

describe.skipIf(NO_REDIS)('two processes that share a Redis', () => {
  beforeAll(async () => {
    place = await openRedisPlace();
    sandbox = await startSandbox({
      size: 'small',
      control: true,
      onRequest: ({ operation }) => {
        if (operation === 'list') lists += 1;
      },
    });
    replicas = await Promise.all([open(), open()]);
  }, 120_000);
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
    await sandbox.close();
    await place.remove();
  });

  it('pay once for a key that comes to both at the same moment', async () => {
    const key = randomUUID();
    const endings = await Promise.all(
      Array.from({ length: 6 }, (_, i) => submitOnce(i % 2 === 0 ? replicas[0] : replicas[1], key, 'racer')),
    );
    expect(endings.map(({ kind }) => kind)).toEqual(endings.map(() => 'FoldSubmitted'));
    expect(endings.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    expect(await queuedBatches(sandbox.url)).toEqual([endings[0]?.batchId]);
  });

  it('have one poller for a batch that is watched at both', async () => {
    await hold(true);
    const { batchId } = await submitOnce(replicas[0], randomUUID(), 'watcher');
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
    expect((await next()).map((event) => at(event, 'sequence'))).toEqual([1, 1]);
    lists = 0;
    const since = Date.now();
    await sleep(5000);
    // Two seconds between polls, a fifth less by jitter; two pollers would need twice as many.
    const polls = lists;
    expect(polls).toBeGreaterThan(0);
    expect(polls).toBeLessThanOrEqual(Math.floor((Date.now() - since) / 1600));
    await hold(false);
    for (const event of await next()) expect(at(event, 'sequence')).toBe(2);
    leave.abort();
    await Promise.all(streams.map((answers) => answers.return(undefined).catch(() => undefined)));
  }, 60_000);

  it('let a caller do as much as one of them would, not twice as much', async () => {
    const since = Date.now();
    const ask = async (replica: ServerProcess): Promise<number> => {
      const answer = await fetch(`${replica.url}/graphql?query={__typename}`, {
        headers: { authorization: 'Bearer spender' },
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    const statuses: number[] = [];
    for (let sent = 0; sent < PER_MINUTE * 1.5; sent += 30)
      statuses.push(
        ...(await Promise.all(
          Array.from({ length: 30 }, (_, i) => ask(i % 2 === 0 ? replicas[0] : replicas[1])),
        )),
      );
    const refills = ((Date.now() - since) / 60_000) * PER_MINUTE;
    const allowed = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(allowed).toBeLessThanOrEqual(PER_MINUTE + Math.ceil(refills));
    // Each of them may still hold a little that the other one cannot spend.
    expect(allowed).toBeGreaterThanOrEqual(PER_MINUTE * 0.8);
    expect((await replicas[0].ask('{ __typename }', {}, 'somebody else')).errors).toBeUndefined();
  }, 60_000);

  it('lose no batch and pay for nothing twice when one is killed under load', async () => {
    const before = new Set(await queuedBatches(sandbox.url));
    const [victim, survivor] = replicas;
    // Submissions take long enough that some are always under way.
    await fault(sandbox.url, { operation: 'submit', delay_ms: 120, times: 10_000 });
    const answered = new Map<string, Ending>();
    const lost = new Set<string>();
    let going = true;
    const load = async (replica: ServerProcess): Promise<void> => {
      while (going) {
        const key = randomUUID();
        try {
          answered.set(key, await submitOnce(replica, key, 'payer'));
        } catch {
          lost.add(key);
          if (replica === victim) return;
        }
      }
    };
    const loads = replicas.flatMap((replica) => Array.from({ length: 5 }, () => load(replica)));
    // By count, not by time: a fast machine would else use up what the service lets one key submit in a minute.
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
    const known = new Set(await batchIds(survivor, 'payer'));
    for (const { batchId } of answered.values()) expect(known).toContain(batchId);

    // A caller without an answer asks again with the same key: it is the batch, or its outcome is unknown, or it was never sent.
    const again = await Promise.all(
      [...lost].map(async (key) => ({ key, ...(await submitOnce(survivor, key, 'payer')) })),
    );
    for (const { kind } of again) expect(['FoldSubmitted', 'OutcomeUnknown']).toContain(kind);
    const unknown = again.filter(({ kind }) => kind === 'OutcomeUnknown').length;
    const queued = (await queuedBatches(sandbox.url)).filter((id) => !before.has(id));
    // Each key has at most one batch: those whose batch is known have one, the unknown ones none or one.
    const certain = answered.size + again.length - unknown;
    expect(queued.length).toBeGreaterThanOrEqual(certain);
    expect(queued.length).toBeLessThanOrEqual(certain + unknown);
    const batches = [...answered.values(), ...again].flatMap(({ kind, batchId }) =>
      kind === 'FoldSubmitted' ? [batchId] : [],
    );
    expect(new Set(batches).size).toBe(certain);
    // And the same keys once more send nothing at all.
    await Promise.all([...answered.keys()].slice(0, 10).map((key) => submitOnce(survivor, key, 'payer')));
    expect((await queuedBatches(sandbox.url)).filter((id) => !before.has(id))).toHaveLength(queued.length);
  }, 120_000);
});
