// The Pothos builder: which scalars there are, which plugins run, how nullability and connections look. Every noun
// and verb of the schema is built with it; it knows none of them.
import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import type { GatewayContext } from '../context.ts';
import type { LazyText } from '../structure/lazy-text.ts';
import { costPlugin } from './cost-plugin.ts';
import { publicFieldsPlugin } from './public-fields-plugin.ts';

/** What the builder knows of types before any is defined: the context, the scalars, what connections carry. */
export interface Types {
  Context: GatewayContext;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string | number };
    /** A large text may be left packed until it is written. */
    String: { Input: string; Output: string | LazyText };
    DateTime: { Input: Date; Output: Date | string };
    JSON: { Input: unknown; Output: unknown };
    URL: { Input: string; Output: string };
    ProteinHash: { Input: string; Output: string };
    AminoAcidSequence: { Input: string; Output: string };
    /** A reference out of another subgraph; any JSON. */
    _Any: { Input: unknown; Output: unknown };
  };
  Connection: { totalCount: number | (() => number | Promise<number>) };
}

export const builder = new SchemaBuilder<Types>({
  plugins: [costPlugin, publicFieldsPlugin, RelayPlugin],
  // Cost counts upstream calls in the worst case: a field that comes with its object is free, a list multiplies what is selected below it.
  costLimits: ({ services: { config } }) => ({ calls: config.MAX_QUERY_COST, depth: config.MAX_QUERY_DEPTH }),
  onCost: ({ upstream }, { calls }) => upstream.onCost?.(calls),
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    // A connection is public where the field that gives it is: what it consists of tells nothing of whose it is.
    nodesOnConnection: { public: 'release', description: 'The objects of this page, without their cursors.' },
    edgesFieldOptions: {
      public: 'release',
      nullable: { list: false, items: false },
      description: 'The objects of this page, each with its cursor.',
    },
    cursorFieldOptions: {
      public: 'release',
      nullable: false,
      description: 'Opaque; give it as `after` or `before`.',
    },
    nodeFieldOptions: { public: 'release', nullable: false, description: 'The object itself.' },
    pageInfoFieldOptions: {
      public: 'release',
      nullable: false,
      description: 'Whether there is more in either direction, and the cursors of both ends.',
    },
    pageInfoTypeOptions: {
      description: 'Where a page of a connection begins and ends, and whether there is more.',
      // Every subgraph with connections has this type.
      extensions: { directives: { shareable: {} } },
    },
    idFieldOptions: { description: 'Relay id: give it to `node(id:)`.' },
    nodeTypeOptions: { description: 'An object that `node(id:)` can fetch again by its id.' },
    hasNextPageFieldOptions: { public: 'release', description: 'Whether more follow after the last one.' },
    hasPreviousPageFieldOptions: {
      public: 'release',
      description: 'Whether any stand before the first one.',
    },
    startCursorFieldOptions: {
      public: 'release',
      description: 'The cursor of the first one; null on an empty page.',
    },
    endCursorFieldOptions: {
      public: 'release',
      description: 'The cursor of the last one; null on an empty page.',
    },
    // node and nodes are our own (resolvers/relay/node.ts): they read the selection, so that existence and data are one call.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    firstArgOptions: { description: 'How many at most, from the front; 1 to 1000.' },
    lastArgOptions: { description: 'How many at most, from the back; 1 to 1000.' },
    afterArgOptions: { description: 'Only what follows this cursor.' },
    beforeArgOptions: { description: 'Only what stands before this cursor.' },
  },
});

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    public: 'release',
    nullable: false,
    description: 'How many there are over all pages.',
    resolve: ({ totalCount }) => (typeof totalCount === 'function' ? totalCount() : totalCount),
  }),
);
