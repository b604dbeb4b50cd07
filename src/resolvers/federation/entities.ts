// The two root fields by which a federation router speaks to this gateway (Apollo Federation subgraph specification):
// `_service` tells the schema, `_entities` turns references of other subgraphs into objects. Printing is sdl.ts's work,
// finding that of references.ts.
import { GraphQLError } from 'graphql';
import type { GatewayContext } from '../../context.ts';
import { Batch } from '../../schema/batch.ts';
import { builder } from '../../schema/builder.ts';
import { Cluster } from '../../schema/cluster.ts';
import { Feature } from '../../schema/feature.ts';
import { Protein } from '../../schema/protein.ts';
import { badInput } from '../../schema/scalars.ts';
import { Task } from '../../schema/task.ts';
import { UniprotEntry } from '../../schema/uniprot.ts';
import { costOf, findReferenced } from './references.ts';
import { subgraphSdl } from './sdl.ts';

/** References in one query at most, as many as ids in `nodes`. */
const MOST_REFERENCES = 1000;

builder.scalarType('_Any', {
  description: 'A reference to an object, such as { __typename: "Protein", hash: "12e9c9e4…" }.',
  serialize: (value) => value,
  parseValue: (value) => value,
});

const Entity = builder.unionType('_Entity', {
  description: 'Everything that other subgraphs may refer to.',
  types: [Batch, Cluster, Feature, Protein, Task, UniprotEntry],
});

const Service = builder.objectRef<{ readonly sdl: string }>('_Service').implement({
  description: 'What a federation router composes.',
  fields: (t) => ({
    sdl: t.exposeString('sdl', {
      description: 'The schema of this subgraph with its federation directives.',
    }),
  }),
});

/** With introspection closed nobody but the router may read the schema. */
function checkReader({ isRouter, services: { config } }: GatewayContext): void {
  if (isRouter || config.INTROSPECTION) return;
  throw new GraphQLError(
    'The schema is told to the federation router only: send FEDERATION_TOKEN as `x-federation-token`.',
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
    cost: ({ representations }) => ({ calls: costOf(representations), items: representations.length }),
    description: `For federation routers: objects by references, in the order asked, null where one does not exist. At most ${MOST_REFERENCES}.`,
    args: {
      representations: t.arg({
        type: ['_Any'],
        required: true,
        description: 'Such as [{ __typename: "Protein", hash: "12e9c9e4…" }].',
      }),
    },
    resolve: (_, { representations }, ctx, info) => {
      if (representations.length > MOST_REFERENCES) {
        throw badInput(
          `\`representations\` holds ${representations.length} references; at most ${MOST_REFERENCES} fit in one query.`,
        );
      }
      return representations.map((reference) => findReferenced(ctx, info, reference));
    },
  }),
}));
