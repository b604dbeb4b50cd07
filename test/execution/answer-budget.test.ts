// An answer has a size: what is completed is counted while it is executed, in every way in, and other work gets its turn meanwhile.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longestBlock } from '../cpu-time.ts';
import { at, listAt, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const ATTACK =
  'query($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) { features(first: 10) { residues } } }';
const same = (count: number): string[] => Array.from({ length: count }, () => INSULIN);

let world: World;
let small: World;
beforeAll(async () => {
  world = await openWorld({ RATE_LIMIT_PER_MINUTE: '0' });
  small = await openWorld({
    RATE_LIMIT_PER_MINUTE: '0',
    MAX_ANSWER_VALUES: '5000',
    MAX_ANSWER_BYTES: '100000',
  });
});
afterAll(async () => {
  await world.close();
  await small.close();
});

/** The one error of an answer that was too large. */
const tooLarge = (setting: string) => [
  {
    message: expect.stringContaining(setting),
    extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false },
  },
];

describe('an answer that becomes too large', () => {
  it('of one protein four thousand times is refused without holding the loop', async () => {
    await world.query(ATTACK, { hashes: same(1) });
    world.forget();
    const { result, milliseconds } = await longestBlock(() => world.query(ATTACK, { hashes: same(4000) }));
    expect(result).toEqual({ data: null, errors: tooLarge('2000000 values (MAX_ANSWER_VALUES)') });
    expect(result.errors?.[0]?.message).toMatch(/fewer fields or shorter lists, page .*startBulkLookup/);
    expect(milliseconds).toBeLessThan(300);
    expect(world.calls.length).toBeLessThan(3);
  });

  it('by eight aliases of five thousand is refused without holding the loop', async () => {
    const query = `query($hashes: [ProteinHash!]!) { ${Array.from({ length: 8 }, (_, i) => `a${i}: proteins(hashes: $hashes) { hash length features(first: 10) { value feature { index label } } cluster { size } }`).join(' ')} }`;
    const { result, milliseconds } = await longestBlock(() => world.query(query, { hashes: same(5000) }));
    expect(result).toEqual({ data: null, errors: tooLarge('MAX_ANSWER_VALUES') });
    expect(milliseconds).toBeLessThan(300);
  });

  it.each([
    [
      'fields of lists',
      '{ features(first: 1000) { nodes { index label id a: index b: index } } }',
      'MAX_ANSWER_VALUES',
    ],
    [
      'JSON as it came',
      `{ cluster(hash: "${INSULIN}") { ${Array.from({ length: 190 }, (_, i) => `a${i}: raw`).join(' ')} } }`,
      'MAX_ANSWER_',
    ],
    [
      'text that is held',
      `{ protein(hash: "${INSULIN}") { a: structure(format: MMCIF) { text } } }`,
      'MAX_ANSWER_BYTES',
    ],
    [
      'text that is streamed',
      `{ protein(hash: "${INSULIN}") { a: structure { text } b: structure { text } } }`,
      'MAX_ANSWER_BYTES',
    ],
    ['errors', `{ nodes(ids: [${'"none" '.repeat(60)}]) { id } }`, 'MAX_ANSWER_VALUES'],
    ['what is waited for', `{ features(first: 500) { nodes { summary } } }`, 'MAX_ANSWER_VALUES'],
  ])('is refused for %s, asked first and again', async (_, query, setting) => {
    for (let i = 0; i < 2; i += 1)
      expect(await small.query(query)).toEqual({ data: null, errors: tooLarge(setting) });
  });

  it('is refused in mutations and in parts too', async () => {
    const mutation = `mutation($items: [FoldItemInput!]!) { submitFold(input: { items: $items }) {
      ... on InvalidInput { issues { path code message hint a: path b: code c: message } }
    } }`;
    const items = Array.from({ length: 1000 }, () => ({ chains: [] }));
    expect(await small.query(mutation, { items })).toEqual({
      data: null,
      errors: tooLarge('MAX_ANSWER_VALUES'),
    });
    for (const selection of [
      'features(first: 1000) { nodes { index label id a: index b: index } }',
      `nodes(ids: [${'"none" '.repeat(60)}]) { id }`,
    ]) {
      const response = await small.gateway.fetch(
        new Request('http://gateway.test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'multipart/mixed;deferSpec=20220824' },
          body: JSON.stringify({ query: `{ __typename ... @defer { ${selection} } }` }),
        }),
      );
      const text = await response.text();
      expect(text.match(/QUERY_TOO_EXPENSIVE/g)).toHaveLength(1);
      expect(text).not.toContain('"index"');
    }
  });
});

