// The Relay server specification, by its letter: every id finds its object again, and every
// connection is walked in pages of any size, without losing, repeating or reordering anything.
import fc from 'fast-check';
import { isInterfaceType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/resolvers/schema.ts';
import { at, listAt, openWorld, type World } from '../support.ts';
import { listElements } from './elements.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const TOKEN = { authorization: 'Bearer relay' };

let world: World;
let batchId = '';
beforeAll(async () => {
  world = await openWorld({ CACHE_RECORDS_SECONDS: '60' });
  for (const repeat of [17, 1, 1, 1, 1]) {
    const { data } = await ask(
      `mutation { submitFold(input: { repeat: ${repeat}, items: [{ chains: [{ protein: { sequence: "GIVEQCCTSICSLYQLENYCN" } }] }] }) {
        ... on FoldSubmitted { batch { batchId } } } }`,
    );
    batchId ||= String(at(data, 'submitFold.batch.batchId'));
  }
});
afterAll(() => world.close());

const ask = (query: string, variables: Record<string, unknown> = {}) => world.query(query, variables, TOKEN);

const encode = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64');

describe('node and nodes', () => {
  const node = schema.getType('Node');
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : [];
  /** One id of each type, as the schema itself gives it. */
  const ids = new Map<string, string>();

  beforeAll(async () => {
    const { data, errors } = await ask(
      `query ($hash: ProteinHash!, $batch: ID!) {
        protein(hash: $hash) { __typename id cluster { __typename id } }
        feature(index: 7) { __typename id }
        uniprotEntry(id: "P01308") { __typename id }
        batch(batchId: $batch) { __typename id tasks(first: 1) { nodes { __typename id } } }
      }`,
      { hash: INSULIN, batch: batchId },
    );
    expect(errors).toBeUndefined();
    for (const path of [
      'protein',
      'protein.cluster',
      'feature',
      'uniprotEntry',
      'batch',
      'batch.tasks.nodes.0',
    ])
      ids.set(String(at(data, `${path}.__typename`)), String(at(data, `${path}.id`)));
    const started = await ask(
      `mutation ($hash: ProteinHash!) { startBulkLookup(input: { hashes: [$hash] }) { ... on BulkLookup { id } } }`,
      { hash: INSULIN },
    );
    ids.set('BulkLookup', String(at(started.data, 'startBulkLookup.id')));
  });

  it('find every type that has an id again, in the order asked, duplicates kept', async () => {
    expect([...ids.keys()].sort()).toEqual([...types].sort());
    const asked = [...ids.values(), ...ids.values()];
    const { data, errors } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }', {
      ids: asked,
    });
    expect(errors).toBeUndefined();
    expect(listAt(data, 'nodes').map((one) => at(one, 'id'))).toEqual(asked);
    expect(listAt(data, 'nodes').map((one) => at(one, '__typename'))).toEqual([...ids.keys(), ...ids.keys()]);
    for (const [type, id] of ids) {
      const one = await ask('query ($id: ID!) { node(id: $id) { __typename id } }', { id });
      expect(one).toEqual({ data: { node: { __typename: type, id } } });
    }
  });

  it('are null for what is not there', async () => {
    const gone = {
      Protein: '0'.repeat(32),
      Cluster: '0'.repeat(32),
      Feature: '16384',
      BulkLookup: 'nobody',
      Batch: '00000000-0000-4000-8000-000000000000',
      Task: '00000000-0000-4000-8000-000000000000-00000',
      UniprotEntry: 'Q00000',
    };
    expect(Object.keys(gone).sort()).toEqual([...types].sort());
    const asked = Object.entries(gone).map(([type, id]) => encode(type, id));
    const { data, errors } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: asked });
    expect(errors).toBeUndefined();
    expect(listAt(data, 'nodes')).toEqual(asked.map(() => null));
  });

  it('fail at their own place for what is no id', async () => {
    const asked = ['', '%%%', 'rubbish', encode('Query', '1'), encode('__proto__', '1'), ids.get('Protein')];
    const { data, errors = [] } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: asked,
    });
    expect(listAt(data, 'nodes').map((one) => at(one, 'id'))).toEqual([
      ...Array(5).fill(undefined),
      asked[5],
    ]);
    expect(errors.map(({ path }) => Number(path?.[1])).sort()).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(errors.map(({ extensions }) => extensions.code))).toEqual(new Set(['BAD_USER_INPUT']));
  });
});

