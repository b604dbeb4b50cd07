// Every route beside GraphQL, in the order in which they are tried. It knows no plugin.
import type { GraphQLSchema } from 'graphql';
import { openAssets } from '../assets.ts';
import type { Config } from '../config.ts';
import type { Example } from '../examples.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { Readiness } from '../operations/readiness.ts';
import type { Route } from '../plugins/use-routes.ts';
import { bulkRoutes } from '../routes/bulk.ts';
import { healthRoute, metricsRoute, readyRoute } from '../routes/operations.ts';
import { pageRoutes } from '../routes/pages.ts';
import { structureRoute } from '../routes/structures.ts';
import { taskRoutes } from '../routes/tasks.ts';
import { thumbnailRoute } from '../routes/thumbnails.ts';
import type { OpenContext } from './contexts.ts';
import type { OpenedServices } from './services.ts';
import type { OpenUpstream } from './way-out.ts';

export interface RouteSources extends Pick<OpenedServices, 'services' | 'loaders'> {
  readonly schema: GraphQLSchema;
  readonly examples: readonly Example[];
  readonly sandbox: boolean;
  readonly upstreamUrl: string;
  readonly openUpstream: OpenUpstream;
  readonly openContext: OpenContext;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Metrics;
  /** Where /metrics come from when not from this gateway alone. */
  readonly metricsText: (() => Promise<string>) | undefined;
}

const metricsRoutes = (config: Config, { metrics, metricsText = metrics.text }: RouteSources): Route[] =>
  config.METRICS && config.METRICS_PORT === undefined
    ? [
        metricsRoute(
          { contentType: metrics.contentType, text: metricsText },
          { token: config.METRICS_TOKEN, open: !config.production },
        ),
      ]
    : [];

/** The routes of a gateway. */
export function gatewayRoutes(sources: RouteSources): Route[] {
  const { services, loaders, schema, examples, sandbox, upstreamUrl, readiness } = sources;
  const { openContext, openUpstream } = sources;
  const { config, thumbnails } = services;
  return [
    healthRoute,
    readyRoute(readiness),
    ...metricsRoutes(config, sources),
    ...pageRoutes({
      config,
      schema,
      examples,
      assets: openAssets(),
      sandbox,
      upstreamHost: new URL(upstreamUrl).host,
      thumbnails,
      open(signal) {
        const upstream = openUpstream('front-page', undefined, signal);
        return { upstream, uniprot: loaders(upstream).uniprot };
      },
      readiness,
      picturesOpen: !config.proofNeeded,
    }),
    thumbnailRoute(thumbnails, async (request) => (await openContext(request)).upstream),
    structureRoute(openContext),
    taskRoutes(openContext),
    bulkRoutes(openContext),
  ];
}
