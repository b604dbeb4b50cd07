// What a record said once is given again without a call, though it was kept as it came: the same answer, its large parts apart.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openCache } from '../../src/store/cache.ts';
import { openSharedCache } from '../../src/store/cache-open.ts';
import { openKeptRecords } from '../../src/upstream/kept-records.ts';
import { fromRecord } from '../../src/upstream/protein-answers.ts';
import { type KeptPart, openProteinCache, sizeOfPart } from '../../src/upstream/protein-cache.ts';
import type { ProteinData } from '../../src/upstream/protein-data.ts';
import { lightRecord } from '../../src/upstream/protein-record.ts';

const HOUR = 3_600_000;
const MiB = 1024 ** 2;

const hash = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('hex'));
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const record = fc.record(
  {
    accession: fc.option(text),
    source: fc.option(text),
    protein_name: fc.option(text),
    sequence: fc.option(fc.string({ unit: fc.constantFrom('A', 'C', 'W'), maxLength: 60 })),
    sequence_length: fc.option(fc.nat(60)),
    ptm: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    mean_plddt: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    residues_plddt: fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
    pdb: fc.option(text),
    cluster_rep_protein_hash: fc.option(hash),
    sae_features: fc.array(
      fc.record({
        feature_index: fc.nat(16_383),
        value: fc.double({ min: 0, max: 99, noNaN: true }),
        label: text,
      }),
    ),
    later: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

/** What an answer said, with all that is read late read. @param own - members in any order and with any white space between them */
function answered(own: string, rest: object, top: number, requestId: string | undefined): ProteinData {
  const found = lightRecord(
    Buffer.from(JSON.stringify({ ...rest, protein_hash: own }, null, top % 3)),
    requestId,
  );
  if (found === undefined) throw new Error('The record cannot be read lightly.');
  return fromRecord(own, { features: top }, found);
}
const smallOf = ({ structure: _, level: __, record: ___, from, ...small }: ProteinData) => ({
  ...small,
  features: { ...small.features, values: small.features?.values },
  operation: from?.operation,
  at: from?.retrievedAt.getTime(),
  requestId: from?.requestId,
});

describe('a record kept as it came', () => {
  it('says what it said, but for its large parts, once', () => {
    fc.assert(
      fc.property(hash, record, fc.integer({ min: 1, max: 100 }), fc.option(text), (own, rest, top, name) => {
        const kept = openKeptRecords(MiB);
        const data = answered(own, rest, top, name === '' || name === null ? undefined : name);
        expect(kept.keep(data, HOUR)).toBe(true);
        const again = kept.take(own);
        expect(again && smallOf(again)).toEqual(smallOf(data));
        expect(again).not.toHaveProperty('structure');
        expect(again?.from?.fromCache).toBe(true);
        expect(kept.take(own)).toBeUndefined();
      }),
    );
  });

  it('is gone when it was dropped, when another came, and when its time is up', () => {
    const own = 'f'.repeat(32);
    const kept = openKeptRecords(MiB);
    kept.keep(answered(own, { sequence: 'A' }, 5, undefined), HOUR);
    kept.drop(own);
    expect(kept.take(own)).toBeUndefined();
    kept.keep(answered(own, { sequence: 'A' }, 5, undefined), HOUR);
    kept.keep(answered(own, { sequence: 'C' }, 5, undefined), HOUR);
    expect(kept.take(own)?.sequence).toBe('C');
    kept.keep(answered(own, { sequence: 'A' }, 5, undefined), 0);
    expect(kept.take(own)).toBeUndefined();
  });
});

describe('the cache of proteins', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'foldatlas-records-'));
  const store = openSharedCache(`sqlite:${join(folder, 'gateway.db')}`, (error) => {
    throw error;
  });
  afterAll(async () => {
    await store?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const open = () => {
    const of = (namespace: string) => ({
      namespace,
      ttl: HOUR,
      maxBytes: 64 * MiB,
      onError: (error: unknown) => {
        throw error;
      },
      shared: store?.namespace(namespace),
    });
    return openProteinCache(
      openCache<KeptPart>({ ...of('proteins'), sizeOf: sizeOfPart }),
      openCache<true>({ ...of('knownProteins'), sizeOf: () => 0 }),
      HOUR,
    );
  };
  const ownOf = (n: number) => n.toString(16).padStart(8, '0').repeat(4);
  const needs = { sequence: true };

  it('writes a record down while there is time for it, and has those of a flood in memory', async () => {
    const COUNT = 1_600;
    const flooded = open();
    for (let n = 0; n < COUNT; n += 1)
      flooded.write(answered(ownOf(n), { sequence: 'A', sae_features: [] }, 5, undefined), 1, needs);
    const wanted = new Map(Array.from({ length: COUNT }, (_, n) => [ownOf(n), needs]));
    const there = await flooded.read(wanted);
    // A few may have had the same place.
    expect(new Set(there.map((data) => data.hash)).size).toBeGreaterThan(COUNT - 10);
    expect(there.filter((data) => data.sequence !== 'A')).toEqual([]);
    expect(there.filter((data) => data.from?.fromCache !== true)).toEqual([]);
    // Another process has those that were written down: the first that came.
    const others = await vi.waitFor(async () => {
      const found = await open().read(wanted);
      expect(found.length).toBeGreaterThan(400);
      return found;
    });
    expect(others.map((data) => data.hash)).toContain(ownOf(0));
    expect(others.length).toBeLessThan(COUNT - 100);
  });

  it('gives what came last of a protein, not what was kept of it before', async () => {
    const cache = open();
    const own = 'ab'.repeat(16);
    for (let n = 0; n < 1_100; n += 1)
      cache.write(answered(ownOf(n + 5_000), { sequence: 'A' }, 5, undefined), 1, needs);
    cache.write(answered(own, { sequence: 'A' }, 5, undefined), 1, needs);
    cache.write(answered(own, { sequence: 'C', pdb: 'ATOM' }, 5, undefined), 1, { structure: true });
    const there = await cache.read(new Map([[own, { sequence: true, structure: true }]]));
    expect(there.map(({ sequence }) => sequence).filter((sequence) => sequence !== undefined)).toEqual(['C']);
    expect(there.some(({ structure }) => structure?.pdb === 'ATOM')).toBe(true);
  });
});
