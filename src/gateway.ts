// The gateway as a function from requests to responses; joins the parts of src/gateway/. It opens
// no port and reads no environment, so that tests can call `gateway.fetch`.
import type { RequestListener } from 'node:http';
import { type Contexts, createContexts } from './gateway/request-context.ts';
import { createServices, type GatewayOptions, type SharedServices } from './gateway/services.ts';
import { connectUpstream, toHostLimits, type UpstreamConnections } from './gateway/upstream.ts';
import { openYoga } from './gateway/yoga.ts';
import { type AccessControl, createAccessControl } from './http/access/access-control.ts';
import type { Operations } from './http/graphql/run-operation.ts';
import { mcpRoute } from './http/mcp/route.ts';
import { createAssets } from './http/pages/assets.ts';
import { type Example, operationNames, readBrowserExamples, readExamples } from './http/pages/examples.ts';
import { batchRoutes } from './http/routes/batches.ts';
import { bulkRoute } from './http/routes/bulk.ts';
import { exportRoutes } from './http/routes/export.ts';
import {
  CHECK_MS,
  healthRoute,
  metricsRoute,
  openReadiness,
  type Readiness,
  readyRoute,
} from './http/routes/health.ts';
import { openapiRoute } from './http/routes/openapi.ts';
import { pageRoutes } from './http/routes/pages.ts';
import type { Route } from './http/routes/route.ts';
import { structureRoute, thumbnailRoute } from './http/routes/structures.ts';
import { taskRoutes } from './http/routes/tasks.ts';
import type { SocketGateway } from './http/websocket/operations.ts';
import { schema } from './resolvers/schema.ts';
import { WrongSecretError } from './store/ledger/mark.ts';
import { openSecret } from './store/ledger/secret-file.ts';
import { UnusableStoreError } from './store/unusable-store.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import { createHostLimiters, type HostLimiters } from './upstream/http/host-limiter.ts';

/** A gateway without a port of its own. */
export interface Gateway extends SocketGateway {
  readonly connections: AccessControl['connections'];
  readonly metrics: Metrics;
  fetch(request: Request): Promise<Response>;
  /** All routes, GraphQL among them, in the order in which they are tried. */
  readonly routes: readonly Route[];
  /** The same as a listener for node:http. */
  readonly listener: RequestListener;
  /** State of the limiters of the service's hosts: calls in flight and queued, breakers, pauses. */
  readonly upstream: HostLimiters['state'];
  /**
   * Checks the ledger. One that has lost what it knew, or cannot be written, is logged: reads go
   * on.
   *
   * @throws WrongSecretError, or Error when the store does not answer
   */
  checkLedger(): Promise<void>;
  /** Checks the store before there is traffic. @throws as `checkLedger` */
  ready(): Promise<void>;
  /** Reads the file of API keys again. */
  reload(): void;
  /**
   * Ends every stream, and those opened from now on, so that clients reconnect to another replica.
   */
  drain(): void;
  /**
   * Waits for submissions on their way, whose clients may have disconnected, until they are
   * recorded.
   */
  submitted(): Promise<void>;
  /** Closes connections and the store. */
  close(): Promise<void>;
}

/** How often silent event streams give a sign of life where the options do not say. */
const PULSE_MS = 12_000;

