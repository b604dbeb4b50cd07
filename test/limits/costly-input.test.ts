// Small requests that would cost much before anything is executed: lists that a document gives at
// many places, long texts, wrong values.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAtMost, expectLinear, GROWTH } from '../cpu-time.ts';
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

/** A request; `part` is 1 for the whole one and 1/8 for one with an eighth of its bytes. */
type Make = (part: number) => [query: string, variables?: Record<string, unknown>];
const few = (n: number, part: number): number => Math.ceil(n * part);

describe('a request of a few bytes for each thing that it has the gateway do', () => {
  it.each<[what: string, make: Make, answer: RegExp]>([
    [
      '16,384 indices at 190 places',
      (part) => [
        `query($x: [Int!]!) { ${times(few(190, part), (i) => `a${i}: features(indices: $x, first: 0) { totalCount }`)} }`,
        { x: list(few(16_384, part), (i) => i) },
      ],
      /"a189":\{"totalCount":16384\}/,
    ],
    [
      'a sequence of 100,000 residues at 2,000 places',
      (part) => [
        `query($x: String!) { lookup(ids: [${times(few(2000, part), () => '$x')}]) { status } }`,
        { x: 'MKTAYIAKQR'.repeat(few(10_000, part)) },
      ],
      /NOT_IN_ATLAS/,
    ],
    [
      'a text of 15 MB as the id of an object at 190 places',
      (part) => [
        `query($x: ID!) { ${times(few(190, part), (i) => `a${i}: node(id: $x) { id }`)} }`,
        { x: 'A'.repeat(few(15_000_000, part)) },
      ],
      /This is not an id of this schema/,
    ],
    [
      '5,000 errors of a document with 1,900 lines',
      (part) => [
        `${'\n'.repeat(1_900)}query($x: [ProteinHash!]!) { proteins(hashes: $x) { features(first: 0) { value } } }`,
        { x: list(few(5000, part), () => '12e9c9e4e2835c302e8ba615115edda3') },
      ],
      /`first` must be between[^}]*"line":1901,/,
    ],
    [
      'a document of 190,000 lines',
      (part) => [`${'\n'.repeat(few(190_000, part))}{ limits { maxTasks } }`],
      /characters; 100000 are allowed/,
    ],
    [
      'a document of 90,000 lines',
      (part) => [`${'\n'.repeat(few(90_000, part))}{ limits { maxTasks } }`],
      /90001 lines; 2000 are allowed/,
    ],
    [
      '400,000 variables of a wrong type',
      (part) => [
        `query($a: [ID!]!, $b: [ID!]!, $c: [ID!]!, $d: [ID!]!) { ${['a', 'b', 'c', 'd'].map((x) => `${x}: nodes(ids: $${x}) { id }`).join(' ')} }`,
        Object.fromEntries(['a', 'b', 'c', 'd'].map((x) => [x, list(few(100_000, part), () => true)])),
      ],
      /ID cannot represent value: true/,
    ],
  ])('%s takes linear time', async (_, make, answer) => {
    let documents = 0;
    // A document that was parsed before is not parsed again.
    const ask = (part: number) => {
      const [query, variables] = make(part);
      return () => world.query(`${query} # ${++documents}`, variables, TOKEN);
    };
    const whole = ask(1);
    expect(JSON.stringify(await whole())).toMatch(answer);
    await expectLinear(ask(1 / GROWTH), whole);
  });

  it.each<[what: string, operation: string, fields: string, x: unknown]>([
    [
      '100,000 ids at 190 places',
      'query($x: [ID!]!)',
      times(190, (i) => `a${i}: nodes(ids: $x) { id }`),
      list(100_000, () => NODE),
    ],
    [
      '50,000 hashes at 190 places',
      'mutation($x: [ProteinHash!]!)',
      times(190, (i) => `a${i}: startBulkLookup(input: { hashes: $x }) { __typename }`),
      list(50_000, (i) => i.toString(16).padStart(32, '0')),
    ],
    [
      '40,000 chains of 160 items',
      'query($x: [ChainInput!]!)',
      `checkFold(input: { items: [${times(160, () => '{ chains: $x }')}] }) { ok }`,
      list(40_000, () => chain),
    ],
  ])('%s is refused at about the cost of reading it', async (_, operation, fields, x) => {
    let documents = 0;
    const ask = (selection: string) => () =>
      world.query(`${operation} { ${selection} } # ${++documents}`, { x }, TOKEN);
    expect(JSON.stringify(await ask(fields)())).toMatch(/QUERY_TOO_EXPENSIVE/);
    const skipped = ask(`__typename ... @skip(if: true) { ${fields} }`);
    expect(await skipped()).toMatchObject({ data: { __typename: expect.anything() } });
    await expectAtMost(12, skipped, ask(fields));
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
