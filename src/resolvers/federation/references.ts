// From a reference of another subgraph to the object here: which types may be referred to, by which keys, and what that costs.
// Finding is done by the same functions and loaders as everywhere; it knows no GraphQL type but by name.
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { badInput } from '../../schema/scalars.ts';
import { UniprotEntry, type UniprotRef } from '../../schema/uniprot.ts';
import { findEntry } from '../atlas/uniprot.ts';
import { findNode, NODE_CALLS, NODES, type NodeShape, withTypename } from '../relay/node.ts';

/** Whatever may be referred to. */
type Referable = NodeShape | UniprotRef;

/** A type that other subgraphs may refer to. */
interface Entity {
  /** The field that a reference names it by; types of `NODES` may be named by `id` as well. */
  readonly key: string;
  /** Upstream calls that finding one costs. */
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

/** Upstream calls that the objects behind these references cost, before anything is selected on them. */
export const costOf = (references: readonly unknown[]): number =>
  references.reduce<number>((sum, one) => sum + (entityOf(record(one).__typename)?.cost ?? 0), 0);

/**
 * The object that a reference means, found together with what the query selects on it; null when there is none.
 *
 * @throws GraphQLError BAD_USER_INPUT for what is no reference to a type of ours; failures of the upstream as they come
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
