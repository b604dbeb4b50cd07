// The caches take no more memory than the table of docs/capacity.md says.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CACHE_BYTES, type CacheName } from '../../src/config/cache-bytes.ts';
import { emptyRecord } from '../../src/upstream/proteins/record.ts';
import { createAtlasCaches } from '../../src/upstream/reads/caches.ts';
import { ROOT } from '../root.ts';
import { openWorld, type World } from '../support.ts';

const MiB = 1024 * 1024;

/** The bytes of each cache by the table of the docs. */
function readTable(): Record<string, number> {
  const docs = readFileSync(join(ROOT, 'docs/capacity.md'), 'utf8');
  const rows = docs.slice(docs.indexOf('### Caches')).matchAll(/^\| `([a-z-]+)` \| (\d+) \|/gm);
  return Object.fromEntries(Array.from(rows, ([, name = '', size]) => [name, Number(size) * MiB]));
}

/** The caches are nearly full, and none has more than its limit. */
function expectFull(bytes: Partial<Record<CacheName, number>>): void {
  for (const [name, used] of Object.entries(bytes)) {
    const limit = readTable()[name] ?? 0;
    expect({ name, isWithin: used <= limit, isFull: used > 0.8 * limit }).toEqual({
      name,
      isWithin: true,
      isFull: true,
    });
  }
}

it('the table of the docs has every cache with its limit', () => {
  expect(readTable()).toEqual(CACHE_BYTES);
});

it('no cache of Atlas answers goes beyond its limit', () => {
  const caches = createAtlasCaches({ recordSeconds: 600, store: undefined, onError: () => undefined });
  const { bytes, proteins, clusters, searches, features, uniprot, thumbnails, catalogue } = caches;
  const png = Buffer.alloc(100_000);
  const answer = { similar_proteins: [], top_features_across_results: [] };
  for (let n = 0; n < 30_000; n += 1) {
    const hash = n.toString(16).padStart(32, '0');
    proteins.cache.set(
      { ...emptyRecord(hash), oldest: Date.now(), sequence: 'M'.repeat(900), accession: null },
      false,
    );
    const json = { raw: {}, jsonBytes: 2_000 };
    features.cache.set(hash, { ...json, record: { feature_index: n } });
    uniprot.cache.set(hash, { ...json, record: { accession: hash } });
    clusters.cache?.set(hash, {
      top: 10,
      cluster: {
        ...json,
        record: { protein_hash: hash, member_protein_hashes: [hash], accession: null, mean_plddt: null },
      },
    });
    searches.cache?.set(hash, { at: Date.now(), answer });
    if (n < 1_000) thumbnails.cache.set(hash, { png, etag: '""' });
    if (n < 400) catalogue.set(hash, png);
  }
  expect(Object.keys(bytes())).toHaveLength(Object.keys(CACHE_BYTES).length - 3);
  expectFull(bytes());
});

describe('the caches of a gateway', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ CACHE_RECORDS_SECONDS: '600', RATE_LIMIT_PER_MINUTE: '0' });
  });
  afterAll(() => world.close());

  async function readBytes(): Promise<Record<string, number>> {
    const text = await (await world.gateway.fetch(new Request('http://gateway.test/metrics'))).text();
    const rows = text.matchAll(/^foldatlas_cache_bytes\{kind="([a-z-]+)"\} (\S+)$/gm);
    return Object.fromEntries(Array.from(rows, ([, name = '', bytes]) => [name, Number(bytes)]));
  }

  it('for responses and documents stay within their limits under queries that are all different', async () => {
    // A document of more than 50,000 characters is not cached; its response is.
    const [long, longest] = ['#'.repeat(45_000), '#'.repeat(90_000)];
    for (let n = 0; n < 380; n += 1) {
      await world.query(`{ feature(index: 3) { label } } #${n} ${longest}`);
      if (n < 10) await world.query(`{ feature(index: 3) { label } } #${n} ${long}`);
      if (n < 10) await world.query(`{ feature( } #${n} ${'#'.repeat(5_000)}`);
    }
    const all = await readBytes();
    expect(Object.keys(all).sort()).toEqual(Object.keys(CACHE_BYTES).sort());
    const { responses = 0, documents = 0, 'document-errors': errors = 0 } = all;
    expectFull({ responses, documents });
    expect(errors).toBeGreaterThan(0);
    expect(errors).toBeLessThanOrEqual(CACHE_BYTES['document-errors']);
  });
});
