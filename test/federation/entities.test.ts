// The gateway as a subgraph, asked as a router asks: references become objects in one call for all
// of them, each failure stays at its own index, and the schema is told to whom it may be.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';
import { type Answer, at, listAt, openWorld, type World } from '../support.ts';
import { reached } from '../transport.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const UNKNOWN = '0'.repeat(32);
const TOKEN = { authorization: 'Bearer lab' };

let world: World;
beforeAll(async () => {
  world = await openWorld({ MAX_QUERY_COST: '2000' }, { speed: 50 });
});
afterAll(() => world.close());
beforeEach(() => world.forget());

const entities = (
  representations: readonly unknown[],
  selection: string,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  world.query(
    `query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename ${selection} } }`,
    { representations },
    headers,
  );

const protein = (hash: unknown) => ({ __typename: 'Protein', hash });

/** Hashes of members over several clusters. */
async function manyHashes(count: number): Promise<string[]> {
  const hashes = new Set<string>();
  for (const id of ['P69905', 'P68871', 'P02144', 'P01308', 'P62736', 'P42574', 'P0DP23', 'P00698']) {
    const { data } = await world.query(
      `query ($id: String!) { uniprotEntry(id: $id) { protein { cluster { memberHashes } } } }`,
      { id },
    );
    for (const hash of listAt(data, 'uniprotEntry.protein.cluster.memberHashes')) hashes.add(String(hash));
  }
  expect(hashes.size).toBeGreaterThanOrEqual(count);
  world.forget();
  return [...hashes].slice(0, count);
}

describe('references', () => {
  it('make one bulk call for existence and data of 300 proteins, beside the records that name clusters', async () => {
    const held = await manyHashes(100);
    const gaps = Array.from({ length: 200 }, (_, i) => i.toString(16).padStart(32, '0'));
    const hashes = held.flatMap((hash, i) => [hash, gaps[2 * i], gaps[2 * i + 1]]);
    expect(hashes).toHaveLength(300);
    const { data, errors } = await entities(
      hashes.map(protein),
      '... on Protein { hash length accession sequence cluster { name size } features(first: 3) { value } }',
    );
    expect(errors).toBeUndefined();
    const found = listAt(data, '_entities');
    expect(found.map((one, i) => (i % 3 === 0 ? at(one, 'hash') : one))).toEqual(
      hashes.map((hash, i) => (i % 3 === 0 ? hash : null)),
    );
    expect(found.every((one, i) => i % 3 !== 0 || listAt(one, 'features').length === 3)).toBe(true);
    // So many are a job of the upstream's, which is followed to its archive.
    const { bulkJob: _, protein: records, ...counts } = world.counts();
    expect(counts).toEqual({ bulk: 1, download: 1 });
    // Which cluster a protein belongs to stands in its record, unless it stands for one.
    expect(records).toBeLessThan(held.length);
  });

  it('keep their order, are asked for once each, and are null where there is nothing', async () => {
    const [a = '', b = ''] = await manyHashes(2);
    const { data, errors } = await entities(
      [a, b, UNKNOWN, a, b.toUpperCase()].map(protein),
      '... on Protein { hash }',
    );
    expect(errors).toBeUndefined();
    expect(listAt(data, '_entities').map((one) => at(one, 'hash'))).toEqual([a, b, undefined, a, b]);
    expect(listAt(data, '_entities')[2]).toBeNull();
    expect(world.counts()).toEqual({ bulk: 1 });
    const sent: unknown = JSON.parse(world.calls[0]?.body ?? '');
    expect(listAt(sent, 'protein_hashes')).toHaveLength(3);
  });

  it('fail at their own index only when they are malformed', async () => {
    const { data, errors = [] } = await entities(
      [
        protein(INSULIN),
        protein('no hash'),
        protein(null),
        { __typename: 'Protein' },
        { __typename: 'BulkLookup', lookupId: 'x' },
        { __typename: 'constructor', id: 'x' },
        { hash: INSULIN },
        'Protein',
        { __typename: 'Protein', id: 'rubbish' },
        { __typename: 'Protein', hash: { $gt: '' } },
        protein(INSULIN),
      ],
      '... on Protein { hash length }',
    );
    const hashes = listAt(data, '_entities').map((one) => at(one, 'hash'));
    expect(hashes).toEqual([INSULIN, ...Array(9).fill(undefined), INSULIN]);
    expect(errors.map(({ path }) => Number(path?.[1])).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['BAD_USER_INPUT']));
    expect(world.counts()).toEqual({ bulk: 1 });
  });

  it('are answered side by side for several types, by their own key or by id', async () => {
    const first = await world.query(
      `{ protein(hash: "${INSULIN}") { id cluster { id representativeHash } } feature(index: 42) { id } }`,
    );
    const ids = {
      Protein: at(first.data, 'protein.id'),
      Cluster: at(first.data, 'protein.cluster.id'),
      Feature: at(first.data, 'feature.id'),
    };
    const representativeHash = at(first.data, 'protein.cluster.representativeHash');
    world.forget();
    const { data, errors } = await entities(
      [
        { __typename: 'UniprotEntry', accession: 'P01308' },
        { __typename: 'Feature', index: 42 },
        { __typename: 'Feature', index: 99_999 },
        { __typename: 'Cluster', representativeHash },
        ...Object.entries(ids).map(([__typename, id]) => ({ __typename, id })),
      ],
      `... on UniprotEntry { name protein { hash } } ... on Protein { id length } ... on Feature { id label }
       ... on Cluster { id clusterName: name members(first: 1) { totalCount } }`,
    );
    expect(errors).toBeUndefined();
    const found = listAt(data, '_entities');
    expect(at(found[0], 'protein.hash')).toBe(INSULIN);
    expect(found[1]).toEqual(found[6]);
    expect(found[2]).toBeNull();
    expect(found[3]).toEqual(found[5]);
    expect(at(found[3], 'members.totalCount')).toBeGreaterThan(1);
    expect(found.slice(4).map((one) => at(one, 'id'))).toEqual(Object.values(ids));
  });

  it('name a cluster by its representative only, and by an id of its own type only', async () => {
    const { data } = await world.query(
      `{ protein(hash: "${INSULIN}") { id cluster { memberHashes representativeHash } } }`,
    );
    const representative = at(data, 'protein.cluster.representativeHash');
    const member = listAt(data, 'protein.cluster.memberHashes').find((hash) => hash !== representative);
    const answer = await entities(
      [
        { __typename: 'Cluster', representativeHash: member },
        { __typename: 'Cluster', id: at(data, 'protein.id') },
      ],
      '... on Cluster { size }',
    );
    expect(listAt(answer.data, '_entities')).toEqual([null, null]);
    expect(answer.errors?.map(({ path }) => path)).toEqual([['_entities', 1]]);
  });

  it('need the token of their caller when they lead to batches and tasks', async () => {
    const submitted = await world.query(
      `mutation { submitFold(input: { label: "lab", items: [{ chains: [{ protein: { sequence: "MALWMRLLPLLALLALWGPD" } }] }] }) {
        ... on FoldSubmitted { batch { id batchId tasks { nodes { id taskId } } } } } }`,
      {},
      TOKEN,
    );
    const { batchId, id } = Object(at(submitted.data, 'submitFold.batch'));
    const task = listAt(submitted.data, 'submitFold.batch.tasks.nodes')[0];
    const references = [
      { __typename: 'Batch', batchId },
      { __typename: 'Batch', id },
      { __typename: 'Task', taskId: at(task, 'taskId') },
      { __typename: 'Task', id: at(task, 'id') },
    ];
    world.forget();
    const mine = await entities(references, '... on Batch { label } ... on Task { index }', TOKEN);
    expect(mine.errors).toBeUndefined();
    expect(listAt(mine.data, '_entities')).toEqual([
      { __typename: 'Batch', label: 'lab' },
      { __typename: 'Batch', label: 'lab' },
      { __typename: 'Task', index: 0 },
      { __typename: 'Task', index: 0 },
    ]);
    expect(world.counts()).toEqual({ list: 1, status: 1 });
    expect(world.calls.map(({ headers }) => headers.authorization)).toEqual(
      Array(2).fill(TOKEN.authorization),
    );
    const nobody = await entities([protein(INSULIN), ...references], '... on Protein { length }');
    expect(listAt(nobody.data, '_entities')).toEqual([
      { __typename: 'Protein', length: 110 },
      null,
      null,
      null,
      null,
    ]);
    expect(nobody.errors?.map(({ extensions }) => extensions.code)).toEqual(Array(4).fill('UNAUTHENTICATED'));
  });

  it('are limited in number, and counted by what they cost', async () => {
    const many = Array.from({ length: 1001 }, () => protein(INSULIN));
    const tooMany = await entities(many, '... on Protein { hash }');
    expect(tooMany.errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
    expect(tooMany.errors?.[0]?.message).toMatch(/1001 references; at most 1000/);
    const enough = await entities(many.slice(1), '... on Protein { hash length }');
    expect(enough.errors).toBeUndefined();
    world.forget();
    const dear = await entities(many.slice(1), '... on Protein { raw similar { hits { score } } }');
    expect(dear.errors?.[0]).toMatchObject({ extensions: { code: 'QUERY_TOO_EXPENSIVE' } });
    expect(world.calls).toEqual([]);
  });
});

describe('_service', () => {
  const TOLD = 'a-secret-of-the-router';
  const SERVICE = { query: '{ _service { sdl } __typename }' };
  const ask = async (env: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> => {
    const config = readConfig({ STORE_URL: 'memory:', LOG_LEVEL: 'silent', ...env });
    const gateway = reached(
      createGateway({
        config,
        upstreamUrl: world.sandboxUrl,
        log: testLogger(),
      }),
    );
    const response = await gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(SERVICE),
      }),
    );
    const answer = (await response.json()) as Answer;
    await gateway.close();
    return answer;
  };
  const CLOSED = { INTROSPECTION: '0', FEDERATION_TOKEN: TOLD };

  it('is federation/subgraph.graphql where introspection is open', async () => {
    expect(at((await ask({})).data, '_service.sdl')).toBe(
      readFileSync(new URL('../../federation/subgraph.graphql', import.meta.url), 'utf8'),
    );
  });

  it('is shown by introspection only to those who ask for it', async () => {
    const world = await openWorld();
    const readTypes = async (more: string) =>
      listAt(
        (await world.query(`{ __schema { types { name } } any: __type(name: "_Any") { name } ${more} }`))
          .data,
        '__schema.types',
      ).map((type) => at(type, 'name'));
    expect(await readTypes('')).not.toContain('_Service');
    expect(await readTypes('_service { sdl }')).toContain('_Service');
    await world.close();
  });

  it('is closed with introspection, but for the router', async () => {
    expect((await ask({ INTROSPECTION: '0' }, { 'x-federation-token': '' })).errors?.[0]).toMatchObject({
      path: ['_service'],
      extensions: { code: 'FORBIDDEN' },
    });
    for (const wrong of [{}, { 'x-federation-token': `${TOLD}x` }]) {
      expect(JSON.stringify(await ask(CLOSED, wrong))).not.toContain('ProteinHash');
    }
    expect(at((await ask(CLOSED, { 'x-federation-token': TOLD })).data, '_service.sdl')).toContain(
      'type Protein',
    );
  });
});
