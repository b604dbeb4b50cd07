// Which answers may be stored and shared: those whose fields all say that they are public, and no
// others.
import SchemaBuilder from '@pothos/core';
import { GraphQLObjectType, isObjectType, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { publicLifetime } from '../../src/http/graphql/public-operations.ts';
import { schema } from '../../src/resolvers/schema.ts';
import { fieldOptionsPlugin, publicField } from '../../src/schema/field-options.ts';

const RECORD_SECONDS = 300;
const DAY = 86_400;

const readSeconds = (query: string, variables: Record<string, unknown> = {}, of = schema) =>
  publicLifetime(of, parse(query), RECORD_SECONDS)(variables);

/** A schema of one type with a new field that is not listed. */
function schemaWithNewField() {
  const builder = new SchemaBuilder<{ Objects: { Protein: { hash: string } } }>({
    plugins: [fieldOptionsPlugin],
  });
  builder.objectType('Protein', {
    fields: (t) => ({
      hash: t.exposeString('hash', { public: 'record' }),
      added: t.string({ resolve: () => 'new' }),
    }),
  });
  builder.queryType({
    fields: (t) => ({
      protein: t.field({ type: 'Protein', public: 'record', resolve: () => ({ hash: 'a' }) }),
    }),
  });
  return builder.toSchema();
}

describe('an answer', () => {
  it('is not stored with a new field that declares nothing', () => {
    const changed = schemaWithNewField();
    expect(readSeconds('{ protein { hash } }', {}, changed)).toBe(RECORD_SECONDS);
    expect(readSeconds('{ protein { hash added } }', {}, changed)).toBeNull();
  });

  it.each([
    ['{ features(first: 2) { nodes { index label } pageInfo { hasNextPage } totalCount } }', DAY],
    ['{ __typename }', DAY],
    ['{ protein(hash: "a") { __typename hash cluster { size } } }', RECORD_SECONDS],
    [
      '{ lookup(ids: ["P01308"]) { problem { message ... on InvalidInput { issues { path } } } } }',
      RECORD_SECONDS,
    ],
  ])('is stored for as long as its shortest-lived field: %s', (query, seconds) => {
    expect(readSeconds(query)).toBe(seconds);
  });

  it.each([
    '{ myBatches { nodes { id } } }',
    '{ batch(id: "a") { __typename } }',
    '{ protein(hash: "a") { hash } myBatches { totalCount } }',
    'query A { protein(hash: "a") { hash } } query B { batch(id: "a") { id } }',
    '{ node(id: "a") { __typename } }',
    '{ protein(hash: "a") { provenance { fromCache } } }',
    '{ __schema { queryType { name } } }',
    'mutation { cancelBatch(id: "a") { __typename } }',
  ])('is never stored: %s', (query) => {
    expect(readSeconds(query)).toBeNull();
  });

  it('is not stored where it may have made the service fold', () => {
    const query = 'query A($fold: Boolean = false) { protein(hash: "a", foldOnMiss: $fold) { hash } }';
    expect(readSeconds(query)).toBe(RECORD_SECONDS);
    expect(readSeconds(query, { fold: false })).toBe(RECORD_SECONDS);
    expect(readSeconds(query, { fold: true })).toBeNull();
    expect(readSeconds('{ protein(hash: "a", foldOnMiss: true) { hash } }')).toBeNull();
  });
});

describe('types of what belongs to a caller', () => {
  it.each([
    'Batch',
    'Task',
    'FoldResult',
    'BulkLookup',
    'BatchProgress',
    'Mutation',
    'Subscription',
  ])('%s: no field is public', (name) => {
    const type = schema.getType(name);
    expect(isObjectType(type)).toBe(true);
    const fields = type instanceof GraphQLObjectType ? Object.values(type.getFields()) : [];
    expect(fields.filter((field) => publicField(field) !== undefined)).toEqual([]);
  });
});
