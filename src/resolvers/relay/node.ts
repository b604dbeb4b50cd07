// Objects by reference: node and nodes by global id, and the root fields for federation routers
// (Apollo Federation subgraph specification). The finder of a type also loads what the query
// selects.
import { memoize1 } from '@graphql-tools/utils';
import { typeBrandKey } from '@pothos/core';
import { decodeGlobalID } from '@pothos/plugin-relay';
import { GraphQLError, type GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { Batch } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { Cluster, type ClusterRef } from '../../schema/cluster.ts';
import { Feature } from '../../schema/feature.ts';
import { nonNull } from '../../schema/field-options.ts';
import { Protein, type ProteinRef } from '../../schema/protein.ts';
import { badInput, readHash } from '../../schema/scalars.ts';
import { Task } from '../../schema/task.ts';
import { UniprotEntry } from '../../schema/uniprot.ts';
import { findFeature } from '../atlas/feature.ts';
import { findCluster } from '../atlas/load-cluster.ts';
import { findProtein } from '../atlas/load-protein.ts';
import { requiredParts } from '../atlas/look-ahead.ts';
import { findEntry } from '../atlas/uniprot.ts';
import { findBulkLookup } from '../bulk-lookup.ts';
import { FIND_CLUSTER } from '../costs.ts';
import { loadBatch } from '../folds/batch.ts';
import { loadTask } from '../folds/load-task.ts';
import { subgraphSdl } from '../sdl.ts';

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

/** A copy, which gets the name of its type: requests share cached records. */
async function findOwnProtein(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  hash: string,
): Promise<ProteinRef | null> {
  const found = await findProtein(ctx, hash, requiredParts(info));
  return found && { ...found };
}

function readIndex(id: string): number {
  if (!/^\d{1,9}$/.test(id)) throw badInput('The id of a Feature holds its index, such as 4095.');
  return Number(id);
}

/** The types that other subgraphs may refer to. */
const ENTITIES = {
  Protein: {
    key: 'hash',
    calls: 1,
    find: (ctx, info, id) => findOwnProtein(ctx, info, readHash(id)),
  },
  Cluster: {
    key: 'representativeHash',
    calls: FIND_CLUSTER,
    find: (ctx, info, id) => findByRepresentative(ctx, info, readHash(id)),
  },
  Feature: { key: 'index', calls: 1, find: (ctx, info, id) => findFeature(ctx, info, readIndex(id)) },
  Batch: { key: 'batchId', calls: 1, find: (ctx, _info, id) => loadBatch(ctx, id) },
  Task: { key: 'taskId', calls: 2, find: (ctx, _info, id) => loadTask(ctx, id) },
  UniprotEntry: { key: 'accession', calls: 1, find: (ctx, _info, id) => findEntry(ctx, id) },
} satisfies Readonly<Record<string, Referable<object>>>;

type EntityName = keyof typeof ENTITIES;

type EntityShape = NonNullable<Awaited<ReturnType<(typeof ENTITIES)[EntityName]['find']>>>;

/** The types whose objects have global ids. */
const NODES = {
  ...ENTITIES,
  BulkLookup: { key: 'lookupId', calls: 0, find: (ctx, _info, id) => findBulkLookup(ctx, id) },
} satisfies Readonly<Record<string, Referable<object>>>;

type NodeName = keyof typeof NODES;

type NodeShape = NonNullable<Awaited<ReturnType<(typeof NODES)[NodeName]['find']>>>;

/** Far more than any id of a service takes. */
const MAX_ID_CHARACTERS = 2000;

const isEntity = (typename: unknown): typename is EntityName =>
  typeof typename === 'string' && Object.hasOwn(ENTITIES, typename);

const isNode = (typename: string): typename is NodeName => Object.hasOwn(NODES, typename);

/** Brands an object with its type for the interface or union around it. */
async function withType<Shape extends object>(typename: string, finding: Promise<Shape | null>) {
  const found = await finding;
  if (found !== null) Object.defineProperty(found, typeBrandKey, { value: typename });
  return found;
}

const findEntity = (
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  typename: EntityName,
  key: string,
): Promise<EntityShape | null> => withType<EntityShape>(typename, ENTITIES[typename].find(ctx, info, key));

function decode(globalId: string): { typename: string; id: string } {
  try {
    if (globalId.length > MAX_ID_CHARACTERS) throw new Error('too long');
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

/** Once for a list that a document gives at many places, as a variable. Too long a one is refused. */
const callsOfNodes = memoize1((ids: readonly (string | number)[]): number =>
  ids.slice(0, MAX_REFERENCES).reduce<number>((sum, id) => sum + nodeCalls(id), 0),
);

/**
 * The type and the key in a global id.
 *
 * @param expected - the type that the id must have, if only one is allowed
 * @throws GraphQLError BAD_USER_INPUT for an invalid id or one of another type
 */
function readNodeId(
  globalId: string,
  expected?: string,
): { readonly typename: NodeName; readonly id: string } {
  const { typename, id } = decode(globalId);
  if (!isNode(typename)) throw badInput('This id names a type that cannot be fetched by id.');
  if (expected !== undefined && typename !== expected) {
    throw badInput(`This is the id of a ${typename}, not of a ${expected}.`);
  }
  return { typename, id };
}

/** An object by its global id; null when there is none. @throws GraphQLError BAD_USER_INPUT */
async function findNode(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  globalId: string,
): Promise<NodeShape | null> {
  const { typename, id } = readNodeId(globalId);
  return withType<NodeShape>(typename, NODES[typename].find(ctx, info, id));
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
    cost: ({ ids }) => ({ calls: callsOfNodes(ids), items: ids.length }),
    description: 'Objects by their ids, in the same order, null where one does not exist.',
    args: { ids: t.arg.idList({ required: true, description: 'The `id`s of objects, at most 1000.' }) },
    resolve: (_, { ids }, ctx, info) => {
      if (ids.length > MAX_REFERENCES)
        throw badInput(`\`ids\` holds more than ${MAX_REFERENCES} ids; ask in several queries.`);
      return ids.map((id) => findNode(ctx, info, id));
    },
  }),
}));

