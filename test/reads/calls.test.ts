// The number of upstream calls of the queries that people send most, and what they answer, over the
// sandbox.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';
const UNKNOWN = '0'.repeat(32);

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.forget());

const bodies = () =>
  world.calls.filter((call) => call.operation === 'bulk').map((call): unknown => JSON.parse(call.body));

/** Hashes of members over all clusters that the similarity search finds, so that there are many. */
async function manyHashes(least: number): Promise<string[]> {
  const hashes = new Set<string>();
  const seeds = ['P69905', 'P68871', 'P02144', 'P01308', 'P62736', 'P42574', 'P0DP23', 'P00698'];
  for (const id of seeds) {
    const { data } = await world.query(
      `query($id: String!) { uniprotEntry(id: $id) { protein { cluster { memberHashes } } } }`,
      { id },
    );
    for (const hash of (at(data, 'uniprotEntry.protein.cluster.memberHashes') as string[] | undefined) ?? [])
      hashes.add(hash);
  }
  expect(hashes.size).toBeGreaterThanOrEqual(least);
  world.forget();
  return [...hashes];
}

describe('upstream calls', () => {
  it('goes from an accession to the members of a cluster in few calls, one of them bulk for all members', async () => {
    const { data, errors } = await world.query(`{
      uniprotEntry(id: "P01308") {
        accession name gene organism
        protein { hash length cluster { name size members(first: 10) { totalCount nodes { hash cluster { name } length features(first: 5) { value feature { index label } } } } } }
      }
    }`);
    expect(errors).toBeUndefined();
    expect(at(data, 'uniprotEntry.protein.hash')).toBe(INSULIN);
    expect(at(data, 'uniprotEntry.protein.length')).toBe(110);
    const members = listAt(data, 'uniprotEntry.protein.cluster.members.nodes');
    expect(members).toHaveLength(10);
    for (const member of members) {
      expect(at(member, 'cluster.name')).toBe('Insulin');
      expect(listAt(member, 'features')).toHaveLength(5);
      const values = listAt(member, 'features').map((f) => Number(at(f, 'value')));
      expect(values).toEqual([...values].sort((a, b) => b - a));
    }
    expect(world.counts()).toEqual({ uniprot: 1, bulk: 2, cluster: 1, protein: 9, features: 1 });
    expect(bodies()[1]).toMatchObject({ include_structure: false, topk_features: 5 });
  });

  it('answers ten members with the names of their cluster and top features by one bulk call and the records that name their cluster', async () => {
    const { data } = await world.query(`query($h: ProteinHash!) { cluster(hash: $h) { memberHashes } }`, {
      h: HBA,
    });
    const hashes = listAt(data, 'cluster.memberHashes').slice(0, 10);
    expect(hashes).toHaveLength(10);
    world.forget();
    const answer = await world.query(
      `query($h: [ProteinHash!]!) { proteins(hashes: $h) { hash cluster { name } features(first: 3) { feature { label } } } }`,
      { h: hashes },
    );
    expect(answer.errors).toBeUndefined();
    expect(listAt(answer.data, 'proteins').map((p) => at(p, 'hash'))).toEqual(hashes);
    expect(world.counts()).toEqual({ bulk: 1, protein: 9 });
    expect(bodies()[0]).toMatchObject({
      include_structure: false,
      include_cluster_info: true,
      include_features: { protein_level: true, per_residue: false },
      topk_features: 3,
    });
  });

  it('keeps order and duplicates and shows gaps', async () => {
    const asked = [HBA, UNKNOWN, INSULIN, HBA];
    const { data, errors } = await world.query(
      `query($h: [ProteinHash!]!) { proteins(hashes: $h) { hash length } }`,
      { h: asked },
    );
    expect(errors).toBeUndefined();
    expect(listAt(data, 'proteins')).toEqual([
      { hash: HBA, length: 142 },
      null,
      { hash: INSULIN, length: 110 },
      { hash: HBA, length: 142 },
    ]);
    expect(world.counts()).toEqual({ bulk: 1 });
    expect(at(bodies()[0], 'protein_hashes')).toEqual([HBA, UNKNOWN, INSULIN]);
  });

  it('asks for 500 hashes in one call and for 1,200 in three, unknown ones included', async () => {
    const known = await manyHashes(20);
    const many = [
      ...known,
      ...Array.from({ length: 1200 - known.length }, (_, i) =>
        createHash('md5').update(`none ${i}`).digest('hex'),
      ),
    ];
    for (const [size, calls] of [
      [500, 1],
      [1200, 3],
    ] as const) {
      world.forget();
      const { data, errors } = await world.query(
        `query($h: [ProteinHash!]!) { proteins(hashes: $h) { hash } }`,
        { h: many.slice(0, size) },
      );
      expect(errors).toBeUndefined();
      const found = listAt(data, 'proteins');
      expect(found).toHaveLength(size);
      expect(found.filter((protein) => protein !== null).map((protein) => at(protein, 'hash'))).toEqual(
        known.slice(0, size),
      );
      expect(world.counts().bulk).toBe(calls);
      expect(world.counts().protein).toBeUndefined();
    }
  });

  it('asks for structures only where they are selected, and then once', async () => {
    await world.query(
      `query($h: [ProteinHash!]!) { proteins(hashes: $h) { sequence structure { url } thumbnail { url } } }`,
      { h: [HBA, INSULIN] },
    );
    expect(bodies()).toMatchObject([
      { include_structure: false, include_sequence: true, include_cluster_info: false },
    ]);
    world.forget();
    const { data, errors } = await world.query(
      `query($h: [ProteinHash!]!) { proteins(hashes: $h) { ptm plddt { mean length } structure { text atomCount } } }`,
      { h: [HBA, INSULIN] },
    );
    expect(errors).toBeUndefined();
    expect(bodies()).toMatchObject([{ include_structure: true, include_cluster_info: false }]);
    const [first] = listAt(data, 'proteins');
    const text = String(at(first, 'structure.text'));
    const atoms = text.split('\n').filter((line) => line.startsWith('ATOM'));
    expect(atoms).toHaveLength(Number(at(first, 'structure.atomCount')));
    expect(at(first, 'plddt.length')).toBe(142);
    const perResidue = new Map(atoms.map((line) => [line.slice(22, 26), Number(line.slice(60, 66))]));
    const mean = [...perResidue.values()].reduce((sum, b) => sum + b, 0) / perResidue.size;
    expect(Number(at(first, 'plddt.mean'))).toBeCloseTo(mean, 0);
  });

  it('answers one protein by the single record, unless the bulk answer alone has what is selected, or all of it', async () => {
    await world.query(
      `{ protein(hash: "${INSULIN}") { sequence ptm features(first: 3) { value regions { start end } } } }`,
    );
    expect(world.counts()).toEqual({ protein: 1 });
    world.forget();
    const identity = '{ hash length sequence accession source provenance { source } }';
    const { data, errors } = await world.query(
      `{ protein(hash: "${INSULIN}") ${identity} node(id: "${btoa(`Protein:${'0'.repeat(32)}`)}") { id } }`,
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'protein')).toMatchObject({ hash: INSULIN, length: 110, source: 'uniprotkb' });
    expect(at(data, 'node')).toBeNull();
    expect(world.counts()).toEqual({ bulk: 1 });
    world.forget();
    await world.query(`{ protein(hash: "${INSULIN}") ${identity} }`);
    expect(world.counts()).toEqual({ bulk: 1 });
    expect(bodies()[0]).toMatchObject({
      include_sequence: true,
      include_structure: false,
      include_cluster_info: false,
      include_features: { protein_level: false, per_residue: false },
    });
    world.forget();
    await world.query(`{ protein(hash: "${INSULIN}") { sequence ptm cluster { name size } } }`);
    expect(world.counts()).toEqual({ bulk: 1, protein: 1 });
  });

  it('merges aliases and fragments into one call, with the largest number of features', async () => {
    const { data, errors } = await world.query(
      `query($h: ProteinHash!, $no: Boolean! = false) {
        protein(hash: $h) { ...A few: features(first: 2) { value } ... on Protein { many: features(first: 20) { value } } raw @include(if: $no) }
      }
      fragment A on Protein { cluster { name } }`,
      { h: HBA },
    );
    expect(errors).toBeUndefined();
    expect(listAt(data, 'protein.few')).toHaveLength(2);
    expect(listAt(data, 'protein.many')).toHaveLength(20);
    expect(world.counts()).toEqual({ bulk: 1, protein: 1 });
    expect(bodies()[0]).toMatchObject({ topk_features: 20 });
  });

  it('asks once for the features of a cluster that several places select, and gives each request its own number', async () => {
    const found = await world.query(`{ cluster(hash: "${HBA}") { representativeHash } }`);
    const variables = { h: at(found.data, 'cluster.representativeHash') };
    const cluster = (top: number) =>
      `top${top}: cluster(hash: $h) { representative { features(first: ${top}) { value } } }`;
    const ask = (...tops: number[]) =>
      world.query(`query($h: ProteinHash!) { ${tops.map(cluster).join(' ')} }`, variables);
    const countIn = ({ data }: Answer, top: number) =>
      listAt(data, `top${top}.representative.features`).length;
    world.forget();
    const both = await ask(20, 3);
    expect([countIn(both, 20), countIn(both, 3)]).toEqual([20, 3]);
    expect(world.counts()).toEqual({ cluster: 1 });
    const [few, many] = await Promise.all([ask(3), ask(20)]);
    expect([countIn(few, 3), countIn(many, 20)]).toEqual([3, 20]);
  });

  it('gives null for what the Atlas does not hold, and says nothing of an error', async () => {
    const { data, errors } = await world.query(`{
      protein(hash: "${UNKNOWN}") { hash }
      cluster(hash: "${UNKNOWN}") { size }
      uniprotEntry(id: "A0A000") { name }
      feature(index: 999999) { label }
      proteinBySequence(sequence: "MKKKKKKKKKKK") { hash }
    }`);
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      protein: null,
      cluster: null,
      uniprotEntry: null,
      feature: null,
      proteinBySequence: null,
    });
  });

  it('refuses a malformed hash with its path before anything is sent', async () => {
    const { errors } = await world.query(`query($h: ProteinHash!) { protein(hash: $h) { hash } }`, {
      h: 'not a hash',
    });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(errors?.[0]?.message).toMatch(/\$h|MD5/);
    const inline = await world.query(`{ protein(hash: "xyz") { hash } }`);
    expect(inline.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(world.calls).toEqual([]);
  });

  it('loads the catalogue once, however many ask, and details once for ever', async () => {
    const fresh = await openWorld();
    const ask = () =>
      fresh.query(`{ features(search: "helix", first: 3) { totalCount nodes { index label } } }`);
    const [one, two] = await Promise.all([ask(), ask()]);
    expect(one.errors).toBeUndefined();
    expect(one).toEqual(two);
    expect(Number(at(one.data, 'features.totalCount'))).toBeGreaterThan(0);
    expect(fresh.counts()).toEqual({ features: 1 });
    fresh.forget();
    const detail = () =>
      fresh.query(`{ a: feature(index: 7) { summary category } b: feature(index: 7) { threshold } }`);
    expect((await detail()).errors).toBeUndefined();
    await detail();
    expect(fresh.counts()).toEqual({ feature: 1 });
    await fresh.close();
  });

  it('sends no bearer token to the Atlas, and its request id with every call', async () => {
    await world.query(
      `{ protein(hash: "${INSULIN}") { name } }`,
      {},
      { authorization: 'Bearer my-token', 'x-request-id': 'test-request-1' },
    );
    expect(world.calls.length).toBeGreaterThan(0);
    for (const call of world.calls) {
      expect(call.headers.authorization).toBeUndefined();
      expect(call.headers['x-request-id']).toBe('test-request-1');
    }
  });
});
