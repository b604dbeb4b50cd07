// The lock on the schema: what is committed is what the code makes, and what clients of the last
// release use stays.
import { readFileSync } from 'node:fs';
import { parse, print, visit } from 'graphql';
import { describe, expect, it } from 'vitest';
import { DEPRECATION, schemaChanges } from '../../scripts/schema-changes.ts';
import { schema, subgraphSchema } from '../../src/resolvers/schema.ts';
import { apiSdl, subgraphSdl } from '../../src/resolvers/sdl.ts';
import { listElements } from './elements.ts';

const TODAY = '2026-11-21';
const committed = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const current = committed('schema.graphql');

/** The schema with one line changed; the line has to be there. */
function changed(from: string, to: string): string {
  expect(current).toContain(from);
  return current.replace(from, to);
}

/**
 * A schema without what stands in a type under a name: a field, an argument, an input field or an
 * enum value.
 */
const without = (sdl: string, type: string, name: string): string =>
  print(
    visit(parse(sdl), {
      enter(node) {
        if (!('name' in node) || node.name === undefined) return undefined;
        if (/TypeDefinition$/.test(node.kind) && node.name.value !== type) return false;
        return node.name.value === name ? null : undefined;
      },
    }),
  );

describe('the committed schema', () => {
  it.each([
    ['schema.graphql', apiSdl(schema)],
    ['federation/subgraph.graphql', subgraphSdl(subgraphSchema)],
  ] as const)('%s is what the code makes', (name, printed) => {
    expect(committed(name) === printed, `run npm run schema:print and commit ${name}`).toBe(true);
  });

  it('shows clients the keys and nothing that only routers use', () => {
    expect(current).toContain('type Protein implements Node @key(fields: "hash") @key(fields: "id") {');
    expect(current).not.toMatch(/_service|_entities|_Any|_Entity/);
    expect(subgraphSchema.getQueryType()?.getFields()._entities).toBeDefined();
  });
});

describe('the subgraph', () => {
  const subgraph = committed('federation/subgraph.graphql');

  it.each([
    ['Cluster', 'representative: Protein @cost(weight: 1)'],
    [
      'Cluster',
      '): ProteinConnection @cost(weight: 1) @listSize(assumedSize: 20, slicingArguments: ["first"], ',
    ],
    ['BatchProgress', 'changedTasks: [Task!]! @listSize(assumedSize: 100)'],
    ['Query', '): SimilaritySearch @cost(weight: 3) @listSize(slicingArguments: ["first"], '],
    ['Task', 'scores: FoldScores @cost(weight: 2)'],
  ])('says of a field of %s: %s', (type, field) => {
    const [definition = ''] = new RegExp(`^type ${type} [^]*?^}`, 'm').exec(subgraph) ?? [];
    expect(definition).toContain(`  ${field}`);
  });

  it('has no cost for what the gateway works out itself, and none in the schema for clients', () => {
    expect(subgraph).toMatch(/^ {2}hash: ProteinHash!$/m);
    expect(subgraph).toMatch(/^ {2}\): \[Float\]!$/m);
    expect(current).not.toMatch(/@cost|@listSize/);
  });
});

describe('a change of the schema', () => {
  it.each([
    ['Cluster', 'name'],
    ['Cluster', 'first'],
    ['ReferenceDatabase', 'SWISSPROT'],
    ['PolymerInput', 'sequence'],
  ])('breaks clients where it takes away what stands in %s as %s', (type, name) => {
    expect(schemaChanges(current, without(current, type, name), TODAY).breaking.join()).toMatch(
      /was removed/,
    );
  });

  it('breaks clients where it asks for more or promises less', () => {
    expect(schemaChanges(current, changed('first: Int = 10', 'first: Int!'), TODAY).breaking).not.toEqual([]);
    expect(
      schemaChanges(current, changed('  replayed: Boolean!', '  replayed: Boolean'), TODAY).breaking,
    ).not.toEqual([]);
  });

  it('breaks no client where it adds something, deprecates something or promises more', () => {
    const REASON = 'Use `hash`. Removed after 2027-06-30.';
    for (const next of [
      changed('  accession: String\n', '  accession: String\n  other: String\n'),
      changed('  accession: String\n', `  accession: String @deprecated(reason: "${REASON}")\n`),
      changed('  label: String\n', '  label: String!\n'),
    ]) {
      expect(schemaChanges(current, next, TODAY)).toEqual({ breaking: [], dangerous: [] });
    }
  });

  it('is told, and passes, where it adds a member to a union', () => {
    const next = changed(
      'union BulkLookupResult = BulkLookup |',
      'union BulkLookupResult = BulkLookup | NotFound |',
    );
    expect(schemaChanges(current, next, TODAY)).toEqual({
      breaking: [],
      dangerous: [expect.stringContaining('NotFound was added')],
    });
  });

  it('may remove what was deprecated once the date named there has passed, not before', () => {
    const deprecated = changed(
      '  percentCharacterized: Float\n',
      '  percentCharacterized: Float @deprecated(reason: "Use `hash`. Removed after 2026-12-31.")\n',
    );
    const gone = without(current, 'Cluster', 'percentCharacterized');
    expect(schemaChanges(deprecated, gone, '2026-12-31').breaking).toHaveLength(1);
    expect(schemaChanges(deprecated, gone, '2027-01-01').breaking).toEqual([]);
  });
});

describe('deprecations', () => {
  it('say what to use instead and until when they stay', () => {
    const unclear = listElements(schema).filter(
      ({ deprecationReason }) => deprecationReason != null && !DEPRECATION.test(deprecationReason),
    );
    expect(unclear.map(({ path }) => path)).toEqual([]);
    expect('Use `similarity`. Removed after 2027-06-30.').toMatch(DEPRECATION);
    for (const reason of [
      'No longer supported',
      'Use `x`.',
      'Removed after 2027-06-30.',
      'Use x. Removed after 2027.',
    ])
      expect(reason).not.toMatch(DEPRECATION);
  });
});
