// node and nodes: objects by their global ids.
import { memoize1 } from '@graphql-tools/utils';
import { decodeGlobalID } from '@pothos/plugin-relay';
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import { badInput } from '../../schema/scalars.ts';
import { MAX_ID_CHARACTERS } from '../../upstream/wire-values.ts';
import { MAX_REFERENCES, NODE_TYPES, withTypename } from './object-types.ts';

/** Characters of Base64 that hold the name of any type. */
const MAX_TYPE_CHARACTERS = 100;

interface NodeId {
  readonly typename: string;
  readonly id: string;
}

/** The type and the key in a global id. @throws GraphQLError BAD_USER_INPUT for an invalid one */
export function readNodeId(globalId: string): NodeId {
  try {
    if (globalId.length > MAX_ID_CHARACTERS) throw new Error('too long');
    return decodeGlobalID(globalId);
  } catch {
    throw badInput('This is not an id of this schema. Use the `id` of an object.');
  }
}

/** Counts the calls of an id by its type: an error for each wrong id costs more than the rest. */
function nodeCalls(globalId: string | number): number {
  const begin = Buffer.from(String(globalId).slice(0, MAX_TYPE_CHARACTERS), 'base64').toString();
  return NODE_TYPES.get(begin.split(':', 1)[0] ?? '')?.calls ?? 0;
}

/**
 * Counted once for a list that a document gives at many places. A list that is too long is refused.
 */
const totalNodeCalls = memoize1((ids: readonly (string | number)[]): number =>
  ids
    .slice(0, MAX_REFERENCES)
    .map(nodeCalls)
    .reduce((sum, calls) => sum + calls, 0),
);

/** An object by its global id; null when there is none. @throws GraphQLError BAD_USER_INPUT */
async function findNode(ctx: GatewayContext, info: GraphQLResolveInfo, globalId: string) {
  const { typename, id } = readNodeId(globalId);
  const type = NODE_TYPES.get(typename);
  if (type === undefined) throw badInput('This id names a type that cannot be fetched by id.');
  return withTypename(typename, await type.find(ctx, info, id));
}

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    cost: ({ id }) => ({ calls: nodeCalls(id) }),
    description: 'Any object by its `id`; null when it does not exist any more.',
    args: {
      id: t.arg.id({
        required: true,
        description:
          'The `id` of an object, such as "UHJvdGVpbjoxMmU5YzllNGUyODM1YzMwMmU4YmE2MTUxMTVlZGRhMw==".',
      }),
    },
    resolve: (_, { id }, ctx, info) => findNode(ctx, info, id),
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    cost: ({ ids }) => ({ calls: totalNodeCalls(ids), items: ids.length }),
    description: 'Objects by their ids, in the same order, null where one does not exist.',
    args: { ids: t.arg.idList({ required: true, description: 'The `id`s of objects, at most 1000.' }) },
    resolve: (_, { ids }, ctx, info) => {
      if (ids.length > MAX_REFERENCES)
        throw badInput(`\`ids\` holds more than ${MAX_REFERENCES} ids; ask in several queries.`);
      return ids.map((id) => findNode(ctx, info, id));
    },
  }),
}));
