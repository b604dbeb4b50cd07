// Refusing costs about what reading costs: whatever a client or the service sends takes at most
// twenty times the CPU time that JSON.parse takes for the same bytes, and megabytes of all of it
// together little memory. A quarter of a megabyte shows the former: what takes more for each byte,
// or grows faster than the bytes, is found there as well, at a quarter of the time.
import { once } from 'node:events';
import { crc32, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import * as wire from '../../src/upstream/wire.ts';
import { runs } from '../property-runs.ts';
import { type Served, serve } from '../subscriptions/streams.ts';
import { startServer } from '../system/server-process.ts';
import {
  HASH,
  type Liar,
  openLiar,
  openPlace,
  type Place,
  SEQUENCE,
  sends,
  TOKEN,
} from '../upstream/liar.ts';

const MB = 1_000_000;
const SIZE = MB / 4;
/** Twenty times the time of JSON.parse. */
const MAX_TIMES = 20;
const MAX_TRIES = 15;
/** The heap of a gateway that is idle takes some 50 MB; this is 150 MB more. */
const MAX_HEAP_MB = 200;

/** As many members of a list as fill a megabyte. */
const fill = (member: (i: number) => string, bytes = SIZE): string => {
  const one = member(10_000).length + 1;
  return Array.from({ length: Math.floor(bytes / one) }, (_, i) => member(i)).join(',');
};
const object = (names: number, value: (i: number) => string): string =>
  `{${Array.from({ length: names }, (_, i) => `"k${i}":${value(i)}`).join(',')}}`;

/** JSON values of so many bytes. */
const toShapes = (size: number): Readonly<Record<string, string>> => ({
  'a long list of numbers': `[${fill(() => '1', size)}]`,
  'a long list of words': `[${fill(() => 'true', size)}]`,
  'a long list of texts': `[${fill((i) => `"${i}"`, size)}]`,
  'a list of empty objects': `[${fill(() => '{}', size)}]`,
  'a wide object': `{${fill((i) => `"k${i}":1`, size)}}`,
  'a wide object of objects': `{${fill((i) => `"k${i}":{"k":1}`, size)}}`,
  'objects of 900 names': object(size / 10_000, () => object(900, () => '1')),
  'a deep nest of lists': '['.repeat(size / 2) + ']'.repeat(size / 2),
  'a deep nest of objects': `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`,
  'a long text': `"${'A'.repeat(size)}"`,
  'a text of quotes': `"${'\\"'.repeat(size / 2)}"`,
  'a text of marks in another order': `"${'\u0301\u0323'.repeat(size / 4)}"`,
  'a long number': '1'.repeat(size),
  'a long name': `{"${'k'.repeat(size)}":1}`,
  'many lists': `[${fill(() => `[${'1,'.repeat(999)}1]`, size)}]`,
  'many errors': `[${fill((i) => `{"k${i}":[1],"chains":1,"task_id":2}`, size)}]`,
});
const SHAPES = toShapes(SIZE);

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Usual JSON of as many bytes: a long text or number is parsed in no time, but has to be received
 * as well.
 */
const USUAL = `[${fill((i) => `{"name":"value ${i}","n":${i / 8}}`)}]`;
/** The least CPU time of JSON.parse for a text. */
function parseMs(text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i += 1) {
    const before = cpuMs();
    try {
      JSON.parse(text);
    } catch {}
    least = Math.min(least, cpuMs() - before);
  }
  return least;
}

/**
 * Runs it until it takes no more than it may, a few times at most: other processes share the
 * caches.
 */
async function expectCheap(text: string, run: () => Promise<unknown>): Promise<void> {
  const tries: string[] = [];
  for (let i = 0; i < MAX_TRIES; i += 1) {
    const before = cpuMs();
    await run();
    const spent = cpuMs() - before;
    if (spent <= MAX_TIMES * parseMs(text) || spent <= MAX_TIMES * parseMs(USUAL)) return;
    tries.push(`${spent.toFixed(0)} ms, where JSON.parse takes ${parseMs(text).toFixed(1)} ms`);
  }
  expect(tries).toEqual([]);
}