interface Connection {
  /** The query; `ARGS` is where the page is asked for. */
  readonly query: string;
  readonly path: string;
}

const CONNECTIONS: Readonly<Record<string, Connection>> = {
  ProteinConnection: {
    query: `{ protein(hash: "${INSULIN}") { cluster { members(ARGS) { PAGE } } } }`,
    path: 'protein.cluster.members',
  },
  FeatureConnection: {
    query: `{ features(indices: [9, 3, 12, 99999, 5, 7, 11, 2, 40, 41], ARGS) { PAGE } }`,
    path: 'features',
  },
  TaskConnection: {
    query: '{ batch(batchId: "BATCH") { tasks(ARGS) { PAGE } } }',
    path: 'batch.tasks',
  },
  BatchConnection: { query: '{ myBatches(ARGS) { PAGE } }', path: 'myBatches' },
};

const PAGE =
  'totalCount edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';

async function readPage({ query, path }: Connection, args: string) {
  const text = query.replace('ARGS', args).replace('PAGE', PAGE).replace('BATCH', batchId);
  const { data, errors } = await ask(text);
  expect(errors, text).toBeUndefined();
  const edges = listAt(data, `${path}.edges`);
  const ids = edges.map((edge) => String(at(edge, 'node.id')));
  const cursors = edges.map((edge) => String(at(edge, 'cursor')));
  const pageInfo: Record<string, unknown> = Object(at(data, `${path}.pageInfo`));
  expect(listAt(data, `${path}.nodes`).map((node) => at(node, 'id'))).toEqual(ids);
  expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([cursors[0] ?? null, cursors.at(-1) ?? null]);
  return { ids, pageInfo, totalCount: Number(at(data, `${path}.totalCount`)) };
}

describe('connections', () => {
  it('page forward only', () => {
    for (const type of Object.values(schema.getTypeMap()).filter(isObjectType))
      for (const { name, type: of, args } of Object.values(type.getFields()))
        if (String(of).includes('Connection'))
          expect([name, args.map((arg) => arg.name)]).toEqual([
            name,
            expect.arrayContaining(['first', 'after']),
          ]);
    expect(listElements(schema).filter(({ path }) => /\((last|before):\)$/.test(path))).toEqual([]);
  });

  it('are built by the book, and all of them are walked below', () => {
    const connections = Object.values(schema.getTypeMap()).filter(
      (type) => isObjectType(type) && type.name.endsWith('Connection'),
    );
    expect(connections.map(({ name }) => name).sort()).toEqual(Object.keys(CONNECTIONS).sort());
    for (const type of connections) {
      if (!isObjectType(type)) continue;
      expect(String(type.getFields().pageInfo?.type)).toBe('PageInfo!');
      const edge = schema.getType(type.name.replace('Connection', 'Edge'));
      expect(String(type.getFields().edges?.type)).toBe(`[${edge}!]!`);
      expect(isObjectType(edge) && String(edge.getFields().cursor?.type)).toBe('String!');
      expect(isObjectType(edge) && edge.getFields().node).toBeTruthy();
    }
  });

  it.each(Object.entries(CONNECTIONS))('%s is walked in pages of any size', async (_name, connection) => {
    const whole = await readPage(connection, 'first: 100');
    expect(whole.ids.length).toBeGreaterThan(4);
    expect(whole).toMatchObject({
      totalCount: whole.ids.length,
      pageInfo: { hasNextPage: false, hasPreviousPage: false },
    });
    expect(new Set(whole.ids).size).toBe(whole.ids.length);

    const walk = async (size: number): Promise<void> => {
      const seen: string[] = [];
      let after = '';
      for (;;) {
        const { ids, pageInfo, totalCount } = await readPage(connection, `first: ${size}${after}`);
        expect(totalCount).toBe(whole.totalCount);
        expect(pageInfo.hasPreviousPage).toBe(seen.length > 0);
        seen.push(...ids);
        expect(pageInfo.hasNextPage).toBe(seen.length < whole.ids.length);
        if (pageInfo.hasNextPage !== true) break;
        expect(ids).toHaveLength(size);
        after = `, after: ${JSON.stringify(pageInfo.endCursor)}`;
      }
      expect(seen).toEqual(whole.ids);
    };
    await fc.assert(fc.asyncProperty(fc.integer({ min: 2, max: whole.ids.length + 1 }), walk), {
      numRuns: 6,
    });
    expect((await readPage(connection, 'first: 0')).ids).toEqual([]);
  });
});
