// Absence is proven: proteins that a bulk archive does not mention may exist, and parts that it
// leaves out may stand in single records. The sandbox speaks without our own conventions, and
// answers are compared with its single records.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { recorded, testLogger } from '../record.ts';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';

const HBA = '6077c452d1dc6151040b2b179e2294c7';
const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const UNKNOWN = [1, 2, 3, 4].map((n) => md5(`no protein ${n}`));

interface AtlasRecord {
  readonly protein_hash: string;
  readonly sequence: string;
  readonly ptm: number | null;
  readonly mean_plddt: number | null;
  readonly pdb: string | null;
  readonly cluster_rep_protein_hash: string | null;
  readonly sae_features: { feature_index: number; value: number; label: string }[];
}

let world: World;
/** One that caches, over the same sandbox. */
let warm: Gateway;
/**
 * By hash, what the single record says; all proteins of the universe that can be met by a search
 * and by membership.
 */
const records = new Map<string, AtlasRecord>();
/** By representative. */
const clusters = new Map<string, { cluster_size: number; member_protein_hashes: string[] } | null>();
let hashes: string[] = [];

const atlas = async (path: string) => {
  const response = await fetch(`${world.sandboxUrl}/atlas/protein/api/v1alpha1${path}`);
  return response.status === 404 ? null : response.json();
};

async function findCluster(hash: string) {
  const representative = records.get(hash)?.cluster_rep_protein_hash ?? hash;
  if (!clusters.has(representative)) clusters.set(representative, await atlas(`/clusters/${representative}`));
  const cluster = clusters.get(representative);
  return cluster == null ? null : { representative, cluster };
}

beforeAll(async () => {
  world = await openWorld({}, { dialect: 'plain' });
  const config = readConfig({ STORE_URL: 'memory:', MAX_CONCURRENT_REQUESTS: '0' });
  warm = recorded(
    createGateway({
      config,
      upstreamUrl: world.sandboxUrl,
      log: testLogger(),
      sandbox: true,
      limits: { responseCacheBytes: 0 },
    }),
  );
  const hits = new Set<string>([HBA]);
  for (let seed = 0; seed < 4; seed += 1) {
    const sequence = Array.from(
      { length: 60 },
      (_, i) => 'ACDEFGHIKLMNPQRSTVWY'[(i * (seed + 3) + seed) % 20],
    ).join('');
    const answer = await atlas(`/similarity-search?sequence=${sequence}&topk_results=12`);
    for (const { protein_hash: hash } of answer.similar_proteins) hits.add(hash);
  }
  for (const hash of hits)
    records.set(hash, await atlas(`/proteins/${hash}?fold_on_miss=false&topk_features=4`));
  const own = await findCluster(HBA);
  for (const hash of own?.cluster.member_protein_hashes.slice(0, 10) ?? [])
    records.set(hash, await atlas(`/proteins/${hash}?fold_on_miss=false&topk_features=4`));
  hashes = [...records.keys(), ...UNKNOWN];
  const found = [...records.keys()];
  const owners = await Promise.all(found.map(findCluster));
  // Each kind of protein is there.
  expect(owners.some((owner, i) => owner?.representative === found[i])).toBe(true);
  expect([...records.values()].some(({ pdb }) => pdb === null)).toBe(true);
});
afterAll(async () => {
  await warm.close();
  await world.close();
});
beforeEach(() => world.forget());

async function askWarm(query: string, variables: unknown): Promise<Answer> {
  const response = await warm.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    }),
  );
  return (await response.json()) as Answer;
}

const FIELDS: Readonly<Record<string, (hash: string) => Promise<unknown>>> = {
  hash: async (hash) => ({ hash }),
  'hash ptm': async (hash) => ({ hash, ptm: records.get(hash)?.ptm ?? null }),
  'ptm structure { atomCount }': async (hash) => {
    const { ptm = null, pdb = null } = records.get(hash) ?? {};
    return { ptm, structure: pdb === null ? null : { atomCount: pdb.match(/^ATOM/gm)?.length } };
  },
  'hash cluster { size }': async (hash) => {
    const found = await findCluster(hash);
    return { hash, cluster: found && { size: found.cluster.cluster_size } };
  },
  'cluster { representativeHash } isClusterRepresentative': async (hash) => {
    const found = await findCluster(hash);
    return {
      cluster: found && { representativeHash: found.representative },
      isClusterRepresentative: found && found.representative === hash,
    };
  },
  'features(first: 4) { value feature { index label } }': async (hash) => ({
    features: records.get(hash)?.sae_features.map(({ feature_index: index, value, label }) => ({
      value,
      feature: { index, label },
    })),
  }),
  'sequence length cluster { size } ptm features(first: 2) { value }': async (hash) => {
    const { sequence, ptm, sae_features: features } = records.get(hash) ?? { sequence: '' };
    const found = await findCluster(hash);
    return {
      sequence,
      length: sequence.length,
      cluster: found && { size: found.cluster.cluster_size },
      ptm,
      features: features?.slice(0, 2).map(({ value }) => ({ value })),
    };
  },
};

