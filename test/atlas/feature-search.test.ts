// features(search:): bounded in words, letters and characters; the loop is never held.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectShortTurns } from '../cpu-time.ts';
import { at, listAt, openWorld, type World } from '../support.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ RATE_LIMIT_PER_MINUTE: '0' });
  await world.query('{ features(search: "helix", first: 1) { totalCount } }');
});
afterAll(() => world.close());

const search = (text: string) =>
  world.query(
    'query($text: String!) { features(search: $text, first: 3) { totalCount nodes { index label } } }',
    {
      text,
    },
  );

const distinct = (count: number): string =>
  Array.from({ length: count }, (_, i) => `w${String.fromCharCode(97 + i)}`).join(' ');

describe('a search over the features', () => {
  it.each<[string, string, RegExp]>([
    ['of 6 kB of repeated words', 'hydrophobic '.repeat(500), /6000 characters; at most 200 are searched/],
    ['of a word of 40,000 letters', 'a'.repeat(40_000), /40000 characters; at most 200 are searched/],
    ['of a word of 41 letters', 'a'.repeat(41), /A word of `search` has 41 letters; at most 40/],
    ['of 13 different words', distinct(13), /13 different words; at most 12 are searched/],
  ])('%s is refused and told the limit', async (_, text, message) => {
    const { errors } = await search(text);
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.message).toMatch(message);
    expect(errors?.[0]).toMatchObject({ path: ['features'], extensions: { code: 'BAD_USER_INPUT' } });
  });

  it('takes 12 words, 40 letters in each, 200 characters in all, and a word that is said often as one', async () => {
    const long = `${['a', 'b', 'c', 'd'].map((letter) => letter.repeat(40)).join(' ')} ${'e'.repeat(36)}`;
    expect(long).toHaveLength(200);
    expect((await search(long)).errors).toBeUndefined();
    expect((await search(`${distinct(12)}, ${distinct(12).toUpperCase()}.`)).errors).toBeUndefined();
    const once = await search('helix');
    expect(at(once.data, 'features.totalCount')).toBeGreaterThan(0);
    expect(await search('helix Helix HELIX helix, helix')).toEqual(once);
    expect(at((await search('?!')).data, 'features.totalCount')).toBe(0);
  });

  it('gives the loop to others between its words, with twenty aliases', async () => {
    const query = `query($w: String!) { ${Array.from({ length: 20 }, (_, i) => `a${i}: features(search: $w, first: 1) { totalCount }`).join(' ')} }`;
    const words = 'the and residues where';
    // The same words in the same order are not searched twice.
    const orders = [
      words,
      'and the residues where',
      'residues the and where',
      'where the and residues',
      'the where and residues',
    ];
    await expectShortTurns(async () => {
      const result = await world.query(query, { w: orders.shift() ?? '' });
      expect(result.errors).toBeUndefined();
      const counts = Array.from({ length: 20 }, (_, i) => at(result.data, `a${i}.totalCount`));
      expect(new Set(counts).size).toBe(1);
    }, 0.5);
    expect(listAt((await search(words)).data, 'features.nodes')).toHaveLength(3);
  });
});
