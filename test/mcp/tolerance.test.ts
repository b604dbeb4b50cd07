// Arguments as language models write them, against what a schema asks for, for every tool and every
// argument over HTTP: null for what is left out, JSON in a text, a lone value for a list of one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fields, isFields } from '../../src/upstream/json/is-fields.ts';
import { type Bench, openBench } from '../folding/bench.ts';
import { at, listAt } from '../support.ts';

const HASH = '12e9c9e4e2835c302e8ba615115edda3';
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  authorization: 'Bearer key-of-a-test',
};

let bench: Bench;
beforeAll(async () => {
  bench = await openBench({ MCP_MUTATIONS: '1' });
});
afterAll(() => bench.close());

async function send(method: string, params?: unknown): Promise<unknown> {
  const response = await bench.gateway.fetch(
    new Request('http://gateway.test/mcp', {
      method: 'POST',
      headers: HEADERS,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }),
  );
  const text = await response.text();
  return JSON.parse(text.startsWith('{') ? text : (/^data: (.+)$/m.exec(text)?.[1] ?? 'null'));
}
const call = async (name: string, args?: unknown) =>
  at(await send('tools/call', { name, arguments: args }), 'result');

const MODEL = 'foldmodel2-2026-05-cutoff-2025';
const polymer = (sequence: string, id: string, ccd: string) => ({
  ...{ sequence, ids: [id], modifications: [{ position: 1, ccd }] },
});
const FOLD = {
  items: [
    {
      name: '7',
      chains: [
        { protein: polymer('MSTAYIAK', 'A', 'SEP') },
        { dna: polymer('ACGT', 'B', '5CM') },
        { rna: polymer('AUGU', 'C', 'PSU') },
        { ligand: { ccd: ['ATP'], ids: ['D'] } },
        { ligand: { smiles: '[Na+]', ids: ['E'] } },
      ],
      includePae: true,
      includePairChainsIptm: false,
    },
  ],
};

/** Arguments without what is optional. */
const REQUIRED: Readonly<Record<string, Fields>> = {
  lookup_proteins: { ids: ['P01308'] },
  get_protein: { id: 'P01308' },
  get_cluster: { id: HASH },
  search_features: {},
  similar_proteins: { id: 'P01308' },
  check_fold: { items: [{ chains: [{ protein: { sequence: 'MKTAYIAK' } }] }] },
  batch_status: { batchId: 'no-such-batch' },
  fold_result: { taskId: 'no-such-task' },
  submit_fold: { items: [{ chains: [{ protein: { sequence: 'MKTAYIAK' } }] }], idempotencyKey: 'nulls' },
  graphql: { query: '{ limits { maxBulkHashes } }' },
};

/** All arguments of all tools. */
const FULL: Readonly<Record<string, Fields>> = {
  lookup_proteins: { ids: ['P01308'] },
  get_protein: { id: 'P01308', includeSequence: true },
  get_cluster: { id: HASH, first: 2, after: 'MQ' },
  search_features: { search: 'helix', indices: [7], first: 3, after: 'MQ' },
  similar_proteins: { id: 'P01308', first: 2, minSimilarity: 0.5, maxPercentCharacterized: 90 },
  check_fold: { ...FOLD, repeat: 2, model: MODEL },
  batch_status: { batchId: 'no-such-batch', orderBy: 'IPSAE', statuses: ['DONE'], first: 5, after: 'MQ' },
  fold_result: { taskId: 'no-such-task', signedLinks: true },
  submit_fold: { ...FOLD, repeat: 1, model: MODEL, label: 'a', idempotencyKey: 'texts' },
  graphql: {
    query: 'query ($first: Int!) { features(first: $first) { nodes { index } } }',
    variables: { first: 2 },
  },
};

/** The value with null for each member that the JSON Schema knows and the value does not have. */
function fill(schema: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(at(schema, 'items'), item));
  if (!isFields(value)) return value;
  const known = Object.entries(Object(at(schema, 'properties')));
  return Object.fromEntries(
    known.map(([name, member]) => [name, name in value ? fill(member, value[name]) : null]),
  );
}

