// Builds the schema. Importing a file of types or resolvers registers it with the builder.
import '../schema/scalars.ts';
import './atlas/protein.ts';
import './atlas/uniprot.ts';
import './atlas/protein-names.ts';
import './atlas/structure.ts';
import './atlas/thumbnail.ts';
import './atlas/cluster.ts';
import './atlas/feature.ts';
import './atlas/feature-catalogue.ts';
import './atlas/protein-features.ts';
import './atlas/similarity.ts';
import './atlas/lookup.ts';
import './folds/batches/batch.ts';
import './folds/batches/my-batches.ts';
import './folds/batches/batch-progress.ts';
import './bulk-lookup.ts';
import './start-bulk-lookup.ts';
import './folds/batches/task.ts';
import './folds/scores/fold-scores.ts';
import './folds/submit/submit.ts';
import './folds/submit/check-fold.ts';
import './folds/cancel/cancel.ts';
import './service.ts';
import './relay/node.ts';
import './federation.ts';
import { GraphQLDeferDirective, GraphQLStreamDirective } from '@graphql-tools/utils';
import { specifiedDirectives } from 'graphql';
import { boundEnums } from '../schema/bound-enums.ts';
import { builder } from '../schema/builder.ts';
import { apiSchema } from './sdl.ts';

builder.queryType({ description: 'Reads of the protein Atlas and of batches of folds.' });
builder.mutationType({ description: 'Submits and cancels folds; starts and cancels bulk look-ups.' });
builder.subscriptionType({ description: 'Live progress, over Server-Sent Events or WebSocket.' });

/** A gateway whose schema lacked @defer or @stream would make and validate a copy that has them. */
export const subgraphSchema = builder.toSchema({
  directives: [...specifiedDirectives, GraphQLDeferDirective, GraphQLStreamDirective],
});

boundEnums(subgraphSchema);

export const schema = apiSchema(subgraphSchema);
