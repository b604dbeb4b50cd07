// The root fields for federation routers (Apollo Federation subgraph specification): `_service`
// returns the SDL, `_entities` turns references of other subgraphs into objects.
import { GraphQLError, type GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { Batch } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { Cluster } from '../../schema/cluster.ts';
import { Feature } from '../../schema/feature.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { Task } from '../../schema/task.ts';
import { UniprotEntry } from '../../schema/uniprot.ts';
import { ENTITIES, findEntity, findNode, isEntity } from '../relay/node.ts';
import { subgraphSdl } from './sdl.ts';

/** Largest number of references in a query, the same as ids in `nodes`. */
const MAX_REFERENCES = 1000;

builder.scalarType('_Any', {
  description: 'A reference to an object, such as { __typename: "Protein", hash: "12e9c9e4…" }.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

/** The parts of a reference; nothing of any other value. */
const partsOf = (reference: unknown): Readonly<Record<string, unknown>> =>
  typeof reference === 'object' && reference !== null ? { ...reference } : {};

/** Upstream calls to find the object of a reference, without its selection. */
function callsOf(reference: unknown): number {
  const { __typename: typename } = partsOf(reference);
  return isEntity(typename) ? ENTITIES[typename].calls : 0;
}

/**
 * Finds the object of a reference and loads what the query selects on it; null when there is none.
 *
 * @throws GraphQLError BAD_USER_INPUT for an invalid reference; upstream failures unchanged
 */
async function findReferenced(ctx: GatewayContext, info: GraphQLResolveInfo, reference: unknown) {
  const { __typename: typename, ...fields } = partsOf(reference);
  if (!isEntity(typename))
    throw badInput(`A representation names one of ${Object.keys(ENTITIES).join(', ')} as its __typename.`);
  const name = ENTITIES[typename].key;
  const key = fields[name];
  if (key == null && typeof fields.id === 'string' && typename !== 'UniprotEntry')
    return findNode(ctx, info, fields.id, typename);
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
    type: Service,
    nullable: false,
    description: 'For federation routers: the schema of this subgraph.',
    resolve: (_, __, ctx, info) => {
      checkReader(ctx);
      return { sdl: subgraphSdl(info.schema) };
    },
  }),
  _entities: t.field({
    type: [Entity],
    nullable: { list: false, items: true },
    cost: ({ representations }) => ({
      calls: representations.reduce<number>((sum, one) => sum + callsOf(one), 0),
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
