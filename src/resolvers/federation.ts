// The root fields for federation routers (Apollo Federation subgraph specification): the schema of
// this subgraph, and objects by references of other subgraphs.
import { memoize1 } from '@graphql-tools/utils';
import { GraphQLError, type GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../context.ts';
import { Batch } from '../schema/batch.ts';
import { builder } from '../schema/builder.ts';
import { Cluster } from '../schema/cluster.ts';
import { Feature } from '../schema/feature.ts';
import { nonNull } from '../schema/field-options.ts';
import { Protein } from '../schema/protein.ts';
import { badInput } from '../schema/scalars.ts';
import { Task } from '../schema/task.ts';
import { UniprotEntry } from '../schema/uniprot.ts';
import { type Fields, isFields } from '../upstream/json/is-fields.ts';
import { readNodeId } from './relay/node.ts';
import { ENTITY_TYPES, MAX_REFERENCES, withTypename } from './relay/object-types.ts';
import { subgraphSdl } from './sdl.ts';

builder.scalarType('_Any', {
  description: 'A reference to an object, such as { __typename: "Protein", hash: "12e9c9e4…" }.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

/** The fields of a reference; none of any other value. */
const readFields = (reference: unknown): Fields => (isFields(reference) ? reference : {});

const readTypename = ({ __typename: typename }: Fields): string =>
  typeof typename === 'string' ? typename : '';

/** Calls to find the objects, without their selection; as `totalNodeCalls` of node.ts. */
const totalReferenceCalls = memoize1((references: readonly unknown[]): number =>
  references
    .slice(0, MAX_REFERENCES)
    .map((reference) => ENTITY_TYPES.get(readTypename(readFields(reference)))?.calls ?? 0)
    .reduce((sum, calls) => sum + calls, 0),
);

/**
 * The key in a reference: its own field, or else the global id.
 *
 * @throws GraphQLError BAD_USER_INPUT
 */
function readKey(typename: string, name: string, fields: Fields): string {
  const key = fields[name];
  if (key == null && typeof fields.id === 'string') {
    const found = readNodeId(fields.id);
    if (found.typename === typename) return found.id;
    throw badInput(`This is the id of a ${found.typename}, not of a ${typename}.`);
  }
  const text = typeof key === 'number' ? String(key) : key;
  if (typeof text === 'string' && text !== '') return text;
  throw badInput(
    `A representation of ${typename} carries its \`${name}\`, such as the one this gateway gave.`,
  );
}

/** Null when there is none. @throws GraphQLError BAD_USER_INPUT for an invalid reference */
async function findReferenced(ctx: GatewayContext, info: GraphQLResolveInfo, reference: unknown) {
  const fields = readFields(reference);
  const typename = readTypename(fields);
  const type = ENTITY_TYPES.get(typename);
  if (type === undefined)
    throw badInput(`A representation names one of ${[...ENTITY_TYPES.keys()].join(', ')} as its __typename.`);
  return withTypename(typename, await type.find(ctx, info, readKey(typename, type.key, fields)));
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
      calls: totalReferenceCalls(representations),
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
