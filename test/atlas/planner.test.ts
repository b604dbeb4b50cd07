// The fewest calls for nested queries, and none for what an earlier request has learnt or another
// is asking at the moment.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { fault } from '../subscriptions/support.ts';
import { at, listAt, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';
const CASPASE_3 = 'cd9050995bb3aa9f42ca5d1eedd10b2d';
const ACTIN = 'efebacde779fb9ede77f2039ec6cfe09';
const CD14 = 'a3f8ce0b95a063d65d4bf0361992c7f5';

let cold: World;
let warm: World;
beforeAll(async () => {
  cold = await openWorld();
  warm = await openWorld({ CACHE_RECORDS_SECONDS: '600' });
});
afterAll(() => Promise.all([cold.close(), warm.close()]));
beforeEach(() => {
  cold.forget();
  warm.forget();
});

/** Members of a protein's cluster that do not stand for it. */
async function readMembers(world: World, hash: string): Promise<string[]> {
  const { data } = await world.query(`{ cluster(hash: "${hash}") { representativeHash memberHashes } }`);
  const representative = at(data, 'cluster.representativeHash');
  const members = listAt(data, 'cluster.memberHashes').map(String);
  world.forget();
  return members.filter((member) => member !== representative);
}

describe('nested queries', () => {
  it('ask for the members of several clusters by one bulk call', async () => {
    const { data, errors } = await cold.query(
      `query($h: [ProteinHash!]!) { proteins(hashes: $h) { cluster { taxonomy { name } members(first: 4) { totalCount nodes { hash length } } } } }`,
      { h: [INSULIN, HBA] },
    );
    expect(errors).toBeUndefined();
    for (const protein of listAt(data, 'proteins')) {
      expect(listAt(protein, 'cluster.members.nodes').length).toBeGreaterThan(1);
      for (const node of listAt(protein, 'cluster.members.nodes'))
        expect(Number(at(node, 'length'))).toBeGreaterThan(9);
    }
    expect(cold.counts()).toEqual({ bulk: 2, protein: 2, cluster: 2 });
  });

  it.each([
    'protein',
    'cluster',
    'bulk',
  ])('ask for them by one bulk call however late an answer to %s comes', async (operation) => {
    const late = await openWorld({}, { control: true });
    const MEMBERS = 'members(first: 4) { nodes { hash length features(first: 2) { value } } }';
    const queries = [
      `{ proteins(hashes: ["${INSULIN}", "${HBA}"]) { cluster { ${MEMBERS} } } }`,
      `{ a: protein(hash: "${INSULIN}") { cluster { ${MEMBERS} } } b: protein(hash: "${HBA}") { cluster { ${MEMBERS} } } }`,
      `{ a: cluster(hash: "${INSULIN}") { ${MEMBERS} } b: cluster(hash: "${HBA}") { ${MEMBERS} } }`,
    ];
    for (const query of queries) {
      await fault(late.sandboxUrl, { operation, delay_ms: 80 });
      late.forget();
      expect((await late.query(query)).errors).toBeUndefined();
      expect(late.counts().bulk).toBe(2);
    }
    await late.close();
  });

  it('take the representative from the record where the record is needed anyway', async () => {
    const [member] = await readMembers(cold, HBA);
    const { data, errors } = await cold.query(
      `{ protein(hash: "${member}") { sequence features(first: 3) { regions { start } } cluster { name size taxonomy { rank } members(first: 2) { nodes { hash } } } } }`,
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'protein.cluster.name')).toEqual(expect.any(String));
    expect(cold.counts()).toEqual({ protein: 1, cluster: 1 });
    cold.forget();
    const own = await cold.query(
      `{ protein(hash: "${member}") { isClusterRepresentative cluster { representativeHash } } }`,
    );
    expect(at(own.data, 'protein.isClusterRepresentative')).toBe(false);
    // The archive does not say which cluster a member belongs to.
    expect(cold.counts()).toEqual({ bulk: 1, protein: 1 });
  });

  it('take the sizes and percentages of a cluster from the archive', async () => {
    const { data, errors } = await cold.query(
      `{ cluster(hash: "${INSULIN}") { size percentCharacterized percentDomainCoverage } }`,
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'cluster.percentDomainCoverage')).toEqual(expect.any(Number));
    expect(cold.counts()).toEqual({ bulk: 1, protein: 1 });
  });

  it('merge the representative and the members of a cluster into one bulk call', async () => {
    const QUERY = `query($h: ProteinHash!) { cluster(hash: $h) { representativeHash taxonomy { name } representative { sequence } members(first: 5) { nodes { length } } } }`;
    const { data, errors } = await cold.query(QUERY, { h: INSULIN });
    expect(errors).toBeUndefined();
    // That it is a member and no representative is only known when it has been tried.
    expect(at(data, 'cluster.representativeHash')).not.toBe(INSULIN);
    expect(cold.counts()).toEqual({ cluster: 2, bulk: 2, protein: 1 });
    cold.forget();
    await cold.query(QUERY, { h: at(data, 'cluster.representativeHash') });
    expect(cold.counts()).toEqual({ cluster: 1, bulk: 1 });
  });

  it('merge aliases at the root', async () => {
    const { data, errors } = await cold.query(
      `{ a: protein(hash: "${INSULIN}") { length } b: protein(hash: "${HBA}") { cluster { size } } c: protein(hash: "${HBA}") { sequence } }`,
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'a.length')).toBe(110);
    expect(cold.counts()).toEqual({ bulk: 1, protein: 1 });
  });
});

