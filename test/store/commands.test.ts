// How often replicas ask the store that they share: the commands of a replica for each kind of
// request, as Redis sees them.
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, openBench, tiny } from '../folding/bench.ts';
import { answersOf, subscribe, TOKEN } from '../subscriptions/streams.ts';
import { until } from '../subscriptions/support.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from './redis-place.ts';

const SUBMIT =
  'mutation($input: SubmitFoldInput!) { submitFold(input: $input) { ... on FoldSubmitted { batch { batchId label counts { queued } } } } }';
const WATCH = 'subscription($id: ID!) { batchProgress(batchId: $id) { final changedTasks { status } } }';
/** The key that `subscribe` sends. */
const KEY = TOKEN.authorization.slice('Bearer '.length);
const ENTRY = '{ uniprotEntry(id: "P01308") { name protein { hash length } } }';

describe.skipIf(NO_REDIS)('over Redis', () => {
  let place: RedisPlace;
  let bench: Bench;
  let observers: readonly { destroy(): void }[];
  /** Commands so far about the snapshot and the lease of a batch. */
  let countPolling: (batchId: string) => Promise<number>;
  /**
   * Commands of the gateway while it does something, by what they are about, without those inside
   * of scripts.
   */
  let commands: (work: () => Promise<unknown>) => Promise<Record<string, number>>;

  beforeAll(async () => {
    place = await openRedisPlace();
    bench = await openBench({
      STORE_URL: place.url,
      GATEWAY_SECRET: 'a secret that replicas share',
      CACHE_RECORDS_SECONDS: '3600',
    });
    await bench.gateway.ready();
    const monitor = await createClient({ url: place.url }).connect();
    const marker = await createClient({ url: place.url }).connect();
    observers = [monitor, marker];
    const lines: string[] = [];
    await monitor.monitor((line) => lines.push(String(line)));
    let marks = 0;
    const mark = async (): Promise<void> => {
      marks += 1;
      await marker.echo(`mark ${marks}`);
      await until('the mark', () => lines.some((line) => line.includes(`"mark ${marks}"`)));
    };
    countPolling = async (batchId) => {
      await mark();
      const isAbout = new RegExp(`foldatlas:documents:[^"]*/${batchId}"`);
      return lines.filter((line) => isAbout.test(line) && !line.includes(' lua]')).length;
    };
    commands = async (work) => {
      await mark();
      lines.length = 0;
      await work();
      await mark();
      const counts: Record<string, number> = {};
      for (const line of lines) {
        const [, store] = / lua\]/.test(line) ? [] : (/"foldatlas:(\w+):/.exec(line) ?? []);
        // Each request is counted by one command more, which it does not wait for without a
        // connection.
        if (store !== undefined && store !== 'rate') counts[store] = (counts[store] ?? 0) + 1;
      }
      return counts;
    };
  });
  afterAll(async () => {
    for (const observer of observers) observer.destroy();
    await bench.close();
    await place.remove();
  });

  it('a submission is two commands, before and after it is sent, and one for the label of the batch', async () => {
    const submit = (idempotencyKey: string) => () =>
      bench.ask(SUBMIT, { input: { items: tiny(100), idempotencyKey } });
    // The server does not have the scripts yet.
    await submit('first')();
    expect(await commands(submit('second'))).toEqual({ ledger: 3 });
  });

  it('a poll of a watched batch is five commands, however many watch it', async () => {
    const ids = await Promise.all([2, 3, 4].map((count) => bench.submit({ items: tiny(count) }, KEY)));
    await bench.pass(3_600_000);
    const watch = async (batchId: string): Promise<void> => {
      const response = await subscribe((request) => bench.gateway.fetch(request), WATCH, { id: batchId });
      for await (const { errors } of answersOf(response)) expect(errors).toBeUndefined();
    };
    const [first = '', alone = '', watched = ''] = ids;
    await watch(first);
    await watch(alone);
    // The poll lasts until all watch: a later watcher would read the snapshot once more.
    await bench.fault({ operation: 'list', delay_ms: 3_000 });
    await Promise.all(Array.from({ length: 20 }, () => watch(watched)));
    // The lease is released after the last event.
    await expect.poll(() => Promise.all([alone, watched].map(countPolling))).toEqual([5, 5]);
    expect(await Promise.all([alone, watched].map(countPolling))).toEqual([5, 5]);
  });

  it('a record is read from the store once, and not again when this replica has it', async () => {
    const read = () => bench.query(ENTRY);
    const { cache = 0 } = await commands(read);
    expect(cache).toBeGreaterThan(0);
    // A record is admitted to the cache the second time it is seen, and written after the answer.
    await expect.poll(() => commands(read)).toEqual({});
  });
});
