// The cost that a query is told is never below the upstream calls that it makes: queries drawn at
// random over the schema, with aliases, fragments, variables, lists, duplicates and nesting.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REFERENCE_PROTEINS } from '../../sandbox/src/atlas/reference-proteins.ts';
import { readConfig } from '../../src/config.ts';
import { runs } from '../property-runs.ts';
import { at, openWorld, type World } from '../support.ts';

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

const proteins = REFERENCE_PROTEINS.slice(0, 12).map(({ sequence }) => ({
  sequence,
  hash: createHash('md5').update(sequence).digest('hex'),
}));
const hash = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...proteins.map((protein) => protein.hash)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...Array.from({ length: 3 }, (_, i) => String(i).padStart(32, '0'))),
  },
);
const identifier = fc.oneof(
  hash,
  fc.constantFrom('P01308', 'HBA_HUMAN', 'P69905', 'Q99999', 'INS_HUMAN', 'P0DP23'),
  fc.constantFrom('x'.repeat(32), 'Z'.repeat(32)),
);
const globalId = fc.oneof(
  hash.map((value) => btoa(`Protein:${value}`)),
  hash.map((value) => btoa(`Cluster:${value}`)),
  fc.integer({ min: 0, max: 40 }).map((index) => btoa(`Feature:${index}`)),
);
const few = fc.integer({ min: 1, max: 4 });

/** Values of arguments, by the field and the argument, or the argument alone. */
const ARGS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  hash,
  hashes: fc.array(hash, { maxLength: 6 }),
  'lookup.ids': fc.array(identifier, { maxLength: 6 }),
  'nodes.ids': fc.array(globalId, { maxLength: 4 }),
  'node.id': globalId,
  'uniprotEntry.id': identifier,
  sequence: fc.constantFrom(...proteins.slice(0, 3).map((protein) => protein.sequence)),
  index: fc.integer({ min: -1, max: 40 }),
  indices: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 5 }),
  search: fc.constantFrom('helix', 'the residues', 'nothing-of-this'),
  first: few,
  normalize: fc.boolean(),
};
/** Always given, so that answers stay small. */
const GIVEN = new Set(['first']);

const ROOTS = [
  'protein',
  'proteins',
  'proteinBySequence',
  'lookup',
  'uniprotEntry',
  'similarProteins',
  'cluster',
  'feature',
  'features',
  'node',
  'nodes',
];

interface Drawn {
  readonly text: string;
  readonly variables: Readonly<Record<string, { readonly type: string; readonly value: unknown }>>;
}

/** Draws one thing after the other, so that the document is consistent. */
function drawDocument(g: fc.GeneratorValue): Drawn {
  const variables: Record<string, { type: string; value: unknown }> = {};
  const fragments: string[] = [];
  let names = 0;
  let budget = 60;
  const int = (max: number): number => g(fc.nat, max);
  const pick = (values: readonly string[]): string => values[int(values.length - 1)] ?? '';

  function args(field: GraphQLField<unknown, unknown>): string {
    const given: string[] = [];
    for (const arg of field.args) {
      const drawer = ARGS[`${field.name}.${arg.name}`] ?? ARGS[arg.name];
      const isRequired = String(arg.type).endsWith('!');
      if (drawer === undefined || (!isRequired && !GIVEN.has(arg.name) && int(1) === 0)) continue;
      const value: unknown = g(() => drawer);
      if (int(1) === 0) given.push(`${arg.name}: ${JSON.stringify(value)}`);
      else {
        const name = `v${++names}`;
        variables[name] = { type: String(arg.type), value };
        given.push(`${arg.name}: $${name}`);
      }
    }
    return given.length === 0 ? '' : `(${given.join(', ')})`;
  }

  function field(type: GraphQLObjectType, name: string, depth: number): string {
    const definition = type.getFields()[name];
    if (definition === undefined) throw new Error(`no field ${type.name}.${name}`);
    budget -= 1;
    const below = getNamedType(definition.type);
    const inner = isCompositeType(below) ? selection(below, depth + 1) : '';
    return `a${++names}: ${name}${args(definition)} ${inner}`;
  }

  function selection(type: GraphQLNamedType, depth: number): string {
    if (!isObjectType(type)) {
      if (type.name !== 'Node') return '{ __typename }';
      const members = ['Protein', 'Cluster', 'Feature']
        .map((name) => schema.getType(name))
        .filter(isObjectType);
      return `{ ${members.map((member) => `... on ${member.name} ${selection(member, depth)}`).join(' ')} }`;
    }
    const fields = Object.values(type.getFields()).map(({ name }) => name);
    const leaves = fields.filter(
      (name) => !isCompositeType(getNamedType(type.getFields()[name]?.type as never)),
    );
    const chosen = ['__typename'];
    for (let left = 1 + int(3); left > 0; left -= 1) {
      const from = depth > 6 || budget < 0 ? leaves : fields;
      if (from.length > 0) chosen.push(field(type, pick(from), depth));
    }
    const body = `{ ${chosen.join(' ')} }`;
    const form = int(5);
    if (form === 0) return `{ ... on ${type.name} ${body} }`;
    if (form === 1) return `{ ... @include(if: true) ${body} }`;
    if (form === 2) {
      const name = `F${++names}`;
      fragments.push(`fragment ${name} on ${type.name} ${body}`);
      return `{ ...${name} __typename }`;
    }
    return body;
  }

  const query = schema.getQueryType();
  if (query == null) throw new Error('no query type');
  const roots: string[] = [];
  for (let left = 1 + int(2); left > 0; left -= 1) {
    const root = field(query, pick(ROOTS), 1);
    roots.push(root);
    // The same again under another name.
    if (int(3) === 0) roots.push(root.replace(/^a\d+/, `a${++names}`));
  }
  const declared = Object.entries(variables).map(([name, { type }]) => `$${name}: ${type}`);
  const head = declared.length === 0 ? 'query' : `query(${declared.join(', ')})`;
  return { text: `${head} { ${roots.join(' ')} } ${fragments.join(' ')}`, variables };
}