describe('what was learnt', () => {
  it('is not asked for again, part by part', async () => {
    const ask = (fields: string) =>
      warm.query(`query($h: [ProteinHash!]!) { proteins(hashes: $h) { ${fields} } }`, { h: [INSULIN, HBA] });
    const first = await ask('sequence features(first: 5) { value } provenance { fromCache source }');
    expect(at(first.data, 'proteins.0.provenance')).toEqual({ fromCache: false, source: 'atlas:bulk' });
    // The record of one shows that the activations are on the scale of rankings.
    expect(warm.counts()).toEqual({ bulk: 1, protein: 1 });
    warm.forget();
    const again = await ask('sequence features(first: 5) { value } provenance { fromCache source }');
    expect(warm.counts()).toEqual({});
    expect(at(again.data, 'proteins.1.provenance')).toEqual({ fromCache: true, source: 'atlas:bulk' });
    expect(listAt(again.data, 'proteins').map((p) => at(p, 'features'))).toEqual(
      listAt(first.data, 'proteins').map((p) => at(p, 'features')),
    );
    const more = await ask('sequence cluster { size } features(first: 3) { value } provenance { fromCache }');
    expect(JSON.parse(warm.calls[0]?.body ?? '')).toMatchObject({
      include_sequence: true,
      include_cluster_info: true,
      include_features: { protein_level: false, per_residue: false },
    });
    expect(at(more.data, 'proteins.0.provenance.fromCache')).toBe(false);
    // The cluster fields in the first record are known, too.
    expect(warm.counts()).toEqual({ bulk: 1, protein: 1 });
  });

  it('is there again for more than 50 proteins when they have come twice, and for a page at once', async () => {
    const world = await openWorld({ CACHE_RECORDS_SECONDS: '600' });
    onTestFinished(() => world.close());
    const clusters = [INSULIN, HBA, CASPASE_3, ACTIN, CD14];
    const members = (await Promise.all(clusters.map((hash) => readMembers(world, hash)))).flat();
    const callsFor = async (hashes: readonly string[]) => {
      world.forget();
      const list = 'query($h: [ProteinHash!]!) { proteins(hashes: $h) { length } }';
      const { data } = await world.query(list, { h: hashes });
      expect(listAt(data, 'proteins').map((protein) => at(protein, 'length'))).not.toContain(null);
      return world.counts();
    };
    expect(await callsFor(members.slice(0, 10))).toEqual({ bulk: 1 });
    expect(await callsFor(members.slice(1, 10))).toEqual({});
    const list = members.slice(10);
    expect(list.length).toBeGreaterThan(50);
    expect(await callsFor(list)).toEqual({ bulk: 1 });
    expect(await callsFor(list.toReversed())).toEqual({ bulk: 1 });
    expect(await callsFor(list.slice(1))).toEqual({});
  });

  it('is there again after a long list, for the list, for a part of it and for one of it that needs more', async () => {
    const { data } = await warm.query(
      '{ a: cluster(hash: "' +
        HBA +
        '") { members(first: 60) { nodes { hash } } } b: cluster(hash: "' +
        INSULIN +
        '") { members(first: 60) { nodes { hash } } } }',
    );
    const members = ['a', 'b'].flatMap((name) =>
      listAt(data, `${name}.members.nodes`).map((node) => String(at(node, 'hash'))),
    );
    const list = [...new Set(members)].filter((hash) => hash !== HBA && hash !== INSULIN);
    expect(list.length).toBeGreaterThan(21);
    const ask = async (hashes: readonly string[], fields: string) => {
      warm.forget();
      const { data: found, errors } = await warm.query(
        `query($h: [ProteinHash!]!) { proteins(hashes: $h) { ${fields} } }`,
        { h: hashes },
      );
      expect(errors).toBeUndefined();
      return listAt(found, 'proteins');
    };
    const fields =
      'hash length cluster { name size } features(first: 4) { value feature { label } } provenance { fromCache retrievedAt }';
    const first = await ask(list, fields);
    // The archive names the representatives of the two clusters.
    expect(warm.counts()).toEqual({ bulk: 1, protein: list.length - 2, features: 1 });
    // Out of the archive, and from then on one by one.
    for (const times of [1, 2]) {
      const half = await ask(list.slice(times, 10), fields);
      expect(warm.counts()).toEqual({});
      for (const [i, protein] of half.entries()) {
        const { provenance, ...rest } = first[i + times] as Record<string, unknown>;
        expect(protein).toEqual({ ...rest, provenance: { ...(provenance as object), fromCache: true } });
      }
    }
    // All but pTM is known: without its cluster it would be a bulk call as well.
    const more = await ask(list.slice(12, 13), 'length cluster { size } ptm');
    expect(warm.counts()).toEqual({ protein: 1 });
    expect(at(more, '0.cluster.size')).toBe(at(first, '12.cluster.size'));
    await ask(list.slice(13), fields);
    expect(warm.counts()).toEqual({});
  });

  it('is asked for again when its time is up, but for what a hash determines', async () => {
    const brief = await openWorld({ CACHE_RECORDS_SECONDS: '1' });
    onTestFinished(() => brief.close());
    const ask = async (fields: string) => {
      brief.forget();
      await brief.query(`{ proteins(hashes: ["${INSULIN}", "${HBA}"]) { ${fields} } }`);
      return brief.counts();
    };
    await ask('sequence accession features(first: 2) { value }');
    await sleep(1100);
    expect(await ask('accession sequence')).toEqual({});
    expect(await ask('features(first: 2) { value } sequence')).toMatchObject({ bulk: 1 });
  });

  it('comes from the single record as well', async () => {
    const own = await openWorld({ CACHE_RECORDS_SECONDS: '600' });
    await own.query(
      `{ protein(hash: "${HBA}") { ptm structure { text } features(first: 8) { regions { start } } } }`,
    );
    expect(own.counts()).toEqual({ protein: 1 });
    own.forget();
    const { data, errors } = await own.query(
      `{ protein(hash: "${HBA}") { sequence plddt { mean values(end: 3) } features(first: 4) { value regions { start } } exact: featureValues(indices: [3, 5]) { value } } }`,
    );
    expect(errors).toBeUndefined();
    expect(listAt(data, 'protein.features')).toHaveLength(4);
    // Whether an inactive feature exists at all is for the catalogue to say.
    expect({ features: 1, ...own.counts() }).toEqual({ features: 1 });
    await own.close();
  });

  it('is told of a longer ranking without regions and of a shorter one with them at once', async () => {
    const [member] = await readMembers(warm, HBA);
    const ask = async (top: number, of: string) => {
      const { data } = await warm.query(
        `{ protein(hash: "${member}") { features(first: ${top}) { ${of} } } }`,
      );
      return listAt(data, 'protein.features');
    };
    const long = await ask(5, 'value');
    const regions = await ask(3, 'value regions { start }');
    expect(regions.map((feature) => at(feature, 'value'))).toEqual(
      long.slice(0, 3).map((feature) => at(feature, 'value')),
    );
    for (const feature of regions) expect(listAt(feature, 'regions').length).toBeGreaterThan(0);
    warm.forget();
    expect([await ask(5, 'value'), await ask(3, 'value regions { start }')]).toEqual([long, regions]);
    expect(warm.counts()).toEqual({});
  });

  it('lets a member find its cluster at once, and a list of members be paged without loading it again', async () => {
    const [member] = await readMembers(warm, INSULIN);
    await warm.query(`{ protein(hash: "${member}") { cluster { size } } }`);
    warm.forget();
    const page = (after: string | null) =>
      warm.query(
        `query($h: ProteinHash!, $after: String) { cluster(hash: $h) { members(first: 3, after: $after) { totalCount nodes { hash } pageInfo { endCursor hasNextPage } } } }`,
        { h: member, after },
      );
    const one = await page(null);
    const two = await page(String(at(one.data, 'cluster.members.pageInfo.endCursor')));
    expect(listAt(two.data, 'cluster.members.nodes')[0]).not.toEqual(
      listAt(one.data, 'cluster.members.nodes')[0],
    );
    expect(warm.counts()).toEqual({});
  });

  it('is shared by requests that ask at the same time', async () => {
    const query = `{ proteins(hashes: ["${INSULIN}", "${HBA}"]) { cluster { size taxonomy { name } } ptm } similarProteins(sequence: "MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQKRGIVEQCCTSICSLYQLENYCN") { queryHash hits { score } } }`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => cold.query(query)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.errors).toBeUndefined();
    expect(cold.counts()).toEqual({ bulk: 1, similarity: 1, protein: 2, cluster: 2 });
  });
});