describe('null in the arguments of a tool', () => {
  it('is the same as left out, for all optional arguments of all tools', async () => {
    const tools = listAt(await send('tools/list'), 'result.tools');
    expect(tools.map((tool) => at(tool, 'name'))).toEqual(Object.keys(REQUIRED));
    for (const tool of tools) {
      const name = String(at(tool, 'name'));
      const args = REQUIRED[name];
      const filled = fill(at(tool, 'inputSchema'), args);
      if (!['lookup_proteins', 'graphql'].includes(name))
        expect(JSON.stringify(filled), name).toContain('null');
      // A batch is queued once, whichever of the two comes first.
      if (name === 'submit_fold') await call(name, args);
      expect(await call(name, filled), name).toEqual(await call(name, args));
    }
  });

  it('reaches deep into a fold, also where no such name is known', async () => {
    const protein = { sequence: 'MS', modifications: [{ position: 1, ccd: 'SEP' }] };
    const items = [{ chains: [{ protein }, { ligand: { smiles: 'CCO' } }] }];
    const withNulls = JSON.parse(JSON.stringify(items), (_, value) =>
      isFields(value) ? { ...value, unknown: null } : value,
    );
    expect(await call('check_fold', { items: withNulls })).toEqual(await call('check_fold', { items }));
  });

  it('is told by its name where the argument is required, or in a list', async () => {
    const text = async (name: string, args: unknown) => JSON.stringify(await call(name, args));
    expect(await text('get_protein', { id: null })).toMatch(/id: it is missing: expected string/);
    expect(await text('lookup_proteins', { ids: null })).toMatch(/ids: it is missing: expected array/);
    expect(await text('lookup_proteins', null)).toMatch(/ids: it is missing/);
    expect(await text('graphql', { query: null, variables: null })).toMatch(/query: it is missing/);
    expect(await text('lookup_proteins', { ids: ['P01308', null] })).toMatch(
      /expected string, received null/,
    );
    expect(await text('similar_proteins', { id: null, sequence: null })).toMatch(/Give either/);
  });

  it('stays in the variables of GraphQL, where it stands against a default', async () => {
    const query = 'query ($first: Int = 3) { features(first: $first) { nodes { index } } }';
    const text = async (variables: unknown) => JSON.stringify(await call('graphql', { query, variables }));
    expect(await text(null)).toMatch(/index.*2/);
    expect(await text({ first: null })).not.toBe(await text({}));
  });
});

/** A value in the place of another, which means the same. */
interface Variant {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The places of a value where its schema wants no text, each with what agents write instead. */
function listVariants(schema: unknown, value: unknown, path: readonly string[] = []): Variant[] {
  const type = at(schema, 'type');
  if (type === 'string' || type === undefined) return [];
  const text = JSON.stringify(value);
  const variants: Variant[] = path.length === 0 ? [] : [text, ` ${text}\n`].map((value) => ({ path, value }));
  if (Array.isArray(value)) {
    const items = at(schema, 'items');
    const [only] = value;
    if (value.length === 1) variants.push({ path, value: only });
    if (value.length === 1 && at(items, 'type') !== 'string')
      variants.push({ path, value: JSON.stringify(only) });
    return [...variants, ...value.flatMap((one, i) => listVariants(items, one, [...path, String(i)]))];
  }
  const members = Object.entries(isFields(value) ? value : {});
  return [
    ...variants,
    ...members.flatMap(([name, member]) =>
      listVariants(at(schema, `properties.${name}`), member, [...path, name]),
    ),
  ];
}

/** A copy with another value at a path. */
function replace(value: unknown, [step, ...rest]: readonly string[], other: unknown): unknown {
  if (step === undefined) return other;
  if (Array.isArray(value))
    return value.map((one, i) => (String(i) === step ? replace(one, rest, other) : one));
  return isFields(value) ? { ...value, [step]: replace(value[step], rest, other) } : value;
}

/** The names that a schema lists, by their paths without the places in lists. */
const listNames = (schema: unknown, path = ''): string[] =>
  Object.entries(Object(at(schema, 'properties') ?? at(schema, 'items.properties'))).flatMap(
    ([name, member]) => [`${path}${name}`, ...listNames(member, `${path}${name}.`)],
  );

/** The names that a value has, in the same way. */
function listGiven(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => listGiven(one, path));
  if (!isFields(value)) return [];
  return Object.keys(value).flatMap((name) => [
    `${path}${name}`,
    ...listGiven(value[name], `${path}${name}.`),
  ]);
}