const drawn = fc.gen().map(drawDocument);

/** Queries drawn for each dialect. */
const RUNS = runs(12);

describe.each(['plain', 'rich'] as const)('the cost of a query to a service that is %s', (dialect) => {
  let world: World;
  beforeAll(async () => {
    const limits = { RATE_LIMIT_PER_MINUTE: '0', MAX_QUERY_COST: '1000000' };
    world = await openWorld(limits, { dialect }, undefined, { queryDepth: 30 });
  });
  afterAll(() => world.close());

  async function costAndCalls(text: string, variables: Readonly<Record<string, unknown>> = {}) {
    world.forget();
    const answer = await world.query(text, { ...variables }, { 'x-upstream-report': '1' });
    return { answer, cost: Number(at(answer, 'extensions.upstream.cost')), calls: world.calls.length };
  }

  it('is never below the upstream calls that it makes', async () => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(drawn, async ({ text, variables }) => {
        const values = Object.fromEntries(
          Object.entries(variables).map(([name, { value }]) => [name, value]),
        );
        const { answer, cost, calls } = await costAndCalls(text, values);
        expect(JSON.stringify(answer.errors ?? [])).not.toContain('INTERNAL_SERVER_ERROR');
        // A document that is refused would show nothing.
        expect(answer).toHaveProperty('data');
        made += calls;
        const seen = JSON.stringify(world.counts());
        expect(cost, `${calls} calls ${seen} for a cost of ${cost}`).toBeGreaterThanOrEqual(calls);
      }),
      { numRuns: RUNS },
    );
    expect(made).toBeGreaterThan(RUNS);
  }, 600_000);

  it('counts every identifier that is no hash, whatever its length', async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `X${String(i).padStart(31, '0')}`);
    const query = 'query($ids: [String!]!) { lookup(ids: $ids) { requested } }';
    const { cost, calls } = await costAndCalls(query, { ids });
    expect(calls).toBe(50);
    expect(cost).toBeGreaterThanOrEqual(50);
    expect(cost).toBeLessThan(100);
  });

  it('counts what only records say, of clusters and of regions too', async () => {
    const hashes = proteins.map((protein) => protein.hash);
    for (const fields of [
      'cluster { raw }',
      'cluster { representative { features { value } } }',
      'features(first: 1) { regions { start } }',
    ]) {
      const { cost, calls } = await costAndCalls(
        `query($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) { ${fields} } }`,
        {
          hashes,
        },
      );
      expect(calls).toBeGreaterThan(0);
      expect(cost).toBeGreaterThanOrEqual(calls);
    }
    const aliases = Array.from({ length: 200 }, (_, i) => `a${i}: uniprotEntry(id: "P${i}") { name }`).join(
      ' ',
    );
    const entries = await costAndCalls(`{ ${aliases} }`);
    expect(entries.calls).toBe(200);
    expect(entries.cost).toBe(200);
  });
});

describe('the cost of a long list', () => {
  // It is reckoned from the document before anything is sent: no dialect changes it.
  it('is within the default limit for 5,000 proteins with cluster and ten features', async () => {
    const world = await openWorld();
    const query = `query($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) {
      hash accession length ptm cluster { size percentCharacterized taxonomy { name } } features(first: 10) { value feature { index label } }
    } }`;
    const all = Array.from({ length: 5000 }, (_, i) => String(i).padStart(32, '0'));
    const readCost = async (hashes: readonly string[]) => {
      const answer = await world.query(query, { hashes }, { 'x-upstream-report': '1' });
      expect(answer.errors).toBeUndefined();
      return Number(at(answer, 'extensions.upstream.cost'));
    };
    const cost = await readCost(all);
    expect(cost).toBeGreaterThan(5000);
    expect(cost).toBeLessThanOrEqual(readConfig({}).MAX_QUERY_COST);
    expect(await readCost(all.slice(0, 500))).toBeLessThan(5000);
    await world.close();
  });
});

