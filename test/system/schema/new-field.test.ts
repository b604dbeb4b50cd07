// A promise of CONTRIBUTING: a property that the service adds to a record is one line in wire.ts
// and one field of its noun. A copy of the source gets both for every noun, and the values of a
// service that sends them arrive in the answer.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { at, openWorld, type World } from '../../support.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COPY = `${ROOT}node_modules/.cache/new-field-${process.pid}`;
const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const INSULIN_A = 'GIVEQCCTSICSLYQLENYCN';

interface Noun {
  /** The object in wire.ts whose first line gets the new one behind it. */
  readonly wire: string;
  /** The file of the noun, and the text in it before which the field stands. */
  readonly file: string;
  readonly before: string;
  readonly field: string;
  /** The answers of the service with such records, and where in them. */
  readonly path: RegExp;
  readonly places: (body: unknown) => unknown[];
  /** Where the value is in the answer of the query. */
  readonly found: string;
}

const VALUE = 'a value that is new';
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const exposed = "novelty: t.exposeString('novelty', { nullable: true, description: 'New.' }),\n";
const resolved = (args: string, value: string) =>
  `novelty: t.string({ description: 'New.', resolve: async (${args}) => ${value} }),\n`;

const NOUNS: Readonly<Record<string, Noun>> = {
  Protein: {
    wire: 'export const proteinRecord = z.object({',
    file: 'resolvers/atlas/protein.ts',
    before: '  foldedOnDemand: t.boolean({',
    field: resolved('protein', 'readPart(protein.single)?.own.novelty'),
    path: /\/proteins\/[0-9a-f]{32}\?/,
    places: (body) => [body],
    found: 'protein.novelty',
  },
  ResidueRegion: {
    wire: 'const region = z.object({',
    file: 'schema/feature.ts',
    before: "    start: t.exposeInt('start', ",
    field: exposed,
    path: /\/proteins\/[0-9a-f]{32}\?/,
    places: (body) => list(at(body, 'sae_features')).flatMap((one) => list(at(one, 'residue_regions'))),
    found: 'protein.features.0.regions.0.novelty',
  },
  Cluster: {
    wire: 'export const clusterInfo = z.object({',
    file: 'resolvers/atlas/cluster.ts',
    before: '    size: t.int(',
    field: resolved('cluster', "readKey(cluster, 'novelty')"),
    path: /\/clusters\//,
    places: (body) => [body],
    found: 'cluster.novelty',
  },
  UniprotEntry: {
    wire: 'export const uniprotRecord = z.object({',
    file: 'schema/uniprot.ts',
    before: '    gene: t.string(',
    field: resolved('{ record }', 'record.novelty'),
    path: /\/uniprot\//,
    places: (body) => [body],
    found: 'uniprotEntry.novelty',
  },
  Feature: {
    wire: 'export const featureDetail = z.object({',
    file: 'resolvers/atlas/feature.ts',
    before: '  summary: t.',
    field: resolved('{ index }, _, ctx', '(await ctx.features.load(index))?.record.novelty'),
    path: /\/features\/\d+/,
    places: (body) => [body],
    found: 'feature.novelty',
  },
  SimilarityHit: {
    wire: 'export const similarProtein = z.object({',
    file: 'resolvers/atlas/similarity.ts',
    before: '    score: t.exposeFloat(',
    field: exposed,
    path: /\/similarity-search/,
    places: (body) => list(at(body, 'similar_proteins')),
    found: 'similarProteins.hits.0.novelty',
  },
  SharedFeature: {
    wire: '      z.object({\n        feature_index: featureIndex,\n        occurrence_count: count,',
    file: 'resolvers/atlas/similarity.ts',
    before: '    occurrences: t.exposeInt(',
    field: exposed,
    path: /\/similarity-search/,
    places: (body) => list(at(body, 'top_features_across_results')),
    found: 'similarProteins.sharedFeatures.0.novelty',
  },
  Batch: {
    wire: 'export const batchPage = z.object({',
    file: 'schema/batch.ts',
    before: '    counts: t.field({',
    field: resolved('batch', '(await batch.read()).novelty'),
    path: /\/list$/,
    places: (body) => [at(body, 'data')],
    found: 'batch.novelty',
  },
  Task: {
    wire: 'export const listItem = z.object({',
    file: 'schema/task.ts',
    before: "    taskId: t.exposeID('taskId', {",
    field: resolved('{ record }', 'record.novelty'),
    path: /\/list$/,
    places: (body) => list(at(body, 'data.items')),
    found: 'batch.tasks.nodes.0.novelty',
  },
};