/** Creates a gateway. Nothing is called before the first request. */
export function createGateway(given: GatewayOptions): Gateway {
  const config = { ...given.config, limits: { ...given.config.limits, ...given.limits } };
  const options = { ...given, config };
  const { log } = options;
  const examples = readExamples();
  const limiters = createHostLimiters(toHostLimits(config, options.breaker), options.clock);
  const metrics = createMetrics({
    pollers: () => services.live.pollers,
    watchers: () => services.live.watchers,
    storeUsage: () => services.ledger.usage(),
    isLedgerLost: () => services.ledger.isLost(),
    limiters: limiters.state,
    connections: () => accessControl.openConnections(),
    inFlight: () => telemetry.inFlight(),
    cacheBytes: () => ({ ...shared.cacheBytes(), ...yoga.cacheBytes() }),
  });
  const telemetry = createTelemetry(log, metrics, operationNames(examples), options.tracing?.tracer);
  const connections = connectUpstream(options, limiters, telemetry);
  const secret = openSecret(config.LEDGER_URL, config.GATEWAY_SECRET);
  const shared = createServices(options, telemetry, connections, secret);
  const { services, loaders, movePrincipal, formerNames } = shared;
  const accessControl = createAccessControl(config, log, telemetry, metrics, secret);
  const { callers } = accessControl;
  const { openUpstream, isSandbox } = connections;
  const contexts = createContexts({
    ...{ services, loaders, movePrincipal, formerNames, callers },
    openUpstream,
  });

  async function checkLedger(): Promise<void> {
    await services.ledger.check().catch((error: unknown) => {
      if (error instanceof WrongSecretError || !(error instanceof UnusableStoreError)) throw error;
      telemetry.storeFailed('ledger', error);
    });
    for (const warning of await services.ledger.warnings()) log.warn(warning);
  }
  let draining = false;
  const readiness = openReadiness({
    store: async () => {
      await services.ledger.check().catch((error: unknown) => {
        telemetry.storeFailed('ledger', error);
        if (error instanceof UnusableStoreError) throw error;
        // Anybody may read this: the address of the store is for the log.
        throw new Error('does not answer; the log says why');
      });
      // A server may forbid INFO to this user: then nothing is said of it.
      return services.ledger.usage().catch(() => undefined);
    },
    upstream: () => connections.reach(CHECK_MS),
    draining: () => draining,
  });
  const mcp = mcpRoute({
    ...{ schema, config, telemetry },
    answerParams: (exchange, params) => graphql.answerParams(exchange, params),
  });
  const named = [
    mcp,
    ...gatewayRoutes(
      {
        ...{ options, connections, shared, contexts, readiness, metrics, accessControl },
        run: (...operation) => operations.run(...operation),
      },
      examples,
    ),
  ];
  const graphqlRoute: Route = {
    path: /^\/graphql$/,
    methods: ['GET', 'HEAD', 'POST'],
    answer: ({ exchange }) => graphql.answer(exchange),
  };
  const routes = [...named, openapiRoute(named, config.PUBLIC_URL), graphqlRoute];
  const { openContext } = contexts;
  const yoga = openYoga({
    ...{ config, log, telemetry, metrics, accessControl, openContext, routes, isSandbox },
    pulseMs: options.pulseMs ?? PULSE_MS,
  });
  const { failures, operations, graphql, listener, fetch } = yoga;
  return {
    accessControl,
    connections: accessControl.connections,
    fetch,
    routes,
    listener,
    failures,
    operations,
    upstream: limiters.state,
    checkLedger,
    async ready() {
      await checkLedger();
      // So that pages say it also before the first call; what fails shows in /ready.
      void connections.checkSandbox().catch(() => undefined);
    },
    metrics,
    telemetry,
    reload: callers.reload,
    drain() {
      draining = true;
      shared.endStreams();
    },
    submitted: services.submitting.ended,
    async close() {
      await accessControl.close();
      shared.endStreams();
      await connections.close();
      await shared.closeStores();
    },
  };
}

interface RouteSources {
  readonly options: GatewayOptions;
  readonly connections: UpstreamConnections;
  readonly shared: SharedServices;
  readonly contexts: Contexts;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Metrics;
  readonly accessControl: AccessControl;
  readonly run: Operations['run'];
}

function metricsRoutes({ options, metrics }: RouteSources): Route[] {
  const { METRICS_PORT, METRICS_TOKEN: token, isProduction } = options.config;
  if (METRICS_PORT !== undefined) return [];
  const { contentType } = metrics;
  return [metricsRoute({ contentType, text: metrics.text }, { token, isOpen: !isProduction })];
}

/** The routes of a gateway. @param examples - as the pages show them */
function gatewayRoutes(sources: RouteSources, examples: readonly Example[]): Route[] {
  const { options, connections, shared, readiness } = sources;
  const { config, sandbox = false, upstreamUrl } = options;
  const { isSandbox } = connections;
  const { openContext, openLink } = sources.contexts;
  const { thumbnails } = shared.services;
  const site = {
    config,
    examples,
    browserExamples: readBrowserExamples(),
    assets: createAssets(),
    isSandbox,
    upstreamHost: sandbox ? null : new URL(upstreamUrl).host,
  };
  return [
    healthRoute,
    readyRoute(readiness),
    ...metricsRoutes(sources),
    ...pageRoutes(site, schema),
    thumbnailRoute(thumbnails, async (exchange) => (await openContext(exchange)).upstream),
    structureRoute(openContext, openLink, config.CACHE_RECORDS_SECONDS),
    taskRoutes(openContext, openLink),
    batchRoutes(openContext),
    bulkRoute(openContext),
    ...exportRoutes({
      config,
      log: options.log,
      access: sources.accessControl,
      run: sources.run,
    }),
  ];
}
