// The catalogue: refreshed behind the answers, once for a crowd, kept over a restart, searched
// without holding the loop.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { createCache } from '../../src/store/cache/cache.ts';
import type { Upstream } from '../../src/upstream/http/call.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { openCatalogue } from '../../src/upstream/reads/catalogue.ts';
import { toUpstreamSettings } from '../../src/upstream/settings.ts';
import { expectShortTurns } from '../cpu-time.ts';
import { testLogger } from '../record.ts';
import { NO_REDIS, openRedisPlace } from '../store/redis-place.ts';
import { fault } from '../subscriptions/support.ts';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';
import { reached } from '../transport.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';

let world: World;
const connections = openServiceConnections();
beforeAll(async () => {
  world = await openWorld({}, { control: true });
});
afterAll(async () => {
  await connections.close();
  await world.close();
});
beforeEach(() => world.forget());

const upstream = (signal?: AbortSignal): Upstream => ({
  settings: toUpstreamSettings(readConfig({}), world.sandboxUrl),
  connections,
  token: undefined,
  requestId: 'catalogue-test',
  signal,
});

const openKept = (ttl: number) =>
  createCache<Buffer>({
    namespace: 'catalogue',
    ttl,
    stale: 60_000,
    maxBytes: 64 * 1024 * 1024,
    estimateBytes: (json) => json.length,
    onError: () => undefined,
  });

describe('the catalogue', () => {
  it('is loaded once for a crowd, also when the first of them leaves', async () => {
    const catalogue = openCatalogue(openKept(60_000));
    const leaving = new AbortController();
    const first = catalogue.entries(upstream(leaving.signal));
    const left = expect(first).rejects.toMatchObject({ name: 'AbortError' });
    const all = Promise.all([left, ...[1, 2, 3, 4].map(() => catalogue.search(upstream(), ['helix']))]);
    leaving.abort();
    await all;
    expect(world.counts()).toEqual({ features: 1 });
  });

  it('is refreshed behind the answers when it is old, and outlives an upstream that is down', async () => {
    const catalogue = openCatalogue(openKept(1));
    const first = await catalogue.entries(upstream());
    await sleep(5);
    await fault(world.sandboxUrl, { operation: 'features', status: 500, times: 3 });
    world.forget();
    const many = await Promise.all([1, 2, 3].map(() => catalogue.entries(upstream())));
    for (const entries of many) expect(entries).toBe(first);
    await expect.poll(() => world.counts().features).toBe(3);
    await sleep(20);
    expect(await catalogue.entries(upstream())).toBe(first);
    await expect.poll(() => world.counts().features).toBe(4);
    // The same answer again keeps what was parsed and indexed.
    await sleep(500);
    expect(await catalogue.entries(upstream())).toBe(first);
  });

  it('finds words that are begun or misspelt, labels before descriptions', async () => {
    const catalogue = openCatalogue(openKept(60_000));
    const entries = await catalogue.entries(upstream());
    const labels = [...entries.values()].map((entry) => entry.label ?? '');
    const word = labels.flatMap((label) => label.split(/\W+/)).find((part) => part.length > 7) ?? '';
    const whole = await catalogue.search(upstream(), [word]);
    expect(whole.length).toBeGreaterThan(0);
    const begun = await catalogue.search(upstream(), [word.slice(0, 5)]);
    expect(begun).toEqual(expect.arrayContaining(whole.slice(0, 5)));
    const misspelt = await catalogue.search(upstream(), [`${word.slice(0, 3)}x${word.slice(4)}`]);
    expect(misspelt.length).toBeGreaterThan(0);
    expect(entries.get(whole[0] ?? -1)?.label?.toLowerCase()).toContain(word.slice(0, 4).toLowerCase());
  });

  it('is read and indexed without holding the loop, with 16,384 long descriptions', async () => {
    const words = 'helix strand amphipathic kinase zinc binding membrane loop domain motif charged'.split(
      ' ',
    );
    const rows = Array.from({ length: 16_384 }, (_, index) => ({
      feature_index: index,
      label: `${words[index % 11]} ${words[(index * 7) % 11]} ${index}`,
      description: Array.from({ length: 50 }, (_, i) => words[(index * 31 + i * i) % 11]).join(' '),
    }));
    let tries = 0;
    await expectShortTurns(async () => {
      // The same catalogue again would not be read.
      tries += 1;
      const cache = openKept(60_000);
      await cache.set('all', Buffer.from(JSON.stringify({ data: rows, tries })));
      const catalogue = openCatalogue(cache);
      expect((await catalogue.entries(upstream())).size).toBe(16_384);
      const found = await catalogue.search(upstream(), ['amphipathic', 'helix']);
      expect(found.length).toBeGreaterThan(100);
    }, 0.3);
    expect(world.calls).toEqual([]);
  });
});

const redis = NO_REDIS ? null : await openRedisPlace();
afterAll(async () => {
  await redis?.remove();
});

/** A store that nothing has been kept in; each try of the test gets one of its own. */
type NewStore = (tries: number) => string;
const stores: [string, NewStore][] =
  redis === null ? [] : [['Redis', (tries) => `${redis.url.replace(/\/\d*$/, '')}/${tries}`]];

describe.each(stores)('what is kept in %s', (_, newStore) => {
  let tries = 0;
  it('is there after a restart: catalogue, records, structures, clusters, details, pictures', async () => {
    world.forget();
    tries += 1;
    const storeUrl = newStore(tries);
    const start = (): Gateway =>
      reached(
        createGateway({
          config: readConfig({ STORE_URL: storeUrl, LEDGER_URL: 'memory:', LOG_LEVEL: 'silent' }),
          upstreamUrl: world.sandboxUrl,
          log: testLogger(),
        }),
      );
    const ask = async (gateway: Gateway): Promise<Answer> => {
      const query = `{
        protein(hash: "${INSULIN}") { sequence ptm cluster { name size members(first: 2) { nodes { hash } } } features(first: 2) { regions { start } } thumbnail { sizeBytes } ...structure }
        proteins(hashes: ["efebacde779fb9ede77f2039ec6cfe09", "cd9050995bb3aa9f42ca5d1eedd10b2d"]) { hash ptm ...structure }
        features(search: "helix", first: 2) { nodes { label summary } }
        uniprotEntry(id: "P01308") { name }
      }
      fragment structure on Protein { plddt { mean values(scale: UNIT) } structure { text atomCount } }`;
      const response = await gateway.fetch(
        new Request('http://gateway.test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        }),
      );
      return (await response.json()) as Answer;
    };
    const one = start();
    const before = await ask(one);
    expect(before.errors).toBeUndefined();
    expect(Object.keys(world.counts()).sort()).toEqual(
      ['bulk', 'cluster', 'feature', 'features', 'protein', 'thumbnail', 'uniprot'].sort(),
    );
    await one.close();
    // A store that does not answer in time is passed by, which a busy machine may bring about: not
    // each time.
    for (let restart = 0; restart < 3; restart++) {
      world.forget();
      const two = start();
      const after = await ask(two);
      await two.close();
      expect(after).toEqual(before);
      expect(listAt(after.data, 'features.nodes')).toHaveLength(2);
      expect(at(after.data, 'protein.cluster.size')).toEqual(expect.any(Number));
      if (world.calls.length === 0) break;
    }
    expect(world.calls).toEqual([]);
  });
});
