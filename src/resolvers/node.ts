// node and nodes: global ids back to objects. Each object is found together with what the query selects on it.
import { brandWithType } from '@pothos/core';
import { decodeGlobalID } from '@pothos/plugin-relay';
import type { GraphQLResolveInfo } from 'graphql';
import { builder } from '../builder.ts';
import type { GatewayContext } from '../context.ts';
import { Batch } from '../schema/batch.ts';
import { Cluster } from '../schema/cluster.ts';
import { Feature } from '../schema/feature.ts';
import { Protein } from '../schema/protein.ts';
import { badInput, readHash } from '../schema/scalars.ts';
import { Task } from '../schema/task.ts';
import { loadBatch } from './batch.ts';
import { findCluster } from './cluster.ts';
import { findFeature } from './feature.ts';
import { findProtein } from './protein.ts';
import { selectedNeeds } from './protein-parts.ts';
import { loadTask } from './task.ts';

type Finder = (ctx: GatewayContext, info: GraphQLResolveInfo, id: string) => Promise<object | null>;

/** An object remembers which type it is, so that the interface can be resolved. */
const branded =
  (type: Parameters<typeof brandWithType>[1], find: Finder): Finder =>
  async (ctx, info, id) => {
    const found = await find(ctx, info, id);
    if (found !== null) brandWithType(found, type);
    return found;
  };

const FINDERS: Readonly<Record<string, Finder>> = {
  Protein: branded(Protein, (ctx, info, id) => findProtein(ctx, readHash(id), selectedNeeds(info))),
  Cluster: branded(Cluster, (ctx, info, id) => findCluster(ctx, info, readHash(id))),
  Feature: branded(Feature, (ctx, info, id) =>
    findFeature(ctx, info, /^\d{1,9}$/.test(id) ? Number(id) : -1),
  ),
  Batch: branded(Batch, (ctx, _info, id) => loadBatch(ctx, id)),
  Task: branded(Task, (ctx, _info, id) => loadTask(ctx, id)),
};

function decode(globalId: string): { typename: string; id: string } {
  try {
    return decodeGlobalID(globalId);
  } catch {
    throw badInput('This is no id of this schema. Use the `id` that an object of it gave.');
  }
}

async function findNode(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  globalId: string,
): Promise<object | null> {
  const { typename, id } = decode(globalId);
  const find = Object.hasOwn(FINDERS, typename) ? FINDERS[typename] : undefined;
  if (find === undefined) throw badInput('This id names a type that cannot be fetched by id.');
  return find(ctx, info, id);
}

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    complexity: 1,
    description: 'Any object by its `id`; null when it does not exist any more.',
    args: {
      id: t.arg.id({ required: true, description: 'The `id` of an object, such as "UHJvdGVpbjoxMmU5…".' }),
    },
    resolve: (_, { id }, ctx, info) => findNode(ctx, info, id),
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    complexity: ({ ids }) => ({ field: ids.length, multiplier: ids.length }),
    description: 'Objects by their ids, in the order asked, null where one does not exist.',
    args: { ids: t.arg.idList({ required: true, description: 'Such as the `id`s of several proteins.' }) },
    resolve: (_, { ids }, ctx, info) => {
      if (ids.length > 1000) throw badInput('`ids` holds more than 1000 ids; ask in several queries.');
      return ids.map((id) => findNode(ctx, info, id));
    },
  }),
}));
