// Small requests that would cost much before anything is executed: lists that a document gives at many places, long texts, wrong values.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longestBlock } from '../cpu-time.ts';
import { at, openWorld, type World } from '../support.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ RATE_LIMIT_PER_MINUTE: '0' });
});
afterAll(() => world.close());

const times = (n: number, make: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => make(i)).join(' ');
const list = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
const NODE = Buffer.from('Protein:12e9c9e4e2835c302e8ba615115edda3').toString('base64');
/** Bodies over 1 MiB need credentials. */
const TOKEN = { authorization: 'Bearer any' };
const chain = { protein: { sequence: 'MK' } };

describe('a request of a few bytes for each thing that it has the gateway do', () => {
  it.each<[what: string, query: string, variables: Record<string, unknown>, answer: RegExp]>([
    [
      '100,000 ids at 190 places',
      `query($x: [ID!]!) { ${times(190, (i) => `a${i}: nodes(ids: $x) { id }`)} }`,
      { x: list(100_000, () => NODE) },
      /QUERY_TOO_EXPENSIVE/,
    ],
    [
      '50,000 hashes at 190 places',
      `mutation($x: [ProteinHash!]!) { ${times(190, (i) => `a${i}: startBulkLookup(input: { hashes: $x }) { __typename }`)} }`,
      { x: list(50_000, (i) => i.toString(16).padStart(32, '0')) },
      /QUERY_TOO_EXPENSIVE/,
    ],
    [
      '100,000 indices at 190 places',
      `query($x: [Int!]!) { ${times(190, (i) => `a${i}: features(indices: $x, first: 0) { totalCount }`)} }`,
      { x: list(100_000, (i) => i) },
      /"a189":\{"totalCount":16384\}/,
    ],
    [
      '40,000 chains of 160 items',
      `query($x: [ChainInput!]!) { checkFold(input: { items: [${times(160, () => '{ chains: $x }')}] }) { ok } }`,
      { x: list(40_000, () => chain) },
      /QUERY_TOO_EXPENSIVE/,
    ],
    [
      'a sequence of 100,000 residues at 2,000 places',
      `query($x: String!) { lookup(ids: [${times(2000, () => '$x')}]) { status } }`,
      { x: 'MKTAYIAKQR'.repeat(10_000) },
      /NOT_IN_ATLAS/,
    ],
    [
      'a text of 15 MB as the id of an object at 190 places',
      `query($x: ID!) { ${times(190, (i) => `a${i}: node(id: $x) { id }`)} }`,
      { x: 'A'.repeat(15_000_000) },
      /This is not an id of this schema/,
    ],
    [
      '5,000 errors of a document with 1,900 lines',
      `${'\n'.repeat(1_900)}query($x: [ProteinHash!]!) { proteins(hashes: $x) { features(first: 0) { value } } }`,
      { x: list(5000, () => '12e9c9e4e2835c302e8ba615115edda3') },
      /`first` must be between[^}]*"line":1901,/,
    ],
    [
      'a document of 190,000 lines',
      `${'\n'.repeat(190_000)}{ limits { maxTasks } }`,
      {},
      /characters; 100000 are allowed/,
    ],
    [
      'a document of 90,000 lines',
      `${'\n'.repeat(90_000)}{ limits { maxTasks } }`,
      {},
      /90001 lines; 2000 are allowed/,
    ],
    [
      '400,000 variables of a wrong type',
      `query($a: [ID!]!, $b: [ID!]!, $c: [ID!]!, $d: [ID!]!) { ${['a', 'b', 'c', 'd'].map((x) => `${x}: nodes(ids: $${x}) { id }`).join(' ')} }`,
      Object.fromEntries(['a', 'b', 'c', 'd'].map((x) => [x, list(100_000, () => true)])),
      /ID cannot represent value: true/,
    ],
  ])('%s is answered without holding the loop', async (_, query, variables, answer) => {
    const { result, milliseconds } = await longestBlock(() => world.query(query, variables, TOKEN));
    expect(JSON.stringify(result)).toMatch(answer);
    expect(milliseconds).toBeLessThan(5000);
  });

  it('is not the longest honest submission: 2,000 complexes of 20 chains fill a body and are checked', async () => {
    const sequence = 'MKTAYIAKQR'.repeat(32);
    const items = list(2000, (i) => ({
      chains: list(20, (c) => ({ protein: { sequence: sequence.slice((i + c) % 20) } })),
    }));
    const answer = await world.query(
      'query($items: [FoldItemInput!]!) { checkFold(input: { items: $items }) { ok taskCount } }',
      { items },
      TOKEN,
    );
    expect(answer).toEqual({ data: { checkFold: { ok: true, taskCount: 2000 } } });
  });

  it.each([
    'lookup(ids: [$x]) { problem { message } }',
    'uniprotEntry(id: $x) { name }',
  ])('%s of a text of 15 MB is told what is wrong', async (field) => {
    const variables = { x: 'MKTAYIAKQR'.repeat(1_500_000) };
    const answer = await world.query(`query($x: String!) { ${field} }`, variables, TOKEN);
    expect(at(answer, 'errors.0.extensions.code') ?? 'BAD_USER_INPUT').toBe('BAD_USER_INPUT');
    expect(JSON.stringify(answer)).toContain('is longer than any protein.');
  });
});
