// The schema in its two printed forms: as clients see it, without the fields for routers, and as a subgraph with its
// federation directives. What carries which directive stands in the extensions of each type and field.
import {
  GraphQLDeferDirective,
  GraphQLStreamDirective,
  getDirectiveInExtensions,
  getDocumentNodeFromSchema,
} from '@graphql-tools/utils';
import { GraphQLObjectType, GraphQLSchema, lexicographicSortSchema, print, printSchema } from 'graphql';

/** Version of the Federation specification of the directives used: the first one has them all, so any router will do. */
const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@shareable"])`;

/** What only routers use. */
const isForRouters = (name: string): boolean => name.startsWith('_') && !name.startsWith('__');

/**
 * Root fields that every subgraph with global ids has: two of them do not compose, hidden or not. A subgraph that knows all types
 * can offer them for the whole graph, as every object of ours can be fetched by its `id`.
 */
const isGlobalId = (name: string): boolean => name === 'node' || name === 'nodes';

/** The schema without some root fields of queries, and without the types that only routers use. */
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

/** The schema as clients see it: without what only federation routers use, with the directives for results in parts. */
export function apiSchema(whole: GraphQLSchema): GraphQLSchema {
  const { directives, ...rest } = without(whole, isForRouters).toConfig();
  return new GraphQLSchema({
    ...rest,
    directives: [...directives, GraphQLDeferDirective, GraphQLStreamDirective],
  });
}

/** graphql-js has it built in, composition does not know it. */
const ONE_OF = 'directive @oneOf on INPUT_OBJECT';

const printed = new WeakMap<GraphQLSchema, string>();

/** The schema as a subgraph: what `_service { sdl }` answers and `npm run schema:subgraph` prints. */
export function subgraphSdl(whole: GraphQLSchema): string {
  const known = printed.get(whole);
  if (known !== undefined) return known;
  const schema = without(whole, (name) => isForRouters(name) || isGlobalId(name));
  const document = getDocumentNodeFromSchema(lexicographicSortSchema(schema));
  const sdl = `${[LINK, ONE_OF, print(document)].join('\n\n')}\n`;
  printed.set(whole, sdl);
  return sdl;
}

const KEY = `"""
The object can be fetched by these fields, also by a reference out of another subgraph (Apollo Federation).
"""
directive @key(fields: String!, resolvable: Boolean = true) repeatable on OBJECT | INTERFACE
`;

/** The schema as clients see it, with the keys of its objects: what `npm run schema:print` writes to schema.graphql. */
export function apiSdl(whole: GraphQLSchema): string {
  const schema = lexicographicSortSchema(apiSchema(whole));
  const sdl = printSchema(schema).replace(/^type (\w+)[^{\n]*/gm, (head, name: string) => {
    const keys = getDirectiveInExtensions(schema.getType(name) ?? {}, 'key') ?? [];
    return head + keys.map(({ fields }) => `@key(fields: ${JSON.stringify(fields)}) `).join('');
  });
  return `${KEY}\n${sdl}\n`;
}