describe('the cost of work without upstream calls', () => {
  it('grows with what is searched, and with what is checked', async () => {
    const world = await openWorld();
    const readCost = async (text: string, variables = {}) =>
      Number(
        at(await world.query(text, variables, { 'x-upstream-report': '1' }), 'extensions.upstream.cost'),
      );
    const search = (words: string) =>
      readCost('query($w: String!) { features(search: $w, first: 1) { totalCount } }', { w: words });
    expect(await search('helix')).toBe(21);
    expect(await search('helix strand Helix')).toBe(41);
    const check = (letters: number) =>
      readCost('query($input: SubmitFoldInput!) { checkFold(input: $input) { __typename } }', {
        input: { items: [{ chains: [{ protein: { sequence: 'A'.repeat(letters) } }] }] },
      });
    expect(await check(100)).toBe(1);
    expect(await check(1_000_000)).toBeGreaterThanOrEqual(100);
    const { errors } = await world.query(
      `query($w: String!) { ${Array.from({ length: 200 }, (_, i) => `a${i}: features(search: $w) { totalCount }`).join(' ')} }`,
      { w: 'a b c d e f' },
    );
    expect(errors?.[0]?.extensions.code).toBe('QUERY_TOO_EXPENSIVE');
    await world.close();
  });

  it('is the same for an input object in a variable, in parts of a literal, and with one item for a list', async () => {
    const world = await openWorld();
    const readCost = async (text: string, variables: Record<string, unknown>) => {
      const answer = await world.query(text, variables, { 'x-upstream-report': '1' });
      expect(answer.errors).toBeUndefined();
      return Number(at(answer, 'extensions.upstream.cost'));
    };
    const chain = { protein: { sequence: 'A'.repeat(1_000_000) } };
    const whole = 'query($input: SubmitFoldInput!) { checkFold(input: $input) { __typename } }';
    const costs = [
      await readCost(whole, { input: { items: [{ chains: [chain] }] } }),
      await readCost(whole, { input: { items: { chains: chain } } }),
      await readCost(
        'query($chains: [ChainInput!]!) { checkFold(input: { items: [{ chains: $chains }] }) { __typename } }',
        { chains: chain },
      ),
      await readCost(
        'query($text: String!) { checkFold(input: { items: [{ chains: [{ protein: { sequence: $text } }] }] }) { __typename } }',
        { text: chain.protein.sequence },
      ),
    ];
    expect(costs).toEqual([101, 101, 101, 101]);
    const defaults = `{ items: [{ chains: [{ protein: { sequence: "${'A'.repeat(50_000)}" } }] }] }`;
    expect(
      await readCost(
        `query($input: SubmitFoldInput! = ${defaults}) { checkFold(input: $input) { __typename } }`,
        {},
      ),
    ).toBe(6);
    await world.close();
  });

  it('is never counted as nothing for a wrong input object: the executor refuses it', async () => {
    const world = await openWorld();
    const text = 'mutation($input: SubmitFoldInput!) { submitFold(input: $input) { __typename } }';
    // As deep as a body may be.
    const deep: unknown = JSON.parse(`${'['.repeat(90)}${']'.repeat(90)}`);
    const wrong: [input: unknown, message: string][] = [
      [null, 'must not be null'],
      ['text', 'Expected type "SubmitFoldInput" to be an object'],
      [{}, 'Field "items" of required type'],
      [{ items: null }, 'Expected non-nullable type'],
      [
        { items: [{ chains: [{ protein: { sequence: ['MK'] } }] }] },
        'String cannot represent a non string value',
      ],
      [{ items: [{ chains: [{ protein: { sequence: 5 } }] }] }, 'String cannot represent a non string value'],
      [{ items: [{ chains: [{}] }] }, 'Exactly one key must be specified'],
      [{ items: [{ chains: deep }] }, 'to be an object'],
      [{ items: [], more: deep }, 'Field "more" is not defined'],
    ];
    for (const [input, message] of wrong) {
      const { data, errors } = await world.query(text, { input }, { authorization: 'Bearer any' });
      expect(data).toBeUndefined();
      expect(errors?.[0]?.message).toContain(message);
    }
    const hashes = { input: { hashes: [5] } };
    const bulk = 'mutation($input: BulkLookupInput!) { startBulkLookup(input: $input) { __typename } }';
    expect((await world.query(bulk, hashes)).errors?.[0]?.message).toContain('This is not a ProteinHash.');
    expect(world.calls).toEqual([]);
    await world.close();
  });
});
