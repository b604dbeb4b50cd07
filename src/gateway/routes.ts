// The HTTP routes other than GraphQL, in the order in which they are tried.
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config.ts';
import type { OpenLink } from '../http/auth/signed-links.ts';
import { openAssets } from '../http/pages/assets.ts';
import type { Example } from '../http/pages/examples.ts';
import type { Route } from '../http/plugins/answer-route.ts';
import { batchRoutes } from '../http/routes/batches.ts';
import { bulkRoutes } from '../http/routes/bulk.ts';
import { healthRoute, metricsRoute, type Readiness, readyRoute } from '../http/routes/health.ts';
import { pageRoutes } from '../http/routes/pages.ts';
import { structureRoute, thumbnailRoute } from '../http/routes/structures.ts';
import { taskRoutes } from '../http/routes/tasks.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { OpenContext } from './request-context.ts';
import type { SharedServices } from './services.ts';
import type { OpenUpstream } from './upstream-connections.ts';

export interface RouteSources extends Pick<SharedServices, 'services' | 'loaders'> {
  readonly schema: GraphQLSchema;
  readonly examples: readonly Example[];
  readonly embeddedSandbox: boolean;
  readonly isSandbox: () => boolean;
  readonly upstreamUrl: string;
  readonly openUpstream: OpenUpstream;
  readonly openContext: OpenContext;
  readonly openLink: OpenLink;
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
  const { services, loaders, schema, examples, embeddedSandbox, isSandbox, upstreamUrl, readiness } = sources;
  const { openContext, openLink, openUpstream } = sources;
  const { config, thumbnails } = services;
  const pages = pageRoutes({
    config,
    schema,
    examples,
    assets: openAssets(),
    isSandbox,
    upstreamHost: embeddedSandbox ? null : new URL(upstreamUrl).host,
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
    ...metricsRoutes(config, sources),
    ...pages.routes,
    thumbnailRoute(thumbnails, async (request) => (await openContext(request)).upstream),
    structureRoute(openContext, openLink),
    taskRoutes(openContext, openLink),
    batchRoutes(openContext),
    bulkRoutes(openContext),
    pages.missing,
  ];
}
