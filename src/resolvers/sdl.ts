// Prints the schema in two forms: for clients, without the fields for routers, and as a subgraph
// with federation directives. Types and fields carry their directives as extensions.
import { getDirectiveInExtensions, getDocumentNodeFromSchema, memoize1 } from '@graphql-tools/utils';
import {
  type GraphQLDirective,
  GraphQLObjectType,
  GraphQLSchema,
  isObjectType,
  Kind,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
} from 'graphql';
import { isSemanticNonNull } from '../schema/field-options.ts';
import { withCostDirectives } from './federation-costs.ts';

/** The first version that has all directives used: @cost and @listSize. */
const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", ' +
  'import: ["@cost", "@key", "@listSize", "@shareable"])';

const isForRouters = (name: string): boolean => name.startsWith('_') && !name.startsWith('__');

/** `node` and `nodes`: several subgraphs with these fields do not compose. */
const isGlobalId = (name: string): boolean => name === 'node' || name === 'nodes';

const isIncremental = ({ name }: GraphQLDirective): boolean => name === 'defer' || name === 'stream';

/** The schema without some fields of Query and without the types for routers. */
function without(whole: GraphQLSchema, isLeftOut: (field: string) => boolean): GraphQLSchema {
  const { query, types, ...rest } = whole.toConfig();
  const config = query?.toConfig();
  if (query == null || config === undefined) return whole;
  const fields = Object.fromEntries(Object.entries(config.fields).filter(([name]) => !isLeftOut(name)));
  return new GraphQLSchema({
    ...rest,
    query: new GraphQLObjectType({ ...config, fields }),
    types: types.filter((type) => type !== query && !isForRouters(type.name)),
  });
}

/** The schema for clients: without the fields for routers. */
export const apiSchema = (whole: GraphQLSchema): GraphQLSchema => without(whole, isForRouters);

/** Built into graphql-js, unknown to the composition. */
const ONE_OF = 'directive @oneOf on INPUT_OBJECT';

/**
 * The answer of `_service { sdl }`; `npm run schema:print` writes it to
 * federation/subgraph.graphql.
 */
export const subgraphSdl = memoize1((whole: GraphQLSchema): string => {
  const { directives, ...rest } = without(whole, (name) => isForRouters(name) || isGlobalId(name)).toConfig();
  const schema = new GraphQLSchema({
    ...rest,
    directives: directives.filter((directive) => !isIncremental(directive)),
  });
  const document = getDocumentNodeFromSchema(lexicographicSortSchema(withCostDirectives(schema)));
  return `${[LINK, ONE_OF, print(document)].join('\n\n')}\n`;
});

const KEY = `"""
The object can be fetched by these fields, also by a reference out of another subgraph (Apollo Federation).
"""
directive @key(fields: String!, resolvable: Boolean = true) repeatable on OBJECT | INTERFACE
`;

const SEMANTIC_NON_NULL = `"""
The field is null only with an error, so that a client that throws on errors can read it as non-null.
"""
directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION
`;

function markSemanticNonNull(schema: GraphQLSchema, sdl: string): string {
  const ends = parse(sdl).definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return [];
    const type = schema.getType(definition.name.value);
    const fields = isObjectType(type) ? type.getFields() : {};
    return (definition.fields ?? []).flatMap(({ name, type: { loc } }) => {
      const field = fields[name.value];
      return field !== undefined && loc !== undefined && isSemanticNonNull(field) ? [loc.end] : [];
    });
  });
  return ends.reduceRight((text, end) => `${text.slice(0, end)} @semanticNonNull${text.slice(end)}`, sdl);
}

/**
 * The SDL for clients, with the keys of objects and the fields that are null only with an error:
 * schema.graphql, which `npm run schema:print` writes, and the answer of /schema.graphql.
 *
 * @param api - the schema for clients
 */
export function apiSdl(api: GraphQLSchema): string {
  const schema = lexicographicSortSchema(api);
  const sdl = markSemanticNonNull(schema, printSchema(schema)).replace(
    /^type (\w+)[^{\n]*/gm,
    (head, name: string) => {
      const keys = getDirectiveInExtensions(schema.getType(name) ?? {}, 'key') ?? [];
      return head + keys.map(({ fields }) => `@key(fields: ${JSON.stringify(fields)}) `).join('');
    },
  );
  return `${KEY}\n${SEMANTIC_NON_NULL}\n${sdl}\n`;
}
