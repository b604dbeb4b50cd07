// Everything in the schema says what it is, and every quantity says in what unit or range.
import { describe, expect, it } from 'vitest';
import { subgraphSchema } from '../../src/resolvers/schema.ts';
import { at, openWorld } from '../support.ts';
import { listElements } from './elements.ts';

const elements = listElements(subgraphSchema);

/** The unit that the description of a number has to name, by the name of the field. */
const UNITS: readonly (readonly [name: RegExp, said: RegExp])[] = [
  [/^(i?ptm|score|minSimilarity|settledFraction)$/i, /\b0 to 1\b|share/i],
  [/plddt/i, /0 to 100/],
  [/percent/i, /0 to 100|percentage/],
  [
    /^(start|end|peak|position|residueIndex\d?|atomIndex\d?|tokenStart|tokenEnd|(row|column)(Start|End)|inputIndex|repeatIndex)$/,
    /\b0-based\b|first (row|column|residue)|after the last|All indices are 0-based|heavy atom|Its residue/i,
  ],
  [/seconds$/i, /\bseconds\b/i],
  [/bytes$/i, /\bbytes?\b|size of the file/i],
  [/hours$/i, /\bhours?\b/i],
  [/days$/i, /\bdays?\b/i],
  [/length$/i, /\bresidues|nucleotides|tokens|positions\b/i],
  [/^max$/, /ångström/],
];

describe('descriptions', () => {
  it('are there for every type, field, argument, input field, enum value and directive', () => {
    expect(elements.length).toBeGreaterThan(400);
    expect(
      elements.filter(({ description }) => (description ?? '').trim() === '').map(({ path }) => path),
    ).toEqual([]);
  });

  it('are sentences: they begin with a capital letter or a value, and end', () => {
    const bad = elements.filter(
      ({ description }) => !/^(ipTM|[\p{Lu}\d`"]).*[.!?]$/su.test((description ?? '').trim()),
    );
    expect(bad.map(({ path, description }) => `${path}: ${description}`)).toEqual([]);
  });

  it('have two sentences at most', () => {
    const sentences = (description: string) =>
      description.replace(/`[^`]*`|"[^"]*"/g, 'X').split(/(?<=[.!?])\s+/).length;
    expect(sentences('One, such as "A. b". Two, as `c. d` is.')).toBe(2);
    const long = elements.filter(({ description }) => sentences(description ?? '') > 2);
    expect(long.map(({ path, description }) => `${path}: ${description}`)).toEqual([]);
  });

  it.each(UNITS)('of %s say the unit or the range', (name, said) => {
    const numbers = elements.filter(
      (one) => (one.type === 'Int' || one.type === 'Float') && name.test(one.name),
    );
    expect(numbers).not.toEqual([]);
    const silent = numbers.filter(({ description }) => !said.test(description ?? ''));
    expect(silent.map(({ path, description }) => `${path}: ${description}`)).toEqual([]);
  });
});

/** Fields of Query whose arguments find something by themselves. */
const LOOKUPS = ['node', 'protein', 'proteins', 'cluster', 'feature', 'features', 'lookup', 'uniprotEntry'];

it('examples of arguments find something when they are pasted', async () => {
  const world = await openWorld();
  const fields = subgraphSchema.getQueryType()?.getFields() ?? {};
  const pasted = LOOKUPS.flatMap((field) =>
    (fields[field]?.args ?? []).flatMap(({ name, description }) => {
      const [, example] = /such as ("[^"]+"|\[[^\]]+\]|\d+)/.exec(description ?? '') ?? [];
      return example === undefined ? [] : [`${field}(${name}: ${example})`];
    }),
  );
  expect(pasted.length).toBeGreaterThanOrEqual(LOOKUPS.length);
  for (const field of pasted) {
    const selection = field.startsWith('features') ? 'totalCount' : '__typename';
    const { data, errors } = await world.query(`{ it: ${field} { ${selection} } }`);
    expect([field, errors, data]).toEqual([field, undefined, { it: expect.anything() }]);
    expect([field, at(data, 'it.totalCount')]).not.toEqual([field, 0]);
  }
  await world.close();
});