let liar: Liar;
let place: Place;
let served: Served;
beforeAll(async () => {
  liar = await openLiar();
  place = openPlace(liar.url, {
    MCP_MUTATIONS: '1',
    RATE_LIMIT_PER_MINUTE: '0',
    REQUEST_TIMEOUT_MS: '60000',
  });
  served = await serve(place.gateway, [], { maxBytes: 16 * MB });
  for (const door of Object.values(DOORS)) await door('[1]');
});
afterAll(async () => {
  await served.close();
  await place.gateway.close();
  await liar.close();
});

const authorization = `Bearer ${TOKEN}`;
/** Sends a request to the gateway of this process. */
const fetchHere = (url: string, init: RequestInit): Promise<Response> =>
  place.gateway.fetch(new Request(url, init));
let fetchFrom = fetchHere;

/** Sends a body, and reads the whole answer. */
async function post(path: string, body: string, headers: Record<string, string> = {}): Promise<string> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization, ...headers },
    body,
  };
  return (await fetchFrom(`http://gateway.test${path}`, init)).text();
}

const operation = (query: string, shape: string, more = ''): string =>
  `{"query":${JSON.stringify(query)},"variables":{"v":${shape}}${more}}`;
const graphql =
  (query: string, headers?: Record<string, string>) =>
  (shape: string): Promise<string> =>
    post('/graphql', operation(query, shape), headers);
const mcp =
  (method: string, params: (shape: string) => string) =>
  (shape: string): Promise<string> =>
    post('/mcp', `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params(shape)}}`, {
      accept: 'application/json, text/event-stream',
    });
const tool = (name: string, args: (shape: string) => string) =>
  mcp('tools/call', (shape) => `{"name":"${name}","arguments":${args(shape)}}`);
/** JSON as a literal of GraphQL: names without quotes. */
const toLiteral = (json: string): string => json.replace(/"(k\d*|a|chains|task_id)":/g, '$1:');

const CHECK = 'query($v: SubmitFoldInput!) { checkFold(input: $v) { ok } }';

async function overSocket(shape: string): Promise<void> {
  const socket = new WebSocket(served.url.replace('http', 'ws'), 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { token: TOKEN } }));
  await once(socket, 'message');
  socket.send(`{"type":"subscribe","id":"1","payload":${operation(CHECK, shape)}}`);
  await Promise.race([once(socket, 'message'), once(socket, 'close')]);
  socket.terminate();
}