describe('a look-up that the upstream makes a job of', () => {
  /** Hashes enough for a job, most of which are unknown. */
  const hashes = [
    INSULIN,
    HBA,
    ...Array.from({ length: 120 }, (_, i) => createHash('md5').update(`none ${i}`).digest('hex')),
  ];
  const QUERY = `query($h: [ProteinHash!]!) { proteins(hashes: $h) { length } limits { maxBulkHashes } }`;

  it('is followed to its end', async () => {
    const { data, errors } = await cold.query(QUERY, { h: hashes });
    expect(errors).toBeUndefined();
    expect(listAt(data, 'proteins').slice(0, 3)).toEqual([{ length: 110 }, { length: 142 }, null]);
    expect(cold.counts()).toMatchObject({ bulk: 1, download: 1 });
    expect(cold.counts().bulkJob).toBeLessThan(12);
  });

  it('names the job and the way on where it takes longer than the request', async () => {
    const clock = new ManualClock(Date.now());
    const stuck = await openWorld({ REQUEST_TIMEOUT_MS: '1500' }, { clock });
    const { data, errors } = await stuck.query(QUERY, { h: hashes });
    expect(errors?.[0]?.message).toMatch(/bulk job [0-9a-f-]{36} did not finish .* startBulkLookup/);
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_TIMEOUT');
    expect(at(data, 'limits.maxBulkHashes')).toBe(500);
    await stuck.close();
  });
});