const expected = (hash: string, fields: string): Promise<unknown> =>
  records.has(hash) ? (FIELDS[fields]?.(hash) ?? Promise.resolve()) : Promise.resolve(null);

describe.each(Object.keys(FIELDS))('{ %s } of proteins', (fields) => {
  const list = `query($h: [ProteinHash!]!) { proteins(hashes: $h) { ${fields} } }`;

  it('says in a list what single records say, at most one call for each beside the bulk calls', async () => {
    const { data, errors } = await world.query(list, { h: hashes });
    expect(errors).toBeUndefined();
    expect(listAt(data, 'proteins')).toEqual(await Promise.all(hashes.map((hash) => expected(hash, fields))));
    const { protein = 0, bulk = 0, cluster = 0 } = world.counts();
    expect(bulk).toBe(Math.ceil(hashes.length / 500));
    expect(protein).toBeLessThanOrEqual(records.size);
    expect(cluster).toBe(0);
  });

  it('says the same by hash, by lookup, by id and as an entity', async () => {
    for (const hash of [...[...records.keys()].filter((_, i) => i % 9 === 0), UNKNOWN[0] ?? '']) {
      const { data, errors } = await world.query(
        `query($h: ProteinHash!, $i: ID!, $s: [String!]!, $e: [_Any!]!) { protein(hash: $h) { ${fields} }
          lookup(ids: $s) { protein { ${fields} } problem { message } } node(id: $i) { ... on Protein { ${fields} } }
          _entities(representations: $e) { ... on Protein { ${fields} } } }`,
        { h: hash, i: btoa(`Protein:${hash}`), s: [hash], e: [{ __typename: 'Protein', hash }] },
      );
      expect(errors).toBeUndefined();
      const wanted = await expected(hash, fields);
      expect(at(data, 'protein')).toEqual(wanted);
      expect(at(data, 'node')).toEqual(wanted);
      expect(at(data, '_entities.0')).toEqual(wanted);
      expect(at(data, 'lookup.0.protein')).toEqual(wanted);
      expect(at(data, 'lookup.0.problem') === null).toBe(wanted !== null);
    }
  });

  it('says the same when it is asked again, without a call for what is cached', async () => {
    const wanted = await Promise.all(hashes.map((hash) => expected(hash, fields)));
    for (const time of ['first', 'second']) {
      world.forget();
      const { data, errors } = await askWarm(list, { h: hashes });
      expect(errors).toBeUndefined();
      expect(listAt(data, 'proteins')).toEqual(wanted);
      if (time === 'second') expect(world.counts().protein ?? 0).toBe(0);
    }
  });
});

describe('a cluster', () => {
  it('is found by its representative and by any member, and its members are proteins', async () => {
    const found = await findCluster(HBA);
    const member = found?.cluster.member_protein_hashes.find((hash) => hash !== found.representative);
    for (const hash of [found?.representative, member]) {
      const { data, errors } = await world.query(
        `query($h: ProteinHash!) { small: cluster(hash: $h) { size representativeHash }
          cluster(hash: $h) { size taxonomy { name } members(first: 5) { nodes { hash length ptm cluster { size } } } } }`,
        { h: hash },
      );
      expect(errors).toBeUndefined();
      expect(at(data, 'small')).toEqual({
        size: found?.cluster.cluster_size,
        representativeHash: found?.representative,
      });
      expect(at(data, 'cluster.size')).toBe(found?.cluster.cluster_size);
      for (const node of listAt(data, 'cluster.members.nodes')) {
        const own = records.get(String(at(node, 'hash')));
        expect(node).toEqual({
          hash: own?.protein_hash,
          length: own?.sequence.length,
          ptm: own?.ptm,
          cluster: { size: found?.cluster.cluster_size },
        });
      }
    }
  });

  it('is that of each hit of a search', async () => {
    const sequence = records.get(HBA)?.sequence;
    const { data, errors } = await world.query(
      'query($s: AminoAcidSequence!) { similarProteins(sequence: $s, first: 8) { queryProtein { hash } hits { protein { hash ptm cluster { representativeHash size } } cluster { representativeHash size } } } }',
      { s: sequence },
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'similarProteins.queryProtein.hash')).toBe(HBA);
    for (const hit of listAt(data, 'similarProteins.hits')) {
      const hash = String(at(hit, 'protein.hash'));
      if (!records.has(hash)) records.set(hash, await atlas(`/proteins/${hash}?fold_on_miss=false`));
      const own = await findCluster(hash);
      const cluster = own && { representativeHash: own.representative, size: own.cluster.cluster_size };
      expect(at(hit, 'protein.cluster')).toEqual(cluster);
      if (cluster !== null) expect(at(hit, 'cluster')).toEqual(cluster);
    }
  });
});
