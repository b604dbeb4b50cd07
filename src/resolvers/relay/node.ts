// node and nodes: objects by global id. The finder of a type also loads what the query selects.
import { typeBrandKey } from '@pothos/core';
import { decodeGlobalID } from '@pothos/plugin-relay';
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { builder } from '../../schema/builder.ts';
import type { ClusterRef } from '../../schema/cluster.ts';
import { badInput, readHash } from '../../schema/scalars.ts';
import { findCluster } from '../atlas/cluster-links.ts';
import { findFeature } from '../atlas/feature.ts';
import { findProtein } from '../atlas/protein.ts';
import { requiredPartsOf } from '../atlas/protein-parts.ts';
import { findEntry } from '../atlas/uniprot.ts';
import { FIND_CLUSTER } from '../costs.ts';
import { loadBatch } from '../folds/batch.ts';
import { loadTask } from '../folds/task.ts';

/** A type whose objects others refer to, and how one is found. */
interface Referable<Shape extends object> {
  /** The field that names an object; the global id holds the same. */
  readonly key: string;
  /** Upstream calls to find one object, without its selection. */
  readonly calls: number;
  find(ctx: GatewayContext, info: GraphQLResolveInfo, key: string): Promise<Shape | null>;
}

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

/** The types with a global id. */
const NODES = {
  Protein: {
    key: 'hash',
    calls: 1,
    find: (ctx, info, id) => findProtein(ctx, readHash(id), requiredPartsOf(info)),
  },
  Cluster: {
    key: 'representativeHash',
    calls: FIND_CLUSTER,
    find: (ctx, info, id) => findByRepresentative(ctx, info, readHash(id)),
  },
  Feature: { key: 'index', calls: 1, find: (ctx, info, id) => findFeature(ctx, info, readIndex(id)) },
  Batch: { key: 'batchId', calls: 1, find: (ctx, _info, id) => loadBatch(ctx, id) },
  Task: { key: 'taskId', calls: 2, find: (ctx, _info, id) => loadTask(ctx, id) },
} satisfies Readonly<Record<string, Referable<object>>>;

/** The types that other subgraphs may refer to: also one that names its objects by key only. */
export const ENTITIES = {
  ...NODES,
  UniprotEntry: { key: 'accession', calls: 1, find: (ctx, _info, id) => findEntry(ctx, id) },
} satisfies Readonly<Record<string, Referable<object>>>;

type EntityName = keyof typeof ENTITIES;

/** An object of one of these types. */
type EntityShape = NonNullable<Awaited<ReturnType<(typeof ENTITIES)[EntityName]['find']>>>;

export const isEntity = (typename: unknown): typename is EntityName =>
  typeof typename === 'string' && Object.hasOwn(ENTITIES, typename);

const isNode = (typename: string): typename is keyof typeof NODES => Object.hasOwn(NODES, typename);

/** Finds an object by its key, and brands it with its type for the interface or union around it. */
export async function findEntity(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  typename: EntityName,
  key: string,
): Promise<EntityShape | null> {
  const found = await ENTITIES[typename].find(ctx, info, key);
  if (found !== null) Object.defineProperty(found, typeBrandKey, { value: typename });
  return found;
}

function decode(globalId: string): { typename: string; id: string } {
  try {
    return decodeGlobalID(globalId);
  } catch {
    throw badInput('This is not an id of this schema. Use the `id` of an object.');
  }
}

function nodeCalls(globalId: string | number): number {
  try {
    const { typename } = decode(String(globalId));
    return isNode(typename) ? NODES[typename].calls : 0;
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
): Promise<EntityShape | null> {
  const { typename, id } = decode(globalId);
  if (!isNode(typename)) throw badInput('This id names a type that cannot be fetched by id.');
  if (expected !== undefined && typename !== expected) {
    throw badInput(`This is the id of a ${typename}, not of a ${expected}.`);
  }
  return findEntity(ctx, info, typename, id);
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