/** Where a client gives a value. */
const DOORS: Readonly<Record<string, (shape: string) => Promise<unknown>>> = {
  'a variable of an input object': graphql(CHECK),
  'items of a variable': (shape) => post('/graphql', operation(CHECK, `{"items":${shape}}`)),
  'an idempotency key': (shape) =>
    post('/graphql', operation(CHECK, `{"items":[],"idempotencyKey":${shape}}`)),
  'a distogram in a variable': (shape) =>
    post(
      '/graphql',
      operation(
        CHECK,
        `{"items":[{"chains":[],"distogramConditioning":[{"chainId":"A","distogram":${shape}}]}]}`,
      ),
    ),
  'a variable of an enum': graphql(
    'query($v: TaskOrder) { batch(batchId: "b1") { tasks(orderBy: $v) { totalCount } } }',
  ),
  'a variable of integers': graphql('query($v: [Int!]) { features(indices: $v, first: 0) { totalCount } }'),
  'ids of objects': graphql('query($v: [ID!]!) { nodes(ids: $v) { id } }'),
  'identifiers to look up': graphql('query($v: [String!]!) { lookup(ids: $v) { status } }'),
  'one identifier': graphql('query($v: String!) { uniprotEntry(id: $v) { name } }'),
  'a sequence': graphql('query($v: AminoAcidSequence!) { proteinBySequence(sequence: $v) { hash } }'),
  'references of a router': graphql('query($v: [_Any!]!) { _entities(representations: $v) { __typename } }'),
  'a variable of an operation with @defer': graphql(
    'query($v: SubmitFoldInput!) { ... @defer { checkFold(input: $v) { ok } } }',
    { accept: 'multipart/mixed' },
  ),
  'a variable of a subscription': graphql('subscription($v: ID!) { batchProgress(batchId: $v) { status } }', {
    accept: 'text/event-stream',
  }),
  'a variable that no operation has': (shape) =>
    post('/graphql', `{"query":"{ limits { maxItems } }","variables":${shape}}`),
  'a literal': (shape) =>
    post('/graphql', JSON.stringify({ query: `{ checkFold(input: ${toLiteral(shape)}) { ok } }` })),
  'a document': (shape) => post('/graphql', `{"query":${shape}}`),
  'a whole body': (shape) => post('/graphql', shape),
  extensions: (shape) => post('/graphql', `{"query":"{ limits { maxItems } }","extensions":${shape}}`),
  'the hash of a persisted query': (shape) =>
    post('/graphql', `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":${shape}}}}`),
  'the text of a persisted query': (shape) =>
    post('/graphql', `{"query":${shape},"extensions":{"persistedQuery":{"version":1,"sha256Hash":"ab"}}}`),
  'the id of a document': (shape) => post('/graphql', `{"documentId":${shape}}`),
  'the name of an operation': (shape) =>
    post('/graphql', `{"query":"{ limits { maxItems } }","operationName":${shape}}`),
  'variables in an address': async (shape) => {
    const search = new URLSearchParams({ query: CHECK, variables: `{"v":${shape}}` });
    return (await place.get(`/graphql?${search}`)).text();
  },
  'a message of a WebSocket': overSocket,
  'the items of a tool': tool('check_fold', (shape) => `{"items":${shape}}`),
  'chains of a tool': tool('check_fold', (shape) => `{"items":[{"chains":${shape}}]}`),
  'many items of a tool': tool(
    'check_fold',
    (shape) =>
      `{"items":[${Array(5)
        .fill(
          `{"chains":[{"protein":{"sequence":"MK","ids":${shape.slice(0, 1) === '[' ? '[1,1,1]' : '1'}}}]}`,
        )
        .join(',')},${shape}]}`,
  ),
  'identifiers of a tool': tool('lookup_proteins', (shape) => `{"ids":${shape}}`),
  'arguments of a tool': tool('get_protein', (shape) => shape),
  'variables of the tool graphql': tool(
    'graphql',
    (shape) => `{"query":${JSON.stringify(CHECK)},"variables":{"v":${shape}}}`,
  ),
  'the query of the tool graphql': tool('graphql', (shape) => `{"query":${shape}}`),
  'the name of a tool': mcp('tools/call', (shape) => `{"name":${shape}}`),
  'the address of a resource': mcp('resources/read', (shape) => `{"uri":${shape}}`),
  'a type of the schema': mcp(
    'resources/read',
    (shape) => `{"uri":"foldatlas://schema/${shape.replace(/[^\w]/g, '')}"}`,
  ),
  'the id of a message': (shape) => post('/mcp', `{"jsonrpc":"2.0","id":${shape},"method":"ping"}`),
  'a message of MCP': (shape) => post('/mcp', shape),
  // As one text: a list of many texts is answered, a line for each.
  'identifiers of an export': (shape) => post('/export.tsv', `{"ids":${shape.replaceAll('","', '')}}`),
  'columns of an export': (shape) => post('/export.tsv', `{"ids":["P01308"],"columns":${shape}}`),
  'the body of an export': (shape) => post('/export.tsv', shape),
  // As one word, for the same reason.
  'an identifier of an export as text': (shape) =>
    post('/export.ndjson', shape.replaceAll(/[\s,;#]/g, ''), { 'content-type': 'text/plain' }),
};

/** Runs the door or the place with a shape; a failure names both. */
async function expectCheapAt(
  where: string,
  name: string,
  run: (shape: string) => Promise<unknown>,
): Promise<void> {
  const shape = SHAPES[name] ?? '';
  try {
    await expectCheap(shape, () => run(shape));
  } catch (error) {
    throw new Error(`${where}: ${name}: ${error}`, { cause: error });
  }
}
const shapeNames = fc.constantFrom(...Object.keys(SHAPES));

const EXAMPLES: readonly (readonly [where: string, name: string])[] = [
  ['a variable of an input object', 'a wide object'],
  ['a variable of a subscription', 'a wide object'],
  ['a message of a WebSocket', 'a wide object'],
  ['a variable of integers', 'a long list of numbers'],
  ['a variable of an enum', 'a long text'],
  ['an idempotency key', 'a text of marks in another order'],
  ['a variable of an input object', 'a long name'],
  ['the items of a tool', 'a long list of numbers'],
  ['the name of a tool', 'a long text'],
  ['the address of a resource', 'a long text'],
  ['columns of an export', 'a long list of numbers'],
];

describe('a long value of a client', () => {
  it('is refused, or read, at the cost of reading it, whatever it is and wherever it stands', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.entries(DOORS)), shapeNames, ([where, send], name) =>
        expectCheapAt(where, name, send),
      ),
      { numRuns: runs(40), endOnFailure: true },
    );
  });

  it.each(EXAMPLES)('is cheap as %s: %s', (where, name) =>
    expectCheapAt(where, name, DOORS[where] ?? (() => Promise.reject(new Error('no door')))));
});