/** Largest number of ids or references in a query. */
const MAX_REFERENCES = 1000;

builder.scalarType('_Any', {
  description: 'A reference to an object, such as { __typename: "Protein", hash: "12e9c9e4…" }.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

/** The parts of a reference; nothing of any other value. */
const partsOf = (reference: unknown): Readonly<Record<string, unknown>> =>
  typeof reference === 'object' && reference !== null ? { ...reference } : {};

/** Upstream calls to find the objects of references, without their selection; as `callsOfNodes`. */
const callsOfReferences = memoize1((references: readonly unknown[]): number =>
  references.slice(0, MAX_REFERENCES).reduce<number>((sum, reference) => {
    const { __typename: typename } = partsOf(reference);
    return sum + (isEntity(typename) ? ENTITIES[typename].calls : 0);
  }, 0),
);

/** Null when there is none. @throws GraphQLError BAD_USER_INPUT for an invalid reference */
async function findReferenced(ctx: GatewayContext, info: GraphQLResolveInfo, reference: unknown) {
  const { __typename: typename, ...fields } = partsOf(reference);
  if (!isEntity(typename))
    throw badInput(`A representation names one of ${Object.keys(ENTITIES).join(', ')} as its __typename.`);
  const name = ENTITIES[typename].key;
  const key = fields[name];
  if (key == null && typeof fields.id === 'string' && isNode(typename))
    return findEntity(ctx, info, typename, readNodeId(fields.id, typename).id);
  const text = typeof key === 'number' ? String(key) : key;
  if (typeof text === 'string' && text !== '') return findEntity(ctx, info, typename, text);
  throw badInput(
    `A representation of ${typename} carries its \`${name}\`, such as the one this gateway gave.`,
  );
}

const Entity = builder.unionType('_Entity', {
  description: 'The types that other subgraphs may refer to.',
  types: [Batch, Cluster, Feature, Protein, Task, UniprotEntry],
});

const Service = builder.objectRef<{ readonly sdl: string }>('_Service').implement({
  description: 'The input of the composition of a federation router.',
  fields: (t) => ({
    sdl: t.exposeString('sdl', {
      description: 'The schema of this subgraph with its federation directives.',
    }),
  }),
});

/** With introspection disabled only the router may read the schema. */
function checkReader({ isRouter, services: { config } }: GatewayContext): void {
  if (isRouter || config.INTROSPECTION) return;
  throw new GraphQLError(
    'Only the federation router can read the schema: send FEDERATION_TOKEN as `x-federation-token`.',
    { extensions: { code: 'FORBIDDEN', retryable: false } },
  );
}

builder.queryFields((t) => ({
  _service: t.field({
    ...nonNull('For federation routers: the schema of this subgraph.'),
    type: Service,
    resolve: (_, __, ctx, info) => {
      checkReader(ctx);
      return { sdl: subgraphSdl(info.schema) };
    },
  }),
  _entities: t.field({
    type: [Entity],
    nullable: { list: false, items: true },
    cost: ({ representations }) => ({
      calls: callsOfReferences(representations),
      items: representations.length,
    }),
    description:
      'For federation routers: objects by references, in the same order, null where one does not exist. ' +
      `At most ${MAX_REFERENCES}.`,
    args: {
      representations: t.arg({
        type: ['_Any'],
        required: true,
        description: 'References, such as [{ __typename: "Protein", hash: "12e9c9e4…" }].',
      }),
    },
    resolve: (_, { representations }, ctx, info) => {
      if (representations.length > MAX_REFERENCES) {
        throw badInput(
          `\`representations\` holds ${representations.length} references; at most ${MAX_REFERENCES} ` +
            'fit in one query.',
        );
      }
      return representations.map((reference) => findReferenced(ctx, info, reference));
    },
  }),
}));
