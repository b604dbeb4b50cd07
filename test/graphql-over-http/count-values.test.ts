// The count of values before a body is parsed: never refuses what the count after parsing lets through, whatever its texts hold.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkValueCount } from '../../src/http/graphql/input-limits.ts';
import { readBody } from '../../src/http/graphql/read-params.ts';
import { scanSmiles } from '../../src/submission/chemistry.ts';
import { takeSteps } from '../../src/submission/submission.ts';

const PADDING = ' '.repeat(300_000);
const padded = (json: string): Buffer => Buffer.from(json + PADDING);

it('takes what is in texts for text', () => {
  const many = '{[,\\"'.repeat(200_000);
  expect(() => checkValueCount(padded(JSON.stringify({ query: many, variables: { many } })))).not.toThrow();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(() => checkValueCount(padded(JSON.stringify(value)))).not.toThrow();
    }),
  );
});

it.each([
  ['two million objects', `{"variables":{"a":[${'{},'.repeat(2_000_000)}{}]}}`],
  ['nested lists', `${'['.repeat(200_000)}`],
  ['a million numbers behind a text that ends with a backslash', `["\\\\",${'1,'.repeat(1_000_000)}1]`],
  [
    'a text that never ends is left to the parser, what is before it is counted',
    `[${'[],'.repeat(200_000)}"`,
  ],
])('refuses %s', (_, json) => {
  expect(() => checkValueCount(padded(json))).toThrow(/holds more than/);
});

it('counts to the limit and not below it', () => {
  const objects = (count: number): string => `[${Array.from({ length: count }, () => '{}').join(',')}]`;
  expect(() => checkValueCount(padded(objects(99_999)))).not.toThrow();
  expect(() => checkValueCount(padded(objects(100_000)))).toThrow();
});

it('a large body is counted, decoded, parsed, checked and executed in turns of the event loop of their own', async () => {
  const turnsOf = async (body: Buffer): Promise<number> => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    expect(await readBody(body)).toEqual({ query: '{ a }' });
    clearImmediate(counting);
    return turns;
  };
  const query = JSON.stringify({ query: '{ a }' });
  expect(await turnsOf(Buffer.from(query))).toBe(0);
  expect(await turnsOf(padded(query))).toBeGreaterThanOrEqual(4);
});

it('SMILES of 16 MB is checked in slices, between which other work may have its turn', async () => {
  let steps = 0;
  const clock = {
    hasTime() {
      steps += 1;
      return true;
    },
    nextTurn: async () => undefined,
  };
  const smiles = 'C(=O)'.repeat(3_200_000);
  expect(await takeSteps(scanSmiles(smiles), undefined, clock)).toEqual({
    heavyAtoms: 6_400_000,
    fault: undefined,
  });
  // 256 Ki characters at a time.
  expect(steps).toBeGreaterThanOrEqual(Math.floor(smiles.length / 2 ** 18));
});
