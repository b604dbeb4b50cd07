// The Pothos builder: context type, scalars, plugins, nullability and the texts of Relay
// connections.
import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import type { GatewayContext } from '../context.ts';
import type { LazyText } from '../structure/lazy-text.ts';
import { fieldOptionsPlugin, publicNonNull, publicNullable } from './field-options.ts';

/** Types known before any object is defined. */
export interface Types {
  Context: GatewayContext;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string | number };
    /** A large text may be made only when the response is written. */
    String: { Input: string; Output: string | LazyText };
    DateTime: { Input: Date; Output: Date | string };
    JSON: { Input: unknown; Output: unknown };
    URL: { Input: string; Output: string };
    ProteinHash: { Input: string; Output: string };
    AminoAcidSequence: { Input: string; Output: string };
    IntMatrix: { Input: number[][]; Output: number[][] };
    /** A reference from another subgraph; any JSON. */
    _Any: { Input: unknown; Output: unknown };
  };
  Connection: {
    totalCount: number | (() => number | Promise<number>);
    /** The connection of a batch's tasks: BatchTasksConnection. */
    unscoredCount?: number | null;
  };
}

export const builder = new SchemaBuilder<Types>({
  plugins: [fieldOptionsPlugin, RelayPlugin],
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    // A connection is as public as the field that returns it.
    nodesOnConnection: publicNullable('release', 'The objects of this page, without their cursors.'),
    edgesFieldOptions: {
      public: 'release',
      nullable: { list: false, items: false },
      description: 'The objects of this page, each with its cursor.',
    },
    cursorFieldOptions: publicNonNull('release', 'Opaque; give it as `after`.'),
    nodeFieldOptions: publicNonNull('release', 'The object itself.'),
    pageInfoFieldOptions: {
      public: 'release',
      nullable: false,
      description: 'Whether there is more, and the cursors of both ends.',
    },
    pageInfoTypeOptions: {
      description: 'Where a page of a connection begins and ends, and whether there is more.',
      // Every subgraph that has connections defines this type.
      extensions: { directives: { shareable: {} } },
    },
    idFieldOptions: { description: 'Relay id, for `node(id:)`.' },
    nodeTypeOptions: { description: 'An object that you can fetch again with `node(id:)`.' },
    hasNextPageFieldOptions: publicNullable('release', 'Whether there are more after the last one.'),
    hasPreviousPageFieldOptions: publicNullable('release', 'Whether there are more before the first one.'),
    startCursorFieldOptions: publicNullable('release', 'The cursor of the first one; null on an empty page.'),
    endCursorFieldOptions: publicNullable('release', 'The cursor of the last one; null on an empty page.'),
    // resolvers/relay/node.ts defines node and nodes: it reads the selection and needs one call,
    // not two.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
  },
});

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    ...publicNonNull('release', 'Number of objects over all pages, such as 64.'),
    resolve: ({ totalCount }) => (typeof totalCount === 'function' ? totalCount() : totalCount),
  }),
);

/** Arguments of a connection, which pages forward. */
export const pageArgs = builder.args((t) => ({
  first: t.int({ description: 'Return at most this many, 0 to 1000; 20 when left out.' }),
  after: t.string({ description: 'Return only what follows this cursor.' }),
}));

/** Keys of Apollo Federation 2 (@key), each one field; resolvers/sdl.ts prints them. */
export const keyedBy = (...fields: readonly string[]) => ({
  directives: { key: fields.map((name) => ({ fields: name })) },
});

/** The values of an enum, by their descriptions. */
export const enumValues = <Name extends string>(descriptions: Readonly<Record<Name, string>>) =>
  Object.fromEntries(
    Object.entries(descriptions).map(([name, description]) => [name, { description }]),
  ) as Record<Name, { description: string }>;