const text = (unit: string): string => unit.repeat(Math.floor(SIZE / unit.length));
const items = (members: string): string => operation(CHECK, `{"items":[${members}]}`);
const proteins = (sequence: string): string => items(`{"chains":[{"protein":{"sequence":"${sequence}"}}]}`);
const ligands = (smiles: string): string =>
  items(fill(() => `{"chains":[{"ligand":{"smiles":"${smiles}"}}]}`));
const BOND =
  '{"chainId1":"A","residueIndex1":9,"atomIndex1":0,"chainId2":"Z","residueIndex2":0,"atomName2":"X"}';
const bonds = (count: number): string =>
  `{"chains":[{"protein":{"sequence":"MK"}}],"covalentBonds":[${Array(count).fill(BOND).join(',')}]}`;
/** A distogram whose last row is wrong, and an item without chains beside it. */
const distogram = (rows: number, last = '[1]'): string =>
  `{"chains":[],"distogramConditioning":[{"chainId":"A","distogram":[${Array(rows)
    .fill(`[${'1,'.repeat(rows - 1)}1]`)
    .join(',')},${last}]}]}`;
const LONG: readonly (readonly [name: string, body: () => string])[] = [
  [
    'a text for an enum',
    () =>
      operation(
        'query($v: TaskOrder) { batch(batchId: "b1") { tasks(orderBy: $v) { totalCount } } }',
        `"${text('x')}"`,
      ),
  ],
  ['a name of an input', () => operation(CHECK, `{"${text('k')}":1}`)],
  ['SMILES', () => items(`{"chains":[{"ligand":{"smiles":"${text('C(')}"}}]}`)],
  ['SMILES of rings', () => ligands('C%10'.repeat(2400))],
  ['SMILES of open rings', () => ligands(Array.from({ length: 90 }, (_, i) => `C%${i + 10}`).join(''))],
  ['a sequence', () => proteins(text('A\\n'))],
  ['a sequence of three-letter codes', () => proteins(text('ALA'))],
  ['a sequence of letters that grow in upper case', () => proteins('\u0390'.repeat(SIZE / 2))],
  ['many items', () => items(fill(() => '{"chains":[{"protein":{"sequence":"MK"}}]}'))],
  ['many bonds of one item', () => items(bonds(2000))],
  ['many bonds of many items', () => items(Array(100).fill(bonds(20)).join(','))],
  ['too many bonds', () => items(Array(20).fill(bonds(5000)).join(','))],
  ['a distogram', () => items(distogram(350))],
  ['a distogram of a long chain', () => items(distogram(1000))],
  ['a distogram of the longest chain', () => items(distogram(2100))],
  ['a distogram with a text in it', () => items(distogram(2100, '["x"]'))],
  ['a distogram with many texts in it', () => items(distogram(1000, `[${fill((i) => `"${i}"`)}]`))],
  ['a distogram that is too large', () => items(distogram(2200))],
  [
    'a text for a number',
    () =>
      operation(
        'query($v: Float) { batch(batchId: "b1") { tasks(minIptm: $v) { totalCount } } }',
        `"${text('x')}"`,
      ),
  ],
  [
    'an object for an id',
    () => operation('query($v: ID!) { batch(batchId: $v) { status } }', `{"a":"${text('x')}"}`),
  ],
  ['a text for an id', () => operation('query($v: ID!) { batch(batchId: $v) { status } }', `"${text('x')}"`)],
  [
    'a text for the id of an object',
    () => operation('query($v: ID!) { node(id: $v) { id } }', `"${text('x')}"`),
  ],
  [
    'a text for an integer',
    () => operation('query($v: Int) { features(first: $v) { totalCount } }', `"${text('1')}"`),
  ],
  [
    'a list for a text',
    () => operation('query($v: String!) { uniprotEntry(id: $v) { name } }', `["${text('x')}"]`),
  ],
  [
    'a text for a truth value',
    () => operation('query($v: Boolean!) { limits { maxItems @include(if: $v) } }', `"${text('x')}"`),
  ],
];