const QUERY = `query ($batchId: ID!) {
  protein(hash: "${INSULIN}") { novelty features(first: 1) { regions { novelty } } }
  cluster(hash: "${INSULIN}") { novelty taxonomy { name } }
  uniprotEntry(id: "P01308") { novelty }
  feature(index: 7) { novelty }
  similarProteins(sequence: "${INSULIN_A}") { hits { novelty } sharedFeatures { novelty } }
  batch(batchId: $batchId) { novelty tasks(first: 1) { nodes { novelty } } }
}`;

/** Asks a gateway of the copied source, in a process of its own. */
const ASK = `
import { createGateway } from './src/gateway.ts';
import { readConfig } from './src/config.ts';
import { createLogger } from './src/telemetry/log.ts';
const { url, query, variables } = JSON.parse(process.argv[2]);
const config = readConfig({ STORE_URL: 'memory:' });
const gateway = createGateway({ config, upstreamUrl: url, log: createLogger('error', true) });
const response = await gateway.fetch(new Request('http://gateway.test/graphql', {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer sandbox' },
  body: JSON.stringify({ query, variables }),
}));
process.stdout.write(await response.text());
await gateway.close();
process.exit();
`;

function insert(file: string, before: string, line: string): void {
  const path = `${COPY}/src/${file}`;
  const text = readFileSync(path, 'utf8');
  expect(text.split(before), `${before} in ${file}`).toHaveLength(2);
  writeFileSync(
    path,
    text.replace(before, () => line + before),
  );
}

let world: World;
let answer: unknown;
beforeAll(async () => {
  mkdirSync(COPY, { recursive: true });
  cpSync(`${ROOT}src`, `${COPY}/src`, { recursive: true });
  for (const name of ['package.json', 'schema.graphql', 'operations', 'public', 'examples', 'docs'])
    symlinkSync(ROOT + name, `${COPY}/${name}`);
  writeFileSync(`${COPY}/ask.ts`, ASK);
  for (const { wire, file, before, field } of Object.values(NOUNS)) {
    const path = `${COPY}/src/upstream/wire.ts`;
    const text = readFileSync(path, 'utf8');
    expect(text.split(wire), wire).toHaveLength(2);
    writeFileSync(
      path,
      text.replace(wire, () => `${wire}\n  novelty: maybe(text),`),
    );
    insert(file, before, field);
  }
  world = await openWorld();
  const submitted = await world.query(
    `mutation { submitFold(input: { items: [{ chains: [{ protein: { sequence: "${INSULIN_A}" } }] }] }) {
       ... on FoldSubmitted { batch { batchId } } } }`,
    {},
    { authorization: 'Bearer sandbox' },
  );
  const batchId = at(submitted.data, 'submitFold.batch.batchId');
  // Sends on what the sandbox answers, with the new property in every record that has a noun.
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const {
      host: _,
      connection: __,
      'content-length': ___,
      'transfer-encoding': ____,
      ...headers
    } = request.headers;
    const answered = await fetch(`${world.sandboxUrl}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    let bytes = Buffer.from(await answered.arrayBuffer());
    const type = answered.headers.get('content-type') ?? '';
    if (type.includes('json')) {
      const body: unknown = JSON.parse(bytes.toString());
      for (const { path, places } of Object.values(NOUNS))
        if (path.test(request.url ?? ''))
          for (const place of places(body)) Object.assign(place as object, { novelty: VALUE });
      bytes = Buffer.from(JSON.stringify(body));
    }
    response.writeHead(answered.status, { 'content-type': type }).end(bytes);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', `${COPY}/ask.ts`, JSON.stringify({ url, query: QUERY, variables: { batchId } })],
    { cwd: COPY, timeout: 100_000, maxBuffer: 1e8 },
  );
  await new Promise((resolve) => server.close(resolve));
  answer = JSON.parse(stdout);
});
afterAll(async () => {
  await world?.close();
  rmSync(COPY, { recursive: true, force: true });
});

it('needs no more than that anywhere', () => {
  expect(at(answer, 'errors')).toBeUndefined();
});

it.each(Object.entries(NOUNS))('of %s arrives', (_, { found }) => {
  expect(at(answer, `data.${found}`)).toBe(VALUE);
});
