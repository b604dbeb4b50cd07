// The types whose objects have an id of their own, and how one is found by it. The finder of a type
// also loads what the query selects.
import { typeBrandKey } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import type { BulkLookup } from '../../lookups/bulk-lookup.ts';
import type { BatchShape } from '../../schema/batch.ts';
import type { ClusterRef } from '../../schema/cluster.ts';
import type { FeatureRef } from '../../schema/feature.ts';
import type { ProteinRef } from '../../schema/protein.ts';
import { badInput, readHash } from '../../schema/scalars.ts';
import type { TaskShape } from '../../schema/task.ts';
import type { UniprotRef } from '../../schema/uniprot.ts';
import { findFeature } from '../atlas/feature-catalogue.ts';
import { findCluster } from '../atlas/load-cluster.ts';
import { findProtein } from '../atlas/load-protein.ts';
import { requiredParts } from '../atlas/look-ahead.ts';
import { findEntry } from '../atlas/uniprot.ts';
import { findBulkLookup } from '../bulk-lookup.ts';
import { FIND_CLUSTER } from '../costs.ts';
import { loadBatch } from '../folds/batches/batch.ts';
import { loadTask } from '../folds/tasks/load-task.ts';

export interface ObjectType<Shape extends object> {
  /** The field that names an object; the global id holds the same. */
  readonly key: string;
  /** Upstream calls to find one object, without its selection. */
  readonly calls: number;
  find(ctx: GatewayContext, info: GraphQLResolveInfo, key: string): Promise<Shape | null>;
}

type EntityShape = BatchShape | ClusterRef | FeatureRef | ProteinRef | TaskShape | UniprotRef;

/** A copy, which gets the name of its type: requests share cached records. */
async function findOwnProtein(ctx: GatewayContext, info: GraphQLResolveInfo, hash: string) {
  const found = await findProtein(ctx, hash, requiredParts(info));
  return found && { ...found };
}

/** The id of a Cluster is the hash of its representative; `cluster(hash:)` accepts every member. */
async function findByRepresentative(ctx: GatewayContext, info: GraphQLResolveInfo, hash: string) {
  const found = await findCluster(ctx, info, hash);
  return found?.representative === hash ? found : null;
}

function readIndex(id: string): number {
  if (!/^\d{1,9}$/.test(id)) throw badInput('The id of a Feature holds its index, such as 4095.');
  return Number(id);
}

/** The types that other subgraphs may refer to, by name. */
export const ENTITY_TYPES: ReadonlyMap<string, ObjectType<EntityShape>> = new Map<
  string,
  ObjectType<EntityShape>
>([
  ['Protein', { key: 'hash', calls: 1, find: (ctx, info, id) => findOwnProtein(ctx, info, readHash(id)) }],
  [
    'Cluster',
    {
      key: 'representativeHash',
      calls: FIND_CLUSTER,
      find: (ctx, info, id) => findByRepresentative(ctx, info, readHash(id)),
    },
  ],
  ['Feature', { key: 'index', calls: 1, find: (ctx, info, id) => findFeature(ctx, info, readIndex(id)) }],
  ['Batch', { key: 'batchId', calls: 1, find: (ctx, _info, id) => loadBatch(ctx, id) }],
  ['Task', { key: 'taskId', calls: 2, find: (ctx, _info, id) => loadTask(ctx, id) }],
  ['UniprotEntry', { key: 'accession', calls: 1, find: (ctx, _info, id) => findEntry(ctx, id) }],
]);

/** The types whose objects have global ids, by name. */
export const NODE_TYPES: ReadonlyMap<string, ObjectType<EntityShape | BulkLookup>> = new Map<
  string,
  ObjectType<EntityShape | BulkLookup>
>([
  ...ENTITY_TYPES,
  ['BulkLookup', { key: 'lookupId', calls: 0, find: (ctx, _info, id) => findBulkLookup(ctx, id) }],
]);

/** Largest number of ids or references in a query. */
export const MAX_REFERENCES = 1000;

/** Marks an object with its type, for the interface or union that a field returns. */
export function withTypename<Shape extends object>(typename: string, found: Shape | null): Shape | null {
  return found && Object.defineProperty(found, typeBrandKey, { value: typename });
}
