// Facts about the representative in an answer about its cluster cost no call of their own, and
// equal those of the protein by its hash.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, listAt, openWorld, type World } from '../support.ts';

let world: World;
let representative: string;
let members: string[];
beforeAll(async () => {
  world = await openWorld();
  const { data } = await world.query(
    '{ uniprotEntry(id: "P69905") { protein { cluster { representativeHash memberHashes } } } }',
  );
  representative = String(at(data, 'uniprotEntry.protein.cluster.representativeHash'));
  members = listAt(data, 'uniprotEntry.protein.cluster.memberHashes').map(String);
});
afterAll(() => world.close());
beforeEach(() => world.forget());

const FIELDS = 'hash accession source ptm plddt { mean } features(first: 4) { value feature { index } }';

describe('the representative of a cluster', () => {
  it('is scored by the one call for the cluster', async () => {
    const { data, errors } = await world.query(
      `{ cluster(hash: "${representative}") { size representative { ${FIELDS} } } }`,
    );
    expect(errors).toBeUndefined();
    expect(world.counts()).toEqual({ cluster: 1 });
    const { data: own } = await world.query(`{ protein(hash: "${representative}") { ${FIELDS} } }`);
    expect(at(data, 'cluster.representative')).toEqual(at(own, 'protein'));
    expect(at(own, 'protein.accession')).toEqual(expect.any(String));
    expect(listAt(own, 'protein.features')).toHaveLength(4);
  });

  it('has its own name, by one call for its record', async () => {
    const { data, errors } = await world.query(
      `{ cluster(hash: "${representative}") { taxonomy { name } representative { ${FIELDS} name } } }`,
    );
    expect(errors).toBeUndefined();
    expect(world.counts()).toEqual({ cluster: 1, protein: 1 });
    const { data: own } = await world.query(`{ protein(hash: "${representative}") { ${FIELDS} name } }`);
    expect(at(data, 'cluster.representative')).toEqual(at(own, 'protein'));
  });

  it('costs no more than the cluster where its record is needed anyway', async () => {
    const { errors } = await world.query(
      `{ cluster(hash: "${representative}") { taxonomy { name } members(first: 2) { totalCount } representative { ${FIELDS} } } }`,
    );
    expect(errors).toBeUndefined();
    expect(world.counts()).toEqual({ cluster: 1 });
  });

  it('has what the cluster does not say from its own record', async () => {
    const { data } = await world.query(
      `{ cluster(hash: "${representative}") { representative { accession sequence plddt { length mean } features(first: 2, normalize: false) { value } } }
         protein(hash: "${representative}") { accession sequence plddt { length mean } features(first: 2, normalize: false) { value } } }`,
    );
    expect(at(data, 'cluster.representative')).toEqual(at(data, 'protein'));
    expect(at(data, 'protein.sequence')).toEqual(expect.any(String));
  });

  it('costs for many proteins the calls of their clusters', async () => {
    const hashes = members.slice(0, 8);
    const query = (below: string) =>
      world.query(`query($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) { cluster { ${below} } } }`, {
        hashes,
      });
    await query('name size');
    const flat = world.counts();
    world.forget();
    const { data } = await query('size representative { hash }');
    expect(world.counts()).toEqual(flat);
    for (const protein of listAt(data, 'proteins'))
      expect(at(protein, 'cluster.representative.hash')).toBe(representative);
  });

  it('is named by the archive where records are needed, too', async () => {
    const { data, errors } = await world.query(
      `query($h: [ProteinHash!]!) { proteins(hashes: $h) { header cluster { size representativeHash } } }`,
      { h: members.slice(0, 8) },
    );
    expect(errors).toBeUndefined();
    expect(members.slice(0, 8)).toContain(representative);
    for (const protein of listAt(data, 'proteins'))
      expect(at(protein, 'cluster')).toEqual({ size: members.length, representativeHash: representative });
    expect(world.counts()).toEqual({ bulk: 1, protein: 8 });
  });

  it('keeps shares on 0 to 100', async () => {
    const { data } = await world.query(
      `{ cluster(hash: "${representative}") { percentCharacterized percentDomainCoverage }
         protein(hash: "${representative}") { plddt { bands { percent } } } }`,
    );
    expect(Number(at(data, 'cluster.percentDomainCoverage'))).toBeGreaterThan(1);
    const bands = listAt(data, 'protein.plddt.bands');
    expect(bands.reduce((sum: number, band) => sum + Number(at(band, 'percent')), 0)).toBeCloseTo(100, 6);
  });
});
