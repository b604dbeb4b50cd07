// The gateway behind routers: its schema composes with another subgraph's, one query crosses both
// over loopback HTTP, references arrive in one piece, and so does the caller's token.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { composeServices as composeByApollo } from '@apollo/composition';
import { composeServices as composeByHive } from '@theguild/federation-composition';
import { federateSubgraphs, ROUTER_COMPATIBILITY_VERSION_ONE } from '@wundergraph/composition';
import { parse, print } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, listAt, openWorld, type World } from '../../support.ts';
import { LAB_SDL, type Sample, type Served, serve, serveLab } from './lab.ts';
import { openApollo, openHive, type Router } from './routers.ts';

const TOKEN = 'Bearer laboratory';
const UNKNOWN = '0'.repeat(32);

let world: World;
let atlas: Served;
let lab: Served;
let samples: Sample[] = [];
type Composer = 'Apollo' | 'Hive' | 'WunderGraph';
let supergraphs: Readonly<Record<Composer, string>>;
const routers: Record<string, Router> = {};

/** Hosts that were looked up or connected to. */
const contacted = new Set<string>();
function onSocket(message: unknown): void {
  const socket: unknown = Object(message).socket;
  if (!(socket instanceof Socket)) return;
  socket.once('lookup', (_error, _address, _family, host: string) => contacted.add(host));
  socket.once('connect', () => contacted.add(socket.remoteAddress ?? 'unknown'));
}

/**
 * Composes the gateway, by its own `_service`, and another subgraph: every composer that npm has.
 */
async function compose(otherSdl: string): Promise<Record<Composer, string>> {
  const { data } = await world.query('{ _service { sdl } }');
  const subgraphs = [
    { name: 'foldatlas', url: atlas.url, typeDefs: parse(String(at(data, '_service.sdl'))) },
    { name: 'lab', url: lab.url, typeDefs: parse(otherSdl) },
  ];
  const apollo = composeByApollo(subgraphs);
  const hive = composeByHive(subgraphs);
  for (const { errors } of [apollo, hive]) expect(errors?.map(({ message }) => message)).toBeUndefined();
  expect(apollo.hints?.map(({ message }) => message)).toEqual([]);
  const wunderGraph = federateSubgraphs({
    subgraphs: subgraphs.map(({ typeDefs, ...subgraph }) => ({ ...subgraph, definitions: typeDefs })),
    version: ROUTER_COMPATIBILITY_VERSION_ONE,
  });
  if (!wunderGraph.success) throw new Error(wunderGraph.errors.map(({ message }) => message).join('\n'));
  expect(wunderGraph.warnings.map(({ message }) => message)).toEqual([]);
  return {
    Apollo: apollo.supergraphSdl ?? '',
    Hive: hive.supergraphSdl ?? '',
    WunderGraph: print(wunderGraph.federatedGraphAST),
  };
}

beforeAll(async () => {
  subscribe('net.client.socket', onSocket);
  world = await openWorld();
  atlas = await serve(world.gateway.listener);
  lab = await serveLab(() => samples);
  const { data } = await world.query(
    `mutation { submitFold(input: { label: "sample 0", items: [{ chains: [{ protein: { sequence: "MALWMRLLPLLALLALWGPD" } }] }] }) {
      ... on FoldSubmitted { batch { batchId } } }  }`,
    {},
    { authorization: TOKEN },
  );
  const members = await world.query(
    `{ uniprotEntry(id: "P01308") { protein { cluster { memberHashes } } } }`,
  );
  const hashes = listAt(members.data, 'uniprotEntry.protein.cluster.memberHashes').slice(0, 20).map(String);
  samples = [...hashes, UNKNOWN, hashes[0] ?? ''].map((proteinHash, i) => ({
    barcode: `S${i}`,
    proteinHash,
    batchId: i === 0 ? String(at(data, 'submitFold.batch.batchId')) : null,
  }));
  supergraphs = await compose(LAB_SDL);
  routers['Apollo Gateway'] = await openApollo(supergraphs.Apollo);
  routers['Hive Gateway'] = await openHive(supergraphs.Hive);
});
afterAll(async () => {
  unsubscribe('net.client.socket', onSocket);
  await Promise.all(Object.values(routers).map((router) => router.close()));
  await Promise.all([atlas.close(), lab.close()]);
  await world.close();
});
beforeEach(() => {
  world.forget();
  atlas.seen.length = 0;
  lab.seen.length = 0;
});