it.each(LONG)('%s: refused, or read, at the cost of reading it', async (_, toBody) => {
  const body = toBody();
  await expectCheap(body, () => post('/graphql', body));
});

it.each([
  ['of wrong types', { position: 'x', ccd: 1 }],
  ['outside of the sequence', { position: 99, ccd: 'SEP' }],
  ['of an unknown component', { position: 1, ccd: 'no such component' }],
])('a tool with 5,000 modifications %s costs about what reading them costs', async (_, modification) => {
  const modifications = Array(5000).fill(modification);
  const args = JSON.stringify({ items: [{ chains: [{ protein: { sequence: 'MK', modifications } }] }] });
  await expectCheap(args, () => tool('check_fold', () => args)(''));
});

it.each([
  ['a record of many lines', '>a\n', 'A\n'],
  ['too many records', '', '>\nA\n'],
  ['words far apart', '', `a${' '.repeat(SIZE - 2)}b`],
])('an export of %s as text costs about what reading it costs', async (_, start, unit) => {
  const body = start + text(unit);
  await expectCheap(body, () => post('/export.tsv', body, { 'content-type': 'text/plain' }));
});

/** A zip of one member. */
function zip(name: string, text: string): Buffer {
  const data = Buffer.from(text);
  const packed = deflateRawSync(data);
  const u16 = (n: number) => Buffer.from([n & 255, n >> 8]);
  const u32 = (n: number) => Buffer.from([n & 255, (n >>> 8) & 255, (n >>> 16) & 255, n >>> 24]);
  const head = Buffer.concat([
    ...[20, 0, 8, 0, 0].map(u16),
    ...[crc32(data), packed.length, data.length].map(u32),
    ...[name.length, 0].map(u16),
  ]);
  const local = Buffer.concat([u32(0x04034b50), head, Buffer.from(name), packed]);
  const entry = Buffer.concat([
    u32(0x02014b50),
    u16(20),
    head,
    ...[0, 0, 0].map(u16),
    u32(0),
    u32(0),
    Buffer.from(name),
  ]);
  const end = [u32(0x06054b50), ...[0, 0, 1, 1].map(u16), u32(entry.length), u32(local.length), u16(0)];
  return Buffer.concat([local, entry, ...end]);
}

interface Answer {
  readonly operation: string;
  /** The query that asks for it. */
  readonly ask: string;
  /** Members of an honest answer, as JSON. */
  readonly base: Readonly<Record<string, unknown>>;
  readonly keys: readonly string[];
  readonly status?: number;
}
const listKeys = ({ shape }: { readonly shape: object }): string[] => Object.keys(shape);

