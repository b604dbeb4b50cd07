// Documents are validated by all rules at once: the errors are those of graphql-js, and each is told once.
import { parse, specifiedRules, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinRules } from '../../src/http/graphql/validate-document.ts';
import { readExamples } from '../../src/http/pages/examples.ts';
import { schema } from '../../src/resolvers/schema.ts';
import { openWorld, type World } from '../support.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const joined = [joinRules(specifiedRules)];
const messages = (text: string, rules = specifiedRules, maxErrors = 20): string[] =>
  validate(schema, parse(text), rules, { maxErrors }).map(
    ({ message, locations }) => `${message} ${JSON.stringify(locations)}`,
  );

describe('joined rules', () => {
  it.each([
    'type A { b: Int } { __typename }',
    'query A { __typename } query A { __typename }',
    '{ __typename } query A { __typename }',
    'subscription { a: batchProgress(id: "a") { id } b: batchProgress(id: "b") { id } }',
    '{ ... on Nothing { a } ... on Int { b } } fragment f on ProteinHash { c }',
    'query($a: Protein, $a: Int) { protein(hash: $b) { hash } }',
    '{ protein { hash { x } cluster } nothing features(first: 1, first: "a", last: {a: 1, a: 2}) { nodes { index } } }',
    'fragment f on Query { ...g } fragment f on Query { ...f } fragment g on Query { ...f ...h }',
    '{ protein(hash: "12e9c9e4e2835c302e8ba615115edda3") @skip @skip(if: 1) @unknown(a: 1) { ... on Cluster { size } } }',
    'query($h: ProteinHash, $n: Int = "a") { protein(hash: $h) { hash @include(if: $n) } } mutation { __typename @deprecated }',
    '{ a: protein(hash: 1) { hash } a: node(id: 1) { id } b: __typename }',
    '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }',
    'mutation { submitFold(input: { items: [{ chains: [{ protein: { ids: ["A"], ids: [1], nothing: 1 } }] }] }) { __typename x } }',
    '{ __typename @a @a ... @a @a { __typename } }',
    `{ ${Array.from({ length: 50 }, (_, i) => `x${i}`).join(' ')} }`,
  ])('report what each of them reports, in the same order: %s', (text) => {
    const expected = messages(text);
    expect(expected.length).toBeGreaterThan(0);
    // The first document has every rule look at every kind of nodes; later ones only at theirs.
    expect(messages(text, joined)).toEqual(expected);
    expect(messages(text, joined, 1)).toEqual(messages(text, specifiedRules, 1));
  });

  it('accept every example', () => {
    for (const { query } of readExamples()) expect(messages(query, joined)).toEqual([]);
  });
});

describe('a document', () => {
  it('with two fields that cannot be one is told so once', async () => {
    const { errors } = await world.query('{ a: features(first: 1) { totalCount } a: limits { __typename } }');
    expect(errors?.map(({ message }) => message)).toEqual([expect.stringContaining('Fields "a" conflict')]);
  });

  it('is refused again as the first time', async () => {
    const text = '{ features(first: 1) { nothing } }';
    const first = await world.query(text);
    expect(first.errors).toHaveLength(1);
    expect(await world.query(text)).toEqual(first);
  });
});
