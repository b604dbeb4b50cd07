// Similarity search: structures only for who wants them, one call for a question, one bulk call for
// what several searches find.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, listAt, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';

let world: World;
beforeAll(async () => {
  world = await openWorld({ CACHE_RECORDS_SECONDS: '600' });
});
afterAll(() => world.close());
beforeEach(() => world.forget());

const similar = (first: number, hit: string) =>
  `{ protein(hash: "${HBA}") { similar(first: ${first}) { queryHash restrictedCount hits { score ${hit} } } } }`;

describe('a search', () => {
  it('gives scores, lengths, pTM and mean pLDDT of its hits by itself', async () => {
    const { data, errors } = await world.query(
      similar(5, 'protein { hash length accession ptm plddt { mean } thumbnail { url } }'),
    );
    expect(errors).toBeUndefined();
    expect(world.counts()).toEqual({ bulk: 1, similarity: 1 });
    expect(at(data, 'protein.similar.queryHash')).toBe(HBA);
    expect(at(data, 'protein.similar.restrictedCount')).toEqual(expect.any(Number));
    const hits = listAt(data, 'protein.similar.hits');
    expect(hits).toHaveLength(5);
    for (const hit of hits) {
      expect(Number(at(hit, 'protein.plddt.mean'))).toBeGreaterThan(1);
      expect(Number(at(hit, 'protein.ptm'))).toBeLessThanOrEqual(1);
    }
  });

  it('is asked once for a sequence and its arguments', async () => {
    const again = await world.query(similar(5, 'protein { hash length ptm provenance { fromCache } }'));
    expect(world.counts()).toEqual({});
    expect(at(again.data, 'protein.similar.hits.0.protein.provenance.fromCache')).toBe(true);
    await world.query(similar(6, 'protein { hash }'));
    expect(world.counts()).toEqual({ similarity: 1 });
  });

  it('gives structures to who selects them, and keeps them', async () => {
    const hit = 'protein { plddt { mean length values(end: 2) } structure { text atomCount } }';
    const { data, errors } = await world.query(similar(4, hit));
    expect(errors).toBeUndefined();
    expect(world.counts()).toEqual({ similarity: 1 });
    for (const one of listAt(data, 'protein.similar.hits')) {
      expect(String(at(one, 'protein.structure.text'))).toMatch(/^ATOM/m);
      expect(listAt(one, 'protein.plddt.values')).toHaveLength(2);
    }
    world.forget();
    expect((await world.query(similar(4, hit))).data).toEqual(data);
    expect(world.counts()).toEqual({});
  });

  it('makes one bulk call for what is selected on all hits of several proteins', async () => {
    const { data, errors } = await world.query(
      `query($h: [ProteinHash!]!) { proteins(hashes: $h) { similar(first: 3) { hits { protein { sequence } cluster { size name } } } } }`,
      { h: [INSULIN, HBA] },
    );
    expect(errors).toBeUndefined();
    expect(listAt(data, 'proteins')).toHaveLength(2);
    expect(world.counts()).toMatchObject({ similarity: 2 });
    expect(world.counts().bulk).toBeLessThanOrEqual(2);
    expect(world.counts().protein ?? 0).toBeLessThanOrEqual(1);
  });

  it('refuses too long a sequence with the limit before anything is sent', async () => {
    const { errors } = await world.query(
      `query($s: AminoAcidSequence!) { similarProteins(sequence: $s) { queryHash } }`,
      { s: 'M'.repeat(2049) },
    );
    expect(errors?.[0]?.message).toMatch(/2048/);
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(world.calls).toEqual([]);
  });

  it.each(['>a\nMKT\n>b\nGIV', 'MKT\n>b\nGIV'])('refuses two sequences in one text: %j', async (s) => {
    const { errors } = await world.query(
      `query($s: AminoAcidSequence!) { similarProteins(sequence: $s) { queryHash } }`,
      { s },
    );
    expect(errors?.[0]?.message).toMatch(/holds several/);
    expect(world.calls).toEqual([]);
  });
});
