// The Atlas side of the sandbox as one Hono app: every route of the spec's Atlas table under the
// prefix, and the signed downloads of bulk jobs.
import { Hono } from 'hono';
import { createBulkJobs } from './bulk-jobs.ts';
import { addBulkRoutes } from './bulk-routes.ts';
import { addClusterRoutes } from './cluster-routes.ts';
import type { AtlasContext, AtlasDependencies } from './context.ts';
import { addDownloadRoutes } from './download-routes.ts';
import { addFeatureRoutes } from './feature-routes.ts';
import { createFoldingState } from './folding-state.ts';
import { addProteinRoutes } from './protein-routes.ts';
import { refusal } from './refusals.ts';
import { addSimilarityRoutes } from './similarity-routes.ts';
import { structures } from './structures.ts';
import { addThumbnailRoutes } from './thumbnail-routes.ts';
import { addUniprotRoutes } from './uniprot-routes.ts';

/** Every Atlas route under the prefix, plus GET /downloads/bulk/{jobId}.zip. */
export function createAtlasApp(dependencies: AtlasDependencies): Hono {
  const context: AtlasContext = {
    ...dependencies,
    structures,
    folding: createFoldingState(dependencies.database),
  };
  const jobs = createBulkJobs(context);
  const app = new Hono();
  addFeatureRoutes(app, context);
  addClusterRoutes(app, context);
  addBulkRoutes(app, context, jobs);
  addProteinRoutes(app, context);
  addThumbnailRoutes(app, context);
  addUniprotRoutes(app, context);
  addSimilarityRoutes(app, context);
  addDownloadRoutes(app, context, jobs);
  app.all(`${context.wire.atlasPrefix}/*`, (c) => {
    const methods = context.routes.at(c.req.path).map(({ method }) => method);
    if (methods.length === 0) return refusal(404, 'Not Found');
    return refusal(405, 'Method Not Allowed', { allow: [...new Set(methods)].join(', ') });
  });
  return app;
}
