// node and nodes: objects by global id. The finder of a type also loads what the query selects.
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
import { findCluster } from '../atlas/cluster-links.ts';
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

/** Brands an object with its type, so that the Node interface can resolve it. */
export const withTypename =
  <Shape extends object>(type: Parameters<typeof brandWithType>[1], find: Finder<Shape>): Finder<Shape> =>
  async (ctx, info, id) => {
    const found = await find(ctx, info, id);
    if (found !== null) brandWithType(found, type);
    return found;
  };

/** A Cluster id is the hash of the representative; `cluster(hash:)` accepts every member. */
async function findByRepresentative(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  hash: string,
): Promise<ClusterRef | null> {
  const found = await findCluster(ctx, info, hash);
  return found?.representative === hash ? found : null;
}

function readIndex(id: string): number {
  if (!/^\d{1,9}$/.test(id)) throw badInput('The id of a Feature holds its index, such as 4095.');
  return Number(id);
}

/** The finder of each type by its decoded id. */
export const NODES = {
  Protein: withTypename(Protein, (ctx, info, id) => findProtein(ctx, readHash(id), requiredPartsOf(info))),
  Cluster: withTypename(Cluster, (ctx, info, id) => findByRepresentative(ctx, info, readHash(id))),
  Feature: withTypename(Feature, (ctx, info, id) => findFeature(ctx, info, readIndex(id))),
  Batch: withTypename(Batch, (ctx, _info, id) => loadBatch(ctx, id)),
  Task: withTypename(Task, (ctx, _info, id) => loadTask(ctx, id)),
} satisfies Readonly<Record<string, Finder<object>>>;

/** Any object with a global id. */
export type NodeShape = NonNullable<Awaited<ReturnType<(typeof NODES)[keyof typeof NODES]>>>;

const isNode = (typename: string): typename is keyof typeof NODES => Object.hasOwn(NODES, typename);

function decode(globalId: string): { typename: string; id: string } {
  try {
    return decodeGlobalID(globalId);
  } catch {
    throw badInput('This is not an id of this schema. Use the `id` of an object.');
  }
}

/** Upstream calls to find an object of each type, without its selection. */
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
 * @param expected - the type that the id must have, if only one is allowed
 * @throws GraphQLError BAD_USER_INPUT for an invalid id or one of another type
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
    description: 'Objects by their ids, in the same order, null where one does not exist.',
    args: { ids: t.arg.idList({ required: true, description: 'The `id`s of objects, at most 1000.' }) },
    resolve: (_, { ids }, ctx, info) => {
      if (ids.length > 1000) throw badInput('`ids` holds more than 1000 ids; ask in several queries.');
      return ids.map((id) => findNode(ctx, info, id));
    },
  }),
}));