const ANSWERS: readonly Answer[] = [
  {
    operation: 'list',
    ask: '{ batch(batchId: "b1") { status warnings counts { total } tasks(first: 5) { nodes { taskId status error { message } } } } }',
    base: {
      status: 'done',
      counts: { done: 1 },
      items: [{ task_id: 'b1-00000', status: 'done' }],
      cursor: null,
    },
    keys: [...listKeys(wire.batchPage), 'warning_messages', 'data'],
  },
  {
    operation: 'status',
    ask: '{ task(taskId: "b1-00000") { status warnings error { message code raw } result { ptm } } }',
    base: { status: 'done' },
    keys: [...listKeys(wire.taskStatus), 'warning_messages', 'data'],
  },
  {
    operation: 'submit',
    ask: 'mutation { submitFold(input: { items: [{ chains: [{ protein: { sequence: "MK" } }] }] }) { __typename } }',
    base: { batch_id: 'b1', total_items: 1 },
    keys: [...listKeys(wire.submitted), 'data', 'status', 'message', 'error', 'detail'],
  },
  {
    operation: 'cancel',
    ask: 'mutation { cancelBatch(batchId: "b1") { __typename } }',
    base: { cancelled: 1 },
    keys: ['cancelled', 'message', 'data'],
  },
  {
    operation: 'protein',
    ask: `{ protein(hash: "${HASH}") { name sequence ptm plddt { mean values } features(first: 3) { value regions { end } } upstream } }`,
    base: { protein_hash: HASH, sequence: SEQUENCE },
    keys: [...listKeys(wire.proteinRecord), 'protein_activations', 'per_residue_activations'],
  },
  {
    operation: 'cluster',
    ask: `{ cluster(hash: "${HASH}") { name size phyla { name } pfamDomains { id } members(first: 2) { nodes { hash } } features { value } } }`,
    base: { protein_hash: HASH, member_protein_hashes: [HASH], cluster_size: 1 },
    keys: listKeys(wire.clusterRecord),
  },
  {
    operation: 'feature',
    ask: '{ feature(index: 3) { label category topProteins { accession } neighbors { index } } }',
    base: { feature_index: 3, label: 'a' },
    keys: listKeys(wire.featureDetail),
  },
  {
    operation: 'features',
    ask: '{ features(first: 2) { nodes { label } } }',
    base: { data: [] },
    keys: ['data'],
  },
  {
    operation: 'uniprot',
    ask: '{ uniprotEntry(id: "P01308") { name sequence gene } }',
    base: { accession: 'P01308', protein_hash: HASH },
    keys: listKeys(wire.uniprotRecord),
  },
  {
    operation: 'similarity',
    ask: `{ similarProteins(sequence: "${SEQUENCE}", first: 3) { hits { score protein { hash } } sharedFeatures { occurrences } } }`,
    base: { similar_proteins: [] },
    keys: listKeys(wire.similarityAnswer),
  },
  {
    operation: 'uniprot',
    ask: '{ uniprotEntry(id: "P01308") { name } }',
    base: {},
    keys: ['detail', 'message', 'error', 'request_id'],
    status: 422,
  },
  {
    operation: 'submit',
    ask: 'mutation { submitFold(input: { items: [{ chains: [{ protein: { sequence: "MK" } }] }] }) { ... on Problem { message } } }',
    base: {},
    keys: ['detail', 'message', 'error', 'request_id'],
    status: 422,
  },
];

/** Every key of every answer, and the whole answer. */
const PLACES = ANSWERS.flatMap((answer) => [...answer.keys, null].map((key) => ({ answer, key })));
const writeBody = ({ base }: Pick<Answer, 'base'>, key: string | null, shape: string): string => {
  if (key === null) return shape;
  const { [key]: _, ...others } = base;
  const rest = JSON.stringify(others).slice(1, -1);
  return `{${rest}${rest === '' ? '' : ','}"${key}":${shape}}`;
};

const MEMBERS = ['features.json', 'cluster_info.json', 'sequences.fasta'];
const FILES: readonly ((shape: string) => string)[] = [
  (shape) => shape,
  (shape) => `{"${HASH}":${shape}}`,
  (shape) => `{"${HASH}":{"top_features":${shape},"protein_level":${shape}}}`,
  (shape) => `{"clusters":{"${HASH}":${shape}},"proteins":${shape}}`,
];
const RESULTS: readonly ((shape: string) => string)[] = [
  (shape) => shape,
  (shape) => `{"complex":${shape}}`,
  (shape) => `{"ptm":0.5,"plddt":${shape},"pae":${shape}}`,
];
const ask = (query: string): Promise<string> => post('/graphql', JSON.stringify({ query }));

