// The gateway as a function from requests to responses; joins the parts of src/gateway/. It opens
// no port and reads no environment, so that tests can call `gateway.fetch`.
import type { Config } from './config.ts';
import { createContextFactory } from './gateway/request-context.ts';
import { gatewayRoutes } from './gateway/routes.ts';
import { createServices } from './gateway/services.ts';
import { connectUpstream, createHostLimiters } from './gateway/upstream-connections.ts';
import { type GatewayYoga, openYoga } from './gateway/yoga.ts';
import { type AccessControl, createAccessControl } from './http/access-control.ts';
import type { PersistedOperations } from './http/graphql/persisted-operations.ts';
import type { HttpHandler } from './http/limits/http-server.ts';
import { operationNames, readExamples } from './http/pages/examples.ts';
import { CHECK_MS, openReadiness } from './http/routes/health.ts';
import type { PollScheduleOptions } from './progress/snapshot.ts';
import { schema, subgraphSchema } from './resolvers/schema.ts';
import { openSecret } from './store/ledger/principal-key.ts';
import type { Logger } from './telemetry/log.ts';
import { type Metrics, openMetrics } from './telemetry/metrics.ts';
import { openTelemetry, type Telemetry } from './telemetry/telemetry.ts';
import type { Tracing } from './telemetry/tracing.ts';
import type { BreakerRules } from './upstream/http/backoff.ts';
import type { Gates } from './upstream/http/host-limiter.ts';

export interface GatewayOptions {
  readonly config: Config;
  /** {base_url} of the service, without a final slash. */
  readonly upstreamUrl: string;
  readonly log: Logger;
  /**
   * The key of `openPrincipalKey`, which hashes tokens into the names of callers. When absent, the
   * secret itself: enough for a store that no other gateway uses.
   */
  readonly principalKey?: string;
  /**
   * Whether the upstream is the embedded sandbox. Over any sandbox every answer has the header
   * `x-sandbox`.
   */
  readonly sandbox?: boolean;
  /** Records traces; the caller that created it closes it. */
  readonly tracing?: Tracing | undefined;
  /** Where /metrics come from when not from this gateway alone. */
  readonly metricsText?: () => Promise<string>;
  /** How often watched batches are polled; 2 to 30 seconds when absent. */
  readonly pace?: PollScheduleOptions;
  /** When the upstream counts as failing, and for how long it is then left alone. */
  readonly breaker?: BreakerRules;
  /** Milliseconds between two signs of life in a silent event stream; 12,000 when absent. */
  readonly pulseMs?: number;
}

export interface Gateway
  extends Pick<AccessControl, 'admit' | 'connections' | 'enter' | 'identify' | 'inTurn' | 'pressure'> {
  /** Answers one request. */
  fetch(request: Request): Promise<Response>;
  /** The same as a listener for node:http. */
  readonly listener: HttpHandler['listener'];
  /** Parses, validates and executes with all plugins, for transports other than HTTP. */
  readonly getEnveloped: GatewayYoga['getEnveloped'];
  /**
   * The document text of a request.
   *
   * @throws GraphQLError when the request names none, or an unknown one
   */
  readonly documentOf: PersistedOperations['documentOf'];
  /** What is known of the upstream's condition: calls under way and waiting, breakers, pauses. */
  upstream(): ReturnType<Gates['state']>;
  /**
   * Checks the store before there is traffic, then starts the contract watch.
   *
   * @throws Error when it fails
   */
  ready(): Promise<void>;
  /** Reads the file of gateway keys again. */
  reload(): void;
  /**
   * Ends every stream, and those opened from now on, so that clients reconnect to another replica.
   */
  drain(): void;
  /** What is counted here. */
  readonly metrics: Metrics;
  /** Records requests of other transports, such as WebSocket. */
  readonly telemetry: Telemetry;
  /** Closes connections and the store. */
  close(): Promise<void>;
}

/** Makes a gateway. */
export function createGateway(options: GatewayOptions): Gateway {
  const { config, upstreamUrl, log, sandbox = false, pace, pulseMs = 12_000 } = options;
  const examples = readExamples();
  const gates = createHostLimiters(config, options.breaker);
  const metrics: Metrics = openMetrics({
    pollers: () => services.live.rooms,
    watchers: () => services.live.watchers + services.bulk.counts().watchers,
    bulkLookups: () => services.bulk.counts().working,
    bulkBytes: () => services.bulk.storedBytes(),
    storeUsage: () => services.ledger.usage(),
    gates: gates.state,
    load: () => accessControl.load(),
  });
  const telemetry = openTelemetry({
    log,
    metrics,
    knownNames: operationNames(examples),
    tracing: options.tracing,
  });
  const connections = connectUpstream({ config, upstreamUrl, sandbox, log, gates, metrics, telemetry });
  const { openUpstream, contract, isSandbox } = connections;
  const secret = options.principalKey ?? openSecret(config.LEDGER_URL, config.GATEWAY_SECRET);
  const opened = createServices({ config, log, telemetry, upstreamUrl, connections, secret, pace });
  const { services, loaders } = opened;
  const accessControl = createAccessControl(config, log, telemetry, metrics, secret);
  const { callers } = accessControl;
  const contexts = createContextFactory({ services, loaders, callers, telemetry, openUpstream });

  let draining = false;
  const readiness = openReadiness({
    store: async () => {
      await services.ledger.check();
      // A server may forbid INFO to this user: then nothing is said of it.
      return services.ledger.usage().catch(() => undefined);
    },
    upstream: () => connections.reach(CHECK_MS),
    needsUpstream: config.READY_REQUIRES_UPSTREAM,
    draining: () => draining,
  });
  const routes = gatewayRoutes({
    services,
    loaders,
    schema,
    examples,
    embeddedSandbox: sandbox,
    isSandbox,
    upstreamUrl,
    openUpstream,
    openContext: contexts.open,
    openLink: contexts.openLink,
    readiness,
    metrics,
    metricsText: options.metricsText,
  });
  const { yoga, operations, listener } = openYoga({
    config,
    log,
    telemetry,
    metrics,
    accessControl,
    openContext: contexts.open,
    routes,
    schema: config.FEDERATION ? subgraphSchema : schema,
    publicSchema: schema,
    isSandbox,
    pulseMs,
  });
  const { admit, connections: accepted, enter, identify, inTurn, pressure } = accessControl;
  return {
    fetch: async (request) => yoga.fetch(request),
    listener,
    getEnveloped: yoga.getEnveloped,
    documentOf: operations.documentOf,
    admit,
    connections: accepted,
    enter,
    identify,
    inTurn,
    pressure,
    upstream: gates.state,
    async ready() {
      await services.ledger.check();
      contract.start();
      // So that pages say it also before the first call; what fails shows in /ready.
      void connections.checkSandbox().catch(() => undefined);
    },
    metrics,
    telemetry,
    reload: callers.reload,
    drain() {
      draining = true;
      opened.endStreams();
    },
    close: async () => {
      await accessControl.close();
      await opened.stop();
      await connections.close();
      await opened.closeStores();
    },
  };
}
