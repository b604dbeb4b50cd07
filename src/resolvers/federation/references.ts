// Finds the object of a reference from another subgraph: the types and keys that a reference may
// have, and its cost.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { badInput } from '../../schema/scalars.ts';
import { UniprotEntry, type UniprotRef } from '../../schema/uniprot.ts';
import { findEntry } from '../atlas/uniprot.ts';
import { findNode, NODE_CALLS, NODES, type NodeShape, withTypename } from '../relay/node.ts';

type Referable = NodeShape | UniprotRef;

/** A type that other subgraphs may refer to. */
interface Entity {
  /** The key field; types of `NODES` also accept `id`. */
  readonly key: string;
  /** Upstream calls to find one object. */
  readonly cost: number;
  find(ctx: GatewayContext, info: GraphQLResolveInfo, key: string): Promise<Referable | null>;
}

const ENTITIES: Readonly<Record<string, Entity>> = {
  Protein: { key: 'hash', cost: NODE_CALLS.Protein, find: NODES.Protein },
  Cluster: { key: 'representativeHash', cost: NODE_CALLS.Cluster, find: NODES.Cluster },
  Feature: { key: 'index', cost: NODE_CALLS.Feature, find: NODES.Feature },
  Batch: { key: 'batchId', cost: NODE_CALLS.Batch, find: NODES.Batch },
  Task: { key: 'taskId', cost: NODE_CALLS.Task, find: NODES.Task },
  UniprotEntry: {
    key: 'accession',
    cost: 1,
    find: withTypename(UniprotEntry, (ctx, _info, accession) => findEntry(ctx, accession)),
  },
};

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

function entityOf(typename: unknown): Entity | undefined {
  return typeof typename === 'string' && Object.hasOwn(ENTITIES, typename) ? ENTITIES[typename] : undefined;
}

/** Upstream calls to find the objects of these references, without their selections. */
export const costOf = (references: readonly unknown[]): number =>
  references.reduce<number>((sum, one) => sum + (entityOf(record(one).__typename)?.cost ?? 0), 0);

/**
 * Finds the object of a reference and loads what the query selects on it; null when there is none.
 *
 * @throws GraphQLError BAD_USER_INPUT for an invalid reference; upstream failures unchanged
 */
export async function findReferenced(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  reference: unknown,
): Promise<Referable | null> {
  const { __typename: typename, ...fields } = record(reference);
  const entity = entityOf(typename);
  if (entity === undefined || typeof typename !== 'string') {
    throw badInput(`A representation names one of ${Object.keys(ENTITIES).join(', ')} as its __typename.`);
  }
  const key = fields[entity.key];
  if (key == null && typeof fields.id === 'string' && Object.hasOwn(NODES, typename)) {
    return findNode(ctx, info, fields.id, typename);
  }
  const text = typeof key === 'number' ? String(key) : key;
  if (typeof text === 'string' && text !== '') return entity.find(ctx, info, text);
  throw badInput(
    `A representation of ${typename} carries its \`${entity.key}\`, such as the one this gateway gave.`,
  );
}
