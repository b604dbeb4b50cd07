// Documents made to hurt: each is refused in words, with a code and at little cost, before it is
// validated; what people and tools write passes.
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExamples } from '../../src/http/pages/examples.ts';
import { expectAtMost } from '../cpu-time.ts';
import { at, listAt, openWorld, type World } from '../support.ts';

let world: World;
let production: World;
beforeAll(async () => {
  world = await openWorld();
  production = await openWorld({ NODE_ENV: 'production' });
});
afterAll(async () => {
  await world.close();
  await production.close();
});

const times = (n: number, make: (i: number) => string, between = ' '): string =>
  Array.from({ length: n }, (_, i) => make(i)).join(between);
const HASH = '12e9c9e4e2835c302e8ba615115edda3';
const nested = (n: number, open: string, middle: string, close: string): string =>
  `${open.repeat(n)}${middle}${close.repeat(n)}`;

/**
 * Each fragment spreads the next one twice below fields of its own: 2 to the power of 30 fields.
 */
const bomb = `{ ...f0 } ${times(30, (i) => `fragment f${i} on Query { a: protein(hash: "${HASH}") { x${i}: cluster { ...g${i + 1} } y${i}: cluster { ...g${i + 1} } } }`)} ${times(31, (i) => `fragment g${i} on Cluster { a: representative { cluster { ...g${i + 1} } } b: representative { cluster { ...g${i + 1} } } }`)} fragment g31 on Cluster { size }`;

it('tells some places of a mistake that a document has a thousand times', async () => {
  const query = `{ feature(${times(1500, () => 'index: 1')}) { label } }`;
  expect(listAt(await world.query(query), 'errors.0.locations')).toHaveLength(20);
});

describe('a document', () => {
  it.each<[string, string, RegExp]>([
    ['longer than may be', `{ __typename } #${'x'.repeat(100_000)}`, /characters; 100000 are allowed/],
    ['of too many tokens', `{ proteins(hashes: [${times(5000, () => '"a"')}]) { hash } }`, /5000 tokens/],
    ['with 5,000 nested fragments', nested(5000, '{...on Query', '{__typename}', '}'), /5000 tokens/],
    ['with 1,000 nested fields', `${nested(1000, '{a', '{b}', '}')}`, /depth limit of 12 exceeded/i],
    [
      'with 20,000 nested literals',
      `{ proteins(hashes: ${nested(20_000, '[', '1', ']')}) { hash } }`,
      /inside each other/,
    ],
    [
      'with 5,000 nested types',
      `query($x: ${nested(5000, '[', 'Int', ']')}) { __typename }`,
      /inside each other/,
    ],
    [
      'deeper than may be',
      `{ protein(hash: "${HASH}") { ${nested(15, 'cluster { representative {', 'hash', '}}')} } }`,
      /depth limit of 12 exceeded, found 32/,
    ],
    ['with aliases of __typename', `{ ${times(300, (i) => `a${i}: __typename`)} }`, /limit of 200 exceeded/],
    ['with a field repeated', `{ ${'__typename '.repeat(500)} }`, /more than 100 times in one place/],
    [
      'with a field repeated in fragments without a name',
      `{ ${'... { __typename } '.repeat(500)} }`,
      /more than 100 times in one place/,
    ],
    [
      'with fields that are repeated at each level',
      `{ ${times(30, () => `protein(hash: "${HASH}") { ${times(30, () => 'hash')} }`)} }`,
      /more than 100 times in one place/,
    ],
    [
      'with aliases in a fragment spread often',
      `{ ${times(30, (i) => `a${i}: protein(hash: "${HASH}") { ...f }`)} } fragment f on Protein { ${times(10, (i) => `b${i}: hash`)} }`,
      /limit of 200 exceeded, found 330/,
    ],
    [
      'with many fragments of the same fields',
      `{ protein(hash: "${HASH}") { cluster { ${times(90, (i) => `...f${i}`)} } } } ` +
        times(90, (i) => `fragment f${i} on Cluster { size size ptm hash: representativeHash }`),
      /more than 100 times in one place/,
    ],
    [
      'with many different fragments',
      `{ ${times(2400, (i) => `...f${i}`)} }`,
      /more than 100 fragments in one/,
    ],
    [
      'with many different fragments inside others',
      `{ limits { ...a ...b } } ${['a', 'b'].map((f) => `fragment ${f} on Limits { ${times(1100, (i) => `...${f}${i}`)} }`).join(' ')}`,
      /more than 100 fragments in one place/,
    ],
    ['with a fragment bomb', bomb, /more than 3000 fields/],
    ['with directives', `{ __typename ${'@include(if: true) '.repeat(101)} }`, /limit of 100 exceeded/],
    ['with unknown directives', `{ __typename ${'@a '.repeat(1500)} }`, /limit of 100 exceeded, found 1500/],
    [
      'with questions for the schema',
      `{ ${times(70, (i) => `a${i}: __schema { ${times(10, () => 'description')} }`)} }`,
      /more than 3000 fields/,
    ],
    [
      'with aliases inside the schema',
      `{ __schema { ${times(150, (i) => `a${i}: types { name kind fields { name } }`)} } }`,
      /more than 3000 fields/,
    ],
  ])('%s is refused', async (_, query, message) => {
    world.forget();
    const answer = await world.query(query);
    expect(answer.errors).toHaveLength(1);
    expect(answer.errors?.[0]?.message).toMatch(message);
    expect(answer.errors?.[0]?.extensions).toEqual({ code: 'QUERY_TOO_EXPENSIVE', retryable: false });
    expect(answer).not.toHaveProperty('data');
    expect(world.calls).toEqual([]);
    let documents = 0;
    // A document that was parsed before is not parsed again.
    const ask = (document: string) => () => world.query(`${document} # ${++documents}`);
    await expectAtMost(12, ask(getIntrospectionQuery()), ask(query));
  });

  it.each<[string, string, RegExp]>([
    [
      'of deep lists in the schema',
      '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }',
      /introspection depth/i,
    ],
    [
      'of fragments that spread each other',
      '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }',
      /Cannot spread fragment "a" within itself/,
    ],
  ])('%s is refused by what looks at it later', async (_, query, message) => {
    const answer = await world.query(query);
    expect(answer.errors?.[0]?.message).toMatch(message);
    expect(['BAD_USER_INPUT', 'QUERY_TOO_EXPENSIVE']).toContain(answer.errors?.[0]?.extensions.code);
  });

  it('gets at most a hundred errors', async () => {
    const { errors } = await world.query(`{ ${times(190, (i) => `nothing${i}`)} }`);
    expect(errors).toHaveLength(101);
    expect(errors?.at(-1)?.message).toMatch(/Too many validation errors/);
  });

  it('is told once where two of its fields cannot be one', async () => {
    const { errors } = await world.query('{ a: features(first: 1) { totalCount } a: limits { __typename } }');
    expect(errors?.map(({ message }) => message)).toEqual([expect.stringContaining('Fields "a" conflict')]);
  });

  it('passes when people or tools write it', async () => {
    const full = {
      inputValueDeprecation: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      oneOf: true,
    };
    for (const query of [getIntrospectionQuery(), getIntrospectionQuery({ ...full, typeDepth: 13 })]) {
      const { data, errors } = await world.query(query);
      expect(errors).toBeUndefined();
      expect(listAt(data, '__schema.types').length).toBeGreaterThan(50);
    }
    const all = readExamples()
      .map(({ query }) => query)
      .join('\n');
    const response = await world.gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: all, operationName: 'SearchFeatures' }),
      }),
    );
    expect(await response.json()).not.toHaveProperty('errors');
    const many = `{ ${times(100, (i) => `p${i}: protein(hash: "${String(i).padStart(32, '0')}") { hash }`)} }`;
    expect((await world.query(many)).errors).toBeUndefined();
    const pasted = `{ proteins(hashes: [${times(1500, (i) => `"${String(i).padStart(32, 'a')}"`)}]) { hash } }`;
    expect((await world.query(pasted)).errors).toBeUndefined();
  });

  it('costs nothing more where a client adds __typename to everything, as Apollo and urql do', async () => {
    const many = Array.from({ length: 500 }, (_, i) => String(i).padStart(32, '0'));
    const query = `query($many: [ProteinHash!]!) { __typename proteins(hashes: $many) { __typename ...F features(first: 5) { __typename value feature { __typename index } } } }
      fragment F on Protein { __typename cluster { __typename size members { __typename nodes { __typename hash } } } }`;
    for (const asked of [query, query.replaceAll('__typename ', '')])
      expect((await world.query(asked, { many })).errors).toBeUndefined();
  });
});

