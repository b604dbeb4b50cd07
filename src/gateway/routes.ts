// The HTTP routes other than GraphQL, in the order in which they are tried.
import { openAssets } from '../http/pages/assets.ts';
import type { Example } from '../http/pages/examples.ts';
import type { Route } from '../http/plugins/answer-route.ts';
import { batchRoutes } from '../http/routes/batches.ts';
import { bulkRoutes } from '../http/routes/bulk.ts';
import { healthRoute, metricsRoute, type Readiness, readyRoute } from '../http/routes/health.ts';
import { pageRoutes } from '../http/routes/pages.ts';
import { structureRoute, thumbnailRoute } from '../http/routes/structures.ts';
import { taskRoutes } from '../http/routes/tasks.ts';
import { schema } from '../resolvers/schema.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Contexts } from './request-context.ts';
import type { GatewayOptions, SharedServices, UpstreamConnections } from './services.ts';

export interface RouteSources {
  readonly options: GatewayOptions;
  readonly connections: UpstreamConnections;
  readonly shared: SharedServices;
  readonly contexts: Contexts;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Metrics;
}

function metricsRoutes({ options, metrics }: RouteSources): Route[] {
  const { METRICS, METRICS_PORT, METRICS_TOKEN: token, production } = options.config;
  if (!METRICS || METRICS_PORT !== undefined) return [];
  const { contentType } = metrics;
  return [
    metricsRoute({ contentType, text: options.metricsText ?? metrics.text }, { token, open: !production }),
  ];
}

/** The routes of a gateway. @param examples - as the pages show them */
export function gatewayRoutes(sources: RouteSources, examples: readonly Example[]): Route[] {
  const { options, connections, shared, readiness } = sources;
  const { config, sandbox = false, upstreamUrl } = options;
  const { openUpstream, isSandbox } = connections;
  const { openContext, openLink } = sources.contexts;
  const { loaders } = shared;
  const { thumbnails } = shared.services;
  const pages = pageRoutes({
    config,
    schema,
    examples,
    assets: openAssets(),
    isSandbox,
    upstreamHost: sandbox ? null : new URL(upstreamUrl).host,
    thumbnails,
    open(signal) {
      const upstream = openUpstream('front-page', undefined, signal);
      return { upstream, uniprot: loaders(upstream).uniprot };
    },
    readiness,
    picturesOpen: !config.proofNeeded,
  });
  return [
    healthRoute,
    readyRoute(readiness),
    ...metricsRoutes(sources),
    ...pages.routes,
    thumbnailRoute(thumbnails, async (request) => (await openContext(request)).upstream),
    structureRoute(openContext, openLink),
    taskRoutes(openContext, openLink),
    batchRoutes(openContext),
    bulkRoutes(openContext),
    pages.missing,
  ];
}