describe('a text or a lone value in the arguments of a tool', () => {
  it.each(
    Object.keys(REQUIRED),
  )('is read as the list, object, number or boolean that is wanted: %s', async (name) => {
    const tools = listAt(await send('tools/list'), 'result.tools');
    const schema = at(
      tools.find((tool) => at(tool, 'name') === name),
      'inputSchema',
    );
    const given = new Set(listGiven(FULL[name]));
    // `sequence` stands in place of `id`.
    expect(listNames(schema).filter((path) => !given.has(path))).toEqual(
      name === 'similar_proteins' ? ['sequence'] : [],
    );
    for (const args of [REQUIRED[name], FULL[name]]) {
      // A batch is queued once, by the first call.
      if (name === 'submit_fold') await call(name, args);
      const expected = await call(name, args);
      for (const { path, value } of listVariants(schema, args))
        expect(
          await call(name, replace(args, path, value)),
          `${path.join('.')} ${JSON.stringify(value)}`,
        ).toEqual(expected);
      expect(await call(name, JSON.stringify(args))).toEqual(expected);
    }
  });

  it('is left as it is where a text is wanted', async () => {
    const names = async (name: string) => {
      const items = [{ name, chains: [{ protein: { sequence: 'MK' } }] }];
      const submitted = await call('submit_fold', { items, idempotencyKey: `named ${name}` });
      const batchId = at(submitted, 'structuredContent.batch.batchId');
      return listAt(await call('batch_status', { batchId }), 'structuredContent.tasks.nodes').map((task) =>
        at(task, 'name'),
      );
    };
    for (const name of ['17', 'true', '[1]', '{"a":1}', 'null']) expect(await names(name)).toEqual([name]);
  });

  it('is refused by its place where it is something else', async () => {
    const text = async (name: string, args: unknown) => JSON.stringify(await call(name, args));
    const fold = (chains: unknown) => ({ items: [{ chains }] });
    for (const [name, args, message] of [
      ['search_features', { first: 'ten' }, /first: .*expected number, received string/],
      ['search_features', { first: '10 20' }, /first: .*expected number, received string/],
      ['search_features', { first: '[10]' }, /first: .*expected number, received string/],
      ['search_features', { first: '51' }, /first: .*<=50/],
      ['search_features', { indices: '[7, "x"]' }, /indices.1: .*expected number, received string/],
      ['fold_result', { taskId: 'x', signedLinks: 'True' }, /signedLinks: .*expected boolean/],
      [
        'check_fold',
        { items: '[{"chains": [' },
        /items: expected a JSON list, but the text is not valid JSON/,
      ],
      ['check_fold', fold('[{]'), /items.0.chains: expected a JSON list, but the text is not valid JSON/],
      ['check_fold', fold('x'), /items.0.chains.0: .*expected object, received string/],
      ['check_fold', { items: '7' }, /items.0: .*expected object, received string/],
      [
        'graphql',
        { query: '{ __typename }', variables: '{' },
        /variables: expected a JSON object, but the text/,
      ],
    ] as const)
      expect(await text(name, args), JSON.stringify(args)).toMatch(message);
  });

  it('is the same as left out where it is empty and no text is wanted', async () => {
    expect(await call('search_features', { first: '', indices: 'null' })).toEqual(
      await call('search_features', {}),
    );
  });

  it('holds no more members than a message may, all texts together', async () => {
    const text = async (items: unknown) => JSON.stringify(await call('check_fold', { items }));
    const many = (count: number) => `[${Array(count).fill('{}').join(',')}]`;
    expect(await text(`${'['.repeat(200)}`)).toMatch(/items: .*more than 100 deep/);
    expect(await text(many(200_000))).toMatch(/items: .*a list with more than 100000 members/);
    const six = Array(6).fill({ chains: many(90_000) });
    expect(await text(six)).toMatch(/items.5.chains: .*more than 500000 objects, lists and names/);
  });
});

describe('null in a message of JSON-RPC', () => {
  it.each([
    ['tools/list', null],
    ['tools/list', { cursor: null }],
    ['tools/list', { _meta: null }],
    ['resources/list', null],
    ['resources/templates/list', null],
    ['ping', null],
    ['tools/call', { name: 'search_features', arguments: null, _meta: { progressToken: null } }],
  ])('is the same as left out: %s %j', async (method, params) => {
    const left = params !== null && 'name' in params ? { name: params.name } : undefined;
    const answer = await send(method, params);
    expect(answer).toHaveProperty('result');
    expect(answer).toEqual(await send(method, left));
  });
});