describe('what was meant', () => {
  const typos: [string, string, Record<string, unknown>][] = [
    ['a field', '{ protien(hash: "x") { hash } }', {}],
    ['a field below', `{ protein(hash: "${HASH}") { hsah } }`, {}],
    ['an argument', `{ protein(hahs: "${HASH}") { hash } }`, {}],
    ['a type', 'query($x: Protien) { __typename }', {}],
    ['a fragment type', '{ ... on Qery { __typename } }', {}],
    ['an enum literal', `{ protein(hash: "${HASH}") { thumbnail(type: PLDT) { url } } }`, {}],
    [
      'an enum variable',
      `query($t: ThumbnailType!) { protein(hash: "${HASH}") { thumbnail(type: $t) { url } } }`,
      { t: 'PLDT' },
    ],
    ['an input field literal', 'mutation { startBulkLookup(input: { hahses: [] }) { __typename } }', {}],
    [
      'an input field variable',
      'mutation($i: BulkLookupInput!) { startBulkLookup(input: $i) { __typename } }',
      { i: { hahses: [] } },
    ],
  ];
  it.each(typos)('is told of %s in development, and never in production', async (_, query, variables) => {
    const [open, closed] = [await world.query(query, variables), await production.query(query, variables)];
    expect(open.errors?.map(({ message }) => message).join()).toMatch(/Did you mean/);
    expect(closed.errors?.length).toBeGreaterThan(0);
    expect(JSON.stringify(closed)).not.toMatch(/did you mean/i);
    expect(at(closed, 'errors.0.extensions.code')).toBe('BAD_USER_INPUT');
  });

  it('cannot be asked for in production: neither the schema nor GraphiQL', async () => {
    expect((await production.query('{ __schema { description } }')).errors?.[0]?.message).toMatch(
      /introspection/i,
    );
    const page = await production.gateway.fetch(
      new Request('http://gateway.test/graphql', { headers: { accept: 'text/html' } }),
    );
    expect([page.status, page.headers.get('content-type')]).toEqual([406, 'application/json; charset=utf-8']);
  });
});