describe('a long value of the service', () => {
  async function answerWith({ operation, ask: query, ...answer }: Answer, key: string | null, name: string) {
    liar.reset();
    await expectCheapAt(`${operation}, ${key ?? 'the whole answer'}`, name, (shape) => {
      liar.script(operation, sends(Buffer.from(writeBody(answer, key, shape)), {}, answer.status ?? 200));
      return ask(query);
    });
  }

  it('is refused, or read, at the cost of reading it, at any key of any answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PLACES), shapeNames, ({ answer, key }, name) =>
        answerWith(answer, key, name),
      ),
      { numRuns: runs(40), endOnFailure: true },
    );
  });

  it.each([
    ['items', 'a long list of numbers'],
    ['counts', 'a wide object'],
    ['warning_messages', 'a long list of numbers'],
    ['warnings', 'a long list of texts'],
  ])('is cheap as %s of List: %s', (key, name) => {
    const answer = ANSWERS.find(({ operation }) => operation === 'list');
    return answerWith(answer ?? expect.fail('no answer'), key, name);
  });

  it('is cheap in a member of an archive', async () => {
    const query = `{ protein(hash: "${HASH}") { length cluster { size } features(first: 1) { value } } }`;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MEMBERS),
        fc.constantFrom(...FILES),
        shapeNames,
        (member, toFile, name) => {
          liar.reset();
          return expectCheapAt(member, name, (shape) => {
            liar.script('bulk', sends(zip(member, toFile(shape)), { 'content-type': 'application/zip' }));
            return ask(query);
          });
        },
      ),
      { numRuns: runs(15), endOnFailure: true },
    );
  });

  it('is cheap as a folding result', async () => {
    liar.reset();
    const status = JSON.stringify({ status: 'done', response: `${liar.url}/files/a?sig=b` });
    liar.script('status', sends(Buffer.from(status)));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...RESULTS), shapeNames, (toResult, name) =>
        expectCheapAt('a folding result', name, (shape) => {
          liar.script('file', sends(Buffer.from(toResult(shape))));
          return ask('{ task(taskId: "b1-00000") { result { ptm plddt { mean } chains { id } } } }');
        }),
      ),
      { numRuns: runs(10), endOnFailure: true },
    );
  });
});

it('leaves a process with little memory alive, two at a time', async () => {
  const server = await startServer({
    UPSTREAM_URL: liar.url,
    STORE_URL: 'memory:',
    RATE_LIMIT_PER_MINUTE: '0',
    NODE_OPTIONS: `--max-old-space-size=${MAX_HEAP_MB}`,
  });
  fetchFrom = (url, init) => fetch(url.replace('http://gateway.test', server.url), init);
  const shapes = toShapes(MB);
  try {
    liar.reset();
    for (const key of ['items', 'counts']) {
      const list = ANSWERS.find(({ operation }) => operation === 'list') ?? expect.fail('no answer');
      for (const shape of Object.values(shapes)) {
        liar.script('list', sends(Buffer.from(writeBody(list, key, shape))));
        await Promise.all([ask(list.ask), ask(list.ask)]);
      }
    }
    // Each door with its own shape and a third of the others, so that each shape comes to three
    // doors.
    for (const [i, [where, own]] of EXAMPLES.entries()) {
      const send = DOORS[where] ?? expect.fail('no door');
      if (where.includes('WebSocket')) continue;
      for (const [j, [name, shape]] of Object.entries(shapes).entries())
        if (name === own || (i + j) % 3 === 0) await Promise.all([send(shape), send(shape)]);
    }
    expect(await server.ask('{ limits { maxItems } }')).toMatchObject({ data: { limits: {} } });
  } finally {
    fetchFrom = fetchHere;
    await server.end('SIGKILL');
  }
});