describe.each(['Apollo Gateway', 'Hive Gateway'])('behind %s', (name) => {
  const ask = async (query: string, token?: string) => {
    const answer = await routers[name]?.ask(query, token);
    if (answer === undefined) throw new Error(`${name} was not opened`);
    return answer;
  };

  it("goes from another subgraph's samples to their proteins in one request and one bulk call", async () => {
    const { data, errors } = await ask(`{ samples { barcode protein { hash length accession } } }`);
    expect(errors).toBeUndefined();
    const found = listAt(data, 'samples');
    expect(found.map((one) => at(one, 'barcode'))).toEqual(samples.map(({ barcode }) => barcode));
    expect(found.map((one) => at(one, 'protein.hash'))).toEqual(
      samples.map(({ proteinHash }) => proteinHash),
    );
    expect(found.map((one) => typeof at(one, 'protein.length'))).toEqual(
      samples.map(({ proteinHash }) => (proteinHash === UNKNOWN ? 'object' : 'number')),
    );
    expect([lab.seen.length, atlas.seen.length]).toEqual([1, 1]);
    expect(world.counts().bulk).toBe(1);
    expect(world.counts().protein ?? 0).toBeLessThan(samples.length);
  });

  it('goes from an accession to the samples of its protein', async () => {
    const { data, errors } = await ask(
      `{ uniprotEntry(id: "P01308") { name protein { length cluster { size } samples { barcode } } } }`,
    );
    expect(errors).toBeUndefined();
    expect(at(data, 'uniprotEntry')).toMatchObject({ name: 'Insulin', protein: { length: 110 } });
    const mine = samples.filter(({ proteinHash }) => proteinHash === '12e9c9e4e2835c302e8ba615115edda3');
    expect(listAt(data, 'uniprotEntry.protein.samples')).toEqual(mine.map(({ barcode }) => ({ barcode })));
    expect([lab.seen.length, atlas.seen.length]).toEqual([1, 1]);
    expect(world.counts()).toEqual({ bulk: 1, protein: 1 });
  });

  it('leaves node to another subgraph, and finds our objects by the ids that it gives', async () => {
    const { data } = await world.query(`{ uniprotEntry(id: "P01308") { protein { cluster { id size } } } }`);
    const { id, size } = Object(at(data, 'uniprotEntry.protein.cluster'));
    const answer = await ask(`{ node(id: "${id}") { id ... on Cluster { size } } }`);
    expect(answer).toMatchObject({ data: { node: { id, size } } });
    expect([lab.seen.length, atlas.seen.length]).toEqual([1, 1]);
  });

  it("brings the caller's token to the Batch API, and no data of other callers without it", async () => {
    const QUERY = `{ samples { barcode fold { batchId label counts { total } } } }`;
    const { data, errors } = await ask(QUERY, TOKEN);
    expect(errors).toBeUndefined();
    expect(listAt(data, 'samples')[0]).toMatchObject({ fold: { label: 'sample 0', counts: { total: 1 } } });
    expect(atlas.seen.map(({ authorization }) => authorization)).toEqual([TOKEN]);
    expect(world.calls.map(({ operation, headers }) => [operation, headers.authorization])).toEqual([
      ['list', TOKEN],
    ]);
    const nobody = await ask(QUERY);
    // The other subgraph knows the id; nothing of the batch is told.
    expect(listAt(nobody.data, 'samples')[0]).toMatchObject({
      barcode: 'S0',
      fold: { label: null, counts: null },
    });
    expect(nobody.errors?.[0]?.extensions).toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe('composition', () => {
  it.each([
    'Apollo',
    'Hive',
  ] as const)('by %s keeps costs and lengths of lists for routers that limit queries', (name) => {
    // In one layout.
    const supergraph = print(parse(supergraphs[name]));
    expect(supergraph).toContain('https://specs.apollo.dev/cost/');
    expect(supergraph).toMatch(/ {2}summary: String @cost\(weight: 1\)\n/);
    // Each composer has its own order of arguments.
    const [, size = ''] =
      /FeatureConnection @join__field\(graph: FOLDATLAS\) @cost\(weight: 1\) @listSize\((.+)\)\n/.exec(
        supergraph,
      ) ?? [];
    for (const argument of [
      'assumedSize: 20',
      'slicingArguments: ["first"]',
      'requireOneSlicingArgument: false',
      'sizedFields: ["edges", "nodes"]',
    ])
      expect(size).toContain(argument);
  });

  it('takes the subgraph that the documentation shows', async () => {
    const doc = readFileSync(new URL('../../../docs/federation.md', import.meta.url), 'utf8');
    const shown = /^```graphql\n# lab\.graphql\n([\s\S]*?)^```$/m.exec(doc)?.[1] ?? '';
    const composed = await compose(shown);
    for (const name of ['Apollo', 'Hive'] as const)
      expect(composed[name]).toContain('samples: [Sample!]! @join__field(graph: LAB)');
    // One of Query and one of Protein.
    expect(composed.WunderGraph.match(/^ {2}samples: \[Sample!\]!/gm)).toHaveLength(2);
  });
});

describe('the routers', () => {
  it('contacted only the subgraphs', () => {
    expect([...contacted]).toEqual(['127.0.0.1']);
  });
});
