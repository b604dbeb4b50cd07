// Puts the schema together: importing a noun or a verb registers it with the builder. Nothing else may build it.
import './schema/scalars.ts';
import './resolvers/protein.ts';
import './resolvers/structure.ts';
import './resolvers/thumbnail.ts';
import './resolvers/cluster.ts';
import './resolvers/feature.ts';
import './resolvers/protein-features.ts';
import './resolvers/uniprot.ts';
import './resolvers/similarity.ts';
import './resolvers/lookup.ts';
import './resolvers/batch-progress.ts';
import './resolvers/bulk-lookup.ts';
import './resolvers/batch.ts';
import './resolvers/task.ts';
import './resolvers/fold-result.ts';
import './resolvers/submit.ts';
import './resolvers/resubmit.ts';
import './resolvers/cancel.ts';
import './resolvers/check-fold.ts';
import './resolvers/my-batches.ts';
import './resolvers/limits.ts';
import './resolvers/contract-report.ts';
import './resolvers/node.ts';
import './federation/entities.ts';
import { builder } from './builder.ts';
import { apiSchema } from './federation/sdl.ts';

builder.queryType({ description: 'Reads: the protein Atlas, and batches of folds.' });
builder.mutationType({ description: 'Submitting folds and cancelling them; starting bulk look-ups.' });
builder.subscriptionType({ description: 'Progress as it happens, over Server-Sent Events or WebSocket.' });

/** The schema with the root fields for federation routers. */
export const subgraphSchema = builder.toSchema();

/** The schema as clients see it. */
export const schema = apiSchema(subgraphSchema);
