// A response has a size, which is estimated before anything is executed: one that could be too
// large is refused before the service is asked.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { at, listAt, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const same = (count: number): string[] => Array.from({ length: count }, () => INSULIN);
const toList = (hashes: readonly string[]): string => JSON.stringify(hashes);

let world: World;
beforeAll(async () => {
  world = await openWorld({ RATE_LIMIT_PER_MINUTE: '0' });
});
afterAll(() => world.close());
beforeEach(() => world.forget());

const refused = [
  {
    message: expect.stringMatching(
      /values; \d+ are allowed\. .*fewer fields or shorter lists, page .*startBulkLookup/,
    ),
    extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false },
  },
];
const ids = (count: number) => JSON.stringify(Array.from({ length: count }, (_, i) => btoa(`Feature:${i}`)));
const defers = (count: number, selection: string) =>
  Array.from({ length: count }, (_, i) => `... @defer(label: "${i}") { ${selection} }`).join(' ');
const doubling = Array.from(
  { length: 10 },
  (_, i) => `fragment F${i} on Feature { ${i === 9 ? 'label' : `...F${i + 1} @defer ...F${i + 1} @defer`} }`,
).join(' ');

async function inParts(query: string, variables: object = {}): Promise<string> {
  const response = await world.gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'multipart/mixed;deferSpec=20220824' },
      body: JSON.stringify({ query, variables }),
    }),
  );
  return response.text();
}

describe('a response that could be too large', () => {
  it.each<[what: string, query: string, variables?: object]>([
    [
      'one protein four thousand times',
      'query($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) { features(first: 10) { residues } } }',
      { hashes: same(4000) },
    ],
    [
      'aliases of long lists',
      `query($hashes: [ProteinHash!]!) { ${Array.from({ length: 8 }, (_, i) => `a${i}: proteins(hashes: $hashes) { hash length features(first: 10) { value feature { index label } } cluster { size } }`).join(' ')} }`,
      { hashes: same(5000) },
    ],
    [
      'fields of lists below lists',
      '{ features(first: 1000) { nodes { topProteins(first: 1000) { accession } } } }',
    ],
    [
      'whole records',
      `{ features(first: 100) { nodes { ${Array.from({ length: 25 }, (_, i) => `a${i}: raw`).join(' ')} } } }`,
    ],
    ['files', `{ proteins(hashes: ${toList(same(2500))}) { structure { text } } }`],
    [
      'a selection of an interface',
      `{ nodes(ids: ${ids(1000)}) { ... on Feature { topProteins(first: 1000) { accession } } } }`,
    ],
  ])('is refused for %s, asked first and again, whole and in parts', async (_, query, variables = {}) => {
    for (let i = 0; i < 2; i += 1)
      expect(await world.query(query, { ...variables })).toEqual({ errors: refused });
    const text = await inParts(query.replace('{', '{ ... @defer { limits { maxItems } }'), variables);
    expect(text.match(/QUERY_TOO_EXPENSIVE/g)).toHaveLength(1);
    expect(world.calls).toEqual([]);
  });

  it('is refused before a mutation does anything', async () => {
    const small = await openWorld({}, {}, undefined, { answerValues: 1000 });
    const issues = Array.from({ length: 150 }, (_, i) => `a${i}: message`).join(' ');
    const answer = await small.query(
      `mutation { submitFold(input: { items: [] }) { ... on InvalidInput { issues { ${issues} } } } }`,
    );
    expect(answer).toEqual({ errors: refused });
    await small.close();
  });

  it.each<[what: string, query: string, variables?: object]>([
    ['an object of a list', `{ features(first: 900) { nodes { index ${defers(90, 'label')} } } }`],
    ['an object of an interface', `{ nodes(ids: ${ids(500)}) { id ${defers(90, '__typename')} } }`],
    ['a fragment that is spread twice', `{ features(first: 900) { nodes { ...F0 } } } ${doubling}`],
    [
      'an item that is a part itself',
      `query($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) @stream(initialCount: 0) { hash ${defers(20, 'hash')} } }`,
      { hashes: same(1200) },
    ],
    [
      'items of two lists',
      `query($hashes: [ProteinHash!]!) { a: proteins(hashes: $hashes) @stream(initialCount: 1) { hash } b: proteins(hashes: $hashes) @stream(initialCount: 1) { length } }`,
      { hashes: same(1200) },
    ],
  ])('is refused for too many parts: one for each %s', async (_, query, variables) => {
    const text = await inParts(query, variables);
    expect(text.match(/QUERY_TOO_EXPENSIVE/g)).toHaveLength(1);
    expect(text).not.toContain('"path"');
    expect(world.calls).toEqual([]);
  });
});

describe('a response that is large and not too large', () => {
  it('has all its parts, and none where they are switched off', async () => {
    const query = (condition: string) =>
      `{ features(first: 450) { nodes { ${defers(4, 'label').replaceAll('@defer(', `@defer(${condition}`)} } } }`;
    const all = await inParts(query(''));
    expect(all).not.toContain('QUERY_TOO_EXPENSIVE');
    expect(all.match(/"label":"[0-3]"/g)).toHaveLength(1800);
    expect(await inParts(query('if: false, ').replace('450', '1000'))).not.toContain('QUERY_TOO_EXPENSIVE');
  });

  it('is whole for five thousand proteins with ten features and cluster', async () => {
    const query = `query($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) {
      hash name length ptm cluster { size percentCharacterized } features(first: 10) { value feature { index label } }
    } }`;
    const result = await world.query(query, { hashes: same(5000) });
    expect(result.errors).toBeUndefined();
    const proteins = listAt(result.data, 'proteins');
    expect(proteins).toHaveLength(5000);
    expect(proteins[4999]).toEqual(proteins[0]);
    expect(at(proteins[0], 'hash')).toBe(INSULIN);
  });

  it('is not refused for five hundred structures', async () => {
    const { errors } = await world.query(`{ proteins(hashes: ${toList(same(500))}) { structure { text } } }`);
    expect(errors).toBeUndefined();
  });

  it('tells the limits', async () => {
    const { data } = await world.query(
      '{ limits { maxAnswerValues maxAnswerBytes maxSearchWords maxQueryCost } }',
    );
    expect(data).toEqual({
      limits: {
        maxAnswerValues: 2_000_000,
        maxAnswerBytes: 268_435_456,
        maxSearchWords: 12,
        maxQueryCost: 12_000,
      },
    });
  });
});
