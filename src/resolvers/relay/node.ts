// node and nodes: global ids back to objects. Each object is found together with what the query selects on it.
import { brandWithType } from '@pothos/core';
import { decodeGlobalID } from '@pothos/plugin-relay';
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { Batch } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { Cluster, type ClusterRef } from '../../schema/cluster.ts';
import { Feature } from '../../schema/feature.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput, readHash } from '../../schema/scalars.ts';
import { Task } from '../../schema/task.ts';
import { findCluster } from '../atlas/cluster.ts';
import { findFeature } from '../atlas/feature.ts';
import { findProtein } from '../atlas/protein.ts';
import { requiredPartsOf } from '../atlas/protein-parts.ts';
import { FIND_CLUSTER } from '../costs.ts';
import { loadBatch } from '../folds/batch.ts';
import { loadTask } from '../folds/task.ts';

type Finder<Shape extends object> = (
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  id: string,
) => Promise<Shape | null>;

/** An object remembers which type it is, so that the interface can be resolved. */
export const withTypename =
  <Shape extends object>(type: Parameters<typeof brandWithType>[1], find: Finder<Shape>): Finder<Shape> =>
  async (ctx, info, id) => {
    const found = await find(ctx, info, id);
    if (found !== null) brandWithType(found, type);
    return found;
  };

/** Any member names a cluster to `cluster`; as an identity only its representative does. */
async function findByRepresentative(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  hash: string,
): Promise<ClusterRef | null> {
  const found = await findCluster(ctx, info, hash);
  return found?.representative === hash ? found : null;
}

/** How each type is found by what its id encodes. */
export const NODES = {
  Protein: withTypename(Protein, (ctx, info, id) => findProtein(ctx, readHash(id), requiredPartsOf(info))),
  Cluster: withTypename(Cluster, (ctx, info, id) => findByRepresentative(ctx, info, readHash(id))),
  Feature: withTypename(Feature, (ctx, info, id) =>
    findFeature(ctx, info, /^\d{1,9}$/.test(id) ? Number(id) : -1),
  ),
  Batch: withTypename(Batch, (ctx, _info, id) => loadBatch(ctx, id)),
  Task: withTypename(Task, (ctx, _info, id) => loadTask(ctx, id)),
} satisfies Readonly<Record<string, Finder<object>>>;

/** Whatever has a global id. */
export type NodeShape = NonNullable<Awaited<ReturnType<(typeof NODES)[keyof typeof NODES]>>>;

const isNode = (typename: string): typename is keyof typeof NODES => Object.hasOwn(NODES, typename);

function decode(globalId: string): { typename: string; id: string } {
  try {
    return decodeGlobalID(globalId);
  } catch {
    throw badInput('This is no id of this schema. Use the `id` that an object of it gave.');
  }
}

/** Upstream calls that finding an object of each type costs, before anything is selected on it. */
export const NODE_CALLS: Readonly<Record<keyof typeof NODES, number>> = {
  Protein: 1,
  Cluster: FIND_CLUSTER,
  Feature: 1,
  Batch: 1,
  Task: 2,
};

function nodeCalls(globalId: string | number): number {
  try {
    const { typename } = decode(String(globalId));
    return isNode(typename) ? NODE_CALLS[typename] : 0;
  } catch {
    return 0;
  }
}

/**
 * An object by its global id; null when there is none.
 *
 * @param expected - the type that it has to be, where that is known
 * @throws GraphQLError BAD_USER_INPUT for what is no id, or an id of another type
 */
export async function findNode(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  globalId: string,
  expected?: string,
): Promise<NodeShape | null> {
  const { typename, id } = decode(globalId);
  if (!isNode(typename)) throw badInput('This id names a type that cannot be fetched by id.');
  if (expected !== undefined && typename !== expected) {
    throw badInput(`This is the id of a ${typename}, not of a ${expected}.`);
  }
  return NODES[typename](ctx, info, id);
}

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    cost: ({ id }) => ({ calls: nodeCalls(id) }),
    description: 'Any object by its `id`; null when it does not exist any more.',
    args: {
      id: t.arg.id({ required: true, description: 'The `id` of an object, such as "UHJvdGVpbjoxMmU5…".' }),
    },
    resolve: (_, { id }, ctx, info) => findNode(ctx, info, id),
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    cost: ({ ids }) => ({ calls: ids.reduce((sum, id) => sum + nodeCalls(id), 0), items: ids.length }),
    description: 'Objects by their ids, in the order asked, null where one does not exist.',
    args: { ids: t.arg.idList({ required: true, description: 'Such as the `id`s of several proteins.' }) },
    resolve: (_, { ids }, ctx, info) => {
      if (ids.length > 1000) throw badInput('`ids` holds more than 1000 ids; ask in several queries.');
      return ids.map((id) => findNode(ctx, info, id));
    },
  }),
}));