describe('an answer in parts that becomes too large', () => {
  it('has an error for each part that was cut, and no null without one', async () => {
    const many = Array.from({ length: 25 }, (_, i) => `i${i}: value`).join(' ');
    const query = `{ limits { maxItems } ${Array.from(
      { length: 6 },
      (_, i) =>
        `... @defer(label: "${i}") { p${i}: protein(hash: "${INSULIN}") { features(first: 100) { ${many} } } }`,
    ).join(' ')} }`;
    const response = await small.gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'multipart/mixed;deferSpec=20220824' },
        body: JSON.stringify({ query }),
      }),
    );
    const parts = listAt(
      { all: (await response.text()).match(/\{.*\}/g)?.map((one) => JSON.parse(one)) },
      'all',
    );
    expect(parts[0]).toEqual({ data: { limits: { maxItems: 2000 } }, hasNext: true });
    const later = parts.slice(1).flatMap((part) => (at(part, 'incremental') as object[] | undefined) ?? []);
    expect(later).toHaveLength(6);
    const cut = later.filter((part) => at(part, 'errors') !== undefined);
    expect(cut.length).toBeGreaterThan(0);
    for (const part of cut)
      expect(part).toMatchObject({ data: null, errors: [{ extensions: { code: 'QUERY_TOO_EXPENSIVE' } }] });
    for (const part of later.filter((one) => !cut.includes(one)))
      expect(listAt(Object.values(at(part, 'data') as object), '0.features').length).toBeGreaterThan(10);
  });
});

describe('an answer in too many parts', () => {
  const defers = (count: number, selection: string) =>
    Array.from({ length: count }, (_, i) => `... @defer(label: "${i}") { ${selection} }`).join(' ');
  const ids = JSON.stringify(Array.from({ length: 500 }, (_, i) => btoa(`Feature:${i}`)));
  const doubling = Array.from(
    { length: 10 },
    (_, i) =>
      `fragment F${i} on Feature { ${i === 9 ? 'label' : `...F${i + 1} @defer ...F${i + 1} @defer`} }`,
  ).join(' ');
  const inParts = async (query: string, hashes: readonly string[] = []) => {
    const response = await world.gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'multipart/mixed;deferSpec=20220824' },
        body: JSON.stringify({ query, variables: { hashes } }),
      }),
    );
    return response.text();
  };

  it.each([
    ['an object of a list', `{ features(first: 900) { nodes { index ${defers(90, 'label')} } } }`],
    ['an object of an interface', `{ nodes(ids: ${ids}) { id ${defers(90, '__typename')} } }`],
    ['a fragment that is spread twice', `{ features(first: 900) { nodes { ...F0 } } } ${doubling}`],
    [
      'an item that is a part itself',
      `query($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) @stream(initialCount: 0) { hash ${defers(20, 'hash')} } }`,
    ],
    [
      'items of two lists',
      `query($hashes: [ProteinHash!]!) { a: proteins(hashes: $hashes) @stream(initialCount: 1) { hash } b: proteins(hashes: $hashes) @stream(initialCount: 1) { length } }`,
    ],
  ])('is refused before it is executed: for each %s', async (_, query) => {
    world.forget();
    const text = await inParts(query, same(1200));
    expect(text.match(/QUERY_TOO_EXPENSIVE/g)).toHaveLength(1);
    expect(text).toContain('more than the 2000 parts');
    expect(text).not.toContain('"path"');
    expect(world.calls).toEqual([]);
  });

  it('is whole where it has as many as it may, or none are asked for', async () => {
    const query = (condition: string) =>
      `{ features(first: 500) { nodes { ${defers(4, 'label').replaceAll('@defer(', `@defer(${condition}`)} } } }`;
    const all = await inParts(query(''));
    expect(all).not.toContain('QUERY_TOO_EXPENSIVE');
    expect(all.match(/"label":"[0-3]"/g)).toHaveLength(2000);
    expect(await inParts(query('if: false, ').replace('500', '1000'))).not.toContain('QUERY_TOO_EXPENSIVE');
  });
});

describe('an answer that is large and not too large', () => {
  it('of five thousand proteins with features and cluster is whole', async () => {
    const query = `query($hashes: [ProteinHash!]!) { proteins(hashes: $hashes) {
      hash name length ptm cluster { size percentCharacterized } features(first: 10) { value feature { index label } }
    } }`;
    await world.query(query, { hashes: same(1) });
    const { result, milliseconds } = await longestBlock(() => world.query(query, { hashes: same(5000) }));
    expect(result.errors).toBeUndefined();
    const proteins = listAt(result.data, 'proteins');
    expect(proteins).toHaveLength(5000);
    expect(proteins[4999]).toEqual(proteins[0]);
    expect(at(proteins[0], 'hash')).toBe(INSULIN);
    // Reading five megabytes of JSON is the test's own work.
    expect(milliseconds).toBeLessThan(600);
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
