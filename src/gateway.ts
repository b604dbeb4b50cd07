// The gateway as a function from requests to answers: schema, plugins, context, file routes. No socket, no environment:
// everything but listening can be tried through `gateway.fetch`.
import { createHmac } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { GraphQLError } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { openAssets } from './assets.ts';
import { openBulkLookups } from './bulk/bulk.ts';
import { type Caller, openCallers } from './callers/caller.ts';
import { overloaded } from './callers/refusal.ts';
import type { Config } from './config.ts';
import type { GatewayContext, Services } from './context.ts';
import { openContractMetrics } from './doctor/metrics.ts';
import { type ContractWatch, openContractWatch } from './doctor/watch.ts';
import { operationNames, readExamples } from './examples.ts';
import { isRouter } from './federation/router.ts';
import { openLive } from './live/live.ts';
import type { PaceRules } from './live/pace.ts';
import { openAdmission } from './load/admission.ts';
import { openGuesses } from './load/guesses.ts';
import { openPressure, type Pressure } from './load/pressure.ts';
import { openRateLimit } from './load/rate-limit.ts';
import { openPlaces } from './load/streams.ts';
import type { Logger } from './log.ts';
import { type Exchange, marks } from './operations/exchange.ts';
import { type Metrics, openMetrics } from './operations/metrics.ts';
import { CHECK_MS, openReadiness } from './operations/readiness.ts';
import { requestIdOf } from './operations/request-id.ts';
import { openTelemetry, type Telemetry } from './operations/telemetry.ts';
import type { Tracing } from './operations/tracing.ts';
import { openTextCache } from './plugins/document-cache.ts';
import { maskError } from './plugins/errors.ts';
import { guardListener, guardPlugins } from './plugins/guard.ts';
import { useAnswerHeaders } from './plugins/use-answer-headers.ts';
import { useCors } from './plugins/use-cors.ts';
import { useDocumentLimits } from './plugins/use-document-limits.ts';
import { useErrorCodes } from './plugins/use-error-codes.ts';
import { useEventContexts } from './plugins/use-event-contexts.ts';
import { useHttpCache } from './plugins/use-http-cache.ts';
import { useIncrementalDelivery } from './plugins/use-incremental-delivery.ts';
import { useIntrospection } from './plugins/use-introspection.ts';
import { useMediaTypes } from './plugins/use-media-types.ts';
import { useOwnHost } from './plugins/use-own-host.ts';
import { tooMany, useRateLimit } from './plugins/use-rate-limit.ts';
import { useRequestReading } from './plugins/use-request-reading.ts';
import { useRoutes } from './plugins/use-routes.ts';
import { useSecurityHeaders } from './plugins/use-security-headers.ts';
import { useShedding } from './plugins/use-shedding.ts';
import { useStreamLimit } from './plugins/use-stream-limit.ts';
import { type ErrorOwners, useTelemetry } from './plugins/use-telemetry.ts';
import { useTiedStreams } from './plugins/use-tied-streams.ts';
import { useTrustedDocuments } from './plugins/use-trusted-documents.ts';
import { callRecordOf, useUpstreamReport } from './plugins/use-upstream-report.ts';
import { FIXED_LIMITS } from './protocol/document-limits.ts';
import { type Operations, openOperations } from './protocol/operations.ts';
import { bulkRoutes } from './routes/bulk.ts';
import { healthRoute, metricsRoute, readyRoute } from './routes/operations.ts';
import { type PageWorld, pageRoutes } from './routes/pages.ts';
import { structureRoute } from './routes/structures.ts';
import { taskRoutes } from './routes/tasks.ts';
import { thumbnailRoute } from './routes/thumbnails.ts';
import { schema, subgraphSchema } from './schema.ts';
import { openSharedCache } from './store/cache-open.ts';
import { openDocuments } from './store/open-documents.ts';
import { openLedger } from './store/open-ledger.ts';
import { openRates } from './store/open-rates.ts';
import { openSecret } from './store/secret.ts';
import { createSubmissions } from './store/submissions.ts';
import { createBatchReader } from './upstream/batch-reader.ts';
import type { BreakerRules } from './upstream/breaker.ts';
import { openPublicAgent } from './upstream/download.ts';
import { createFoldResults } from './upstream/fold-results.ts';
import { usualGateRules } from './upstream/gate.ts';
import { type Gates, openGates } from './upstream/gates.ts';
import { openAgent, type Upstream } from './upstream/http.ts';
import { createOwned } from './upstream/owned.ts';
import { reach } from './upstream/probe.ts';
import { openReads } from './upstream/reads.ts';
import { settingsOf } from './upstream/settings.ts';
import { deadline } from './upstream/time-limit.ts';

export interface GatewayOptions {
  readonly config: Config;
  /** {base_url} of the service, without a final slash. */
  readonly upstreamUrl: string;
  readonly log: Logger;
  /** Whether the upstream is the embedded sandbox; every answer then says so in `x-sandbox`. */
  readonly sandbox?: boolean;
  /** Who records traces; nobody when absent. Whoever opened it closes it. */
  readonly tracing?: Tracing | undefined;
  /** Where /metrics come from when not from this gateway alone. */
  readonly metricsText?: () => Promise<string>;
  /** How often watched batches are polled; 2 to 30 seconds when absent. */
  readonly pace?: PaceRules;
  /** When the upstream counts as failing, and for how long it is then left alone. */
  readonly breaker?: BreakerRules;
  /** Milliseconds between two signs of life in a silent event stream; 12,000 when absent. */
  readonly pulseMs?: number;
}

export interface Gateway {
  /** Answers one request. */
  fetch(request: Request): Promise<Response>;
  /** The same as a listener for node:http. */
  readonly listener: RequestListener;
  /** Parses, validates and executes with all plugins, for transports other than HTTP. */
  readonly getEnveloped: YogaServerInstance<object, GatewayContext>['getEnveloped'];
  /** The text of the document that a request means. @throws GraphQLError when it names none, or one that is not known */
  readonly documentOf: Operations['documentOf'];
  /** Whether an operation that came by no HTTP may begin. @returns the reason why not */
  admit(request: Request, incoming: IncomingMessage): Promise<GraphQLError | null>;
  /** Whether a request has proved who it is, where that is asked for. */
  isKnown(request: Request, incoming: IncomingMessage): Promise<boolean>;
  /** How much there is to do at present. */
  readonly pressure: Pressure;
  /** What is known of the upstream's condition: calls under way and waiting, breakers, pauses. */
  upstream(): ReturnType<Gates['state']>;
  /** Makes sure that the store answers, before there is traffic, and begins to watch the upstream's contract. @throws Error that says why it does not */
  ready(): Promise<void>;
  /** Reads the file of gateway keys again. */
  reload(): void;
  /** Ends every stream, and every one that is still opened, so that clients go elsewhere: the first step of a shutdown. */
  drain(): void;
  /** What is counted here. */
  readonly metrics: Metrics;
  /** Who is told of requests that come by no HTTP. */
  readonly telemetry: Telemetry;
  /** Closes connections and the store. */
  close(): Promise<void>;
}

/** Makes a gateway. */
export function createGateway(options: GatewayOptions): Gateway {
  const { config, upstreamUrl, log, sandbox = false, pace, breaker, pulseMs = 12_000 } = options;
  const agent = openAgent();
  const publicAgent = openPublicAgent();
  const settings = settingsOf(config, upstreamUrl);
  const gates = openGates({
    ...usualGateRules,
    inFlight: config.UPSTREAM_MAX_IN_FLIGHT,
    queue: config.UPSTREAM_MAX_QUEUE,
    ...(breaker === undefined ? {} : { breaker }),
  });
  const downloads = { publicAgent, gate: gates.files };
  const metrics: Metrics = openMetrics({
    pollers: () => services.live.rooms,
    watchers: () => services.live.watchers + services.bulk.counts().watchers,
    bulkLookups: () => services.bulk.counts().working,
    gates: gates.state,
  });
  const examples = readExamples();
  const telemetry = openTelemetry({
    log,
    metrics,
    knownNames: operationNames(examples),
    tracing: options.tracing,
  });
  const onCacheError = (error: unknown) => telemetry.storeFailed('cache', error);
  const store = openSharedCache(config.STORE_URL, onCacheError);
  const reads = openReads({
    recordSeconds: config.CACHE_RECORDS_SECONDS,
    downloads,
    store,
    onError: onCacheError,
    onLookup: telemetry.lookedUp,
  });
  const secret = openSecret(config.LEDGER_URL, config.GATEWAY_SECRET);

  const openUpstream = (
    requestId: string,
    token: string | undefined,
    signal: AbortSignal | undefined,
    from?: { readonly request: Request; readonly principal: string | null },
  ): Upstream => {
    const record = from && callRecordOf(from.request);
    const hooks = telemetry.hooksOf(requestId, from && telemetry.exchangeOf(from.request));
    return {
      settings,
      agent,
      token,
      requestId,
      signal,
      onAnswer: contract.onAnswer,
      gate: gates.api,
      caller: from?.principal ?? undefined,
      ...record?.hooks,
      ...hooks,
      onCall: (call) => {
        record?.hooks.onCall(call);
        hooks.onCall(call);
      },
    };
  };

  const contract: ContractWatch = openContractWatch({
    openUpstream: (requestId, signal) => openUpstream(requestId, config.UPSTREAM_API_KEY, signal),
    baseUrl: upstreamUrl,
    downloads,
    sandbox,
    minutes: config.CONTRACT_CHECK_MINUTES,
    onDrift: (finding) => countDrift(finding),
    onError: (error) => log.error('contract', { error }),
  });
  const countDrift = openContractMetrics(metrics.registers, contract.report);

  const onFault = (what: string) => (error: unknown) => log.error(what, { error });
  const onLost = (error: unknown) => telemetry.storeFailed('connection', error);
  const documents = openDocuments(config.LEDGER_URL, { onError: onLost });
  const services: Services = {
    config,
    catalogue: reads.catalogue,
    thumbnails: reads.thumbnails,
    downloads,
    ledger: openLedger(config.LEDGER_URL, { onError: onLost }),
    live: openLive({
      documents,
      onError: (error) => telemetry.storeFailed('documents', error),
      ...(pace === undefined ? {} : { pace }),
    }),
    bulk: openBulkLookups({
      documents,
      onError: onFault('bulk look-up'),
      openUpstream: (requestId, callSignal) => openUpstream(requestId, undefined, callSignal),
    }),
    contract,
    log,
    storeFailed: telemetry.storeFailed,
  };
  const rates = openRates(config.STORE_URL, (error) => telemetry.storeFailed('rates', error));
  const limit = openRateLimit({ rates, onError: (error) => telemetry.storeFailed('rates', error) });
  const callers = openCallers({
    config,
    secret,
    guesses: openGuesses(limit, config.AUTH_FAILURES_PER_MINUTE),
    onError: (what, error) => log.error(what, { error: String(error) }),
  });
  const admission = openAdmission({
    limit,
    perMinute: config.RATE_LIMIT_PER_MINUTE,
    hops: config.TRUST_PROXY,
    hide: (address) => createHmac('sha256', secret).update(`address ${address}`).digest('base64url'),
    identify: callers.identify,
    onUnbelieved: () =>
      log.warn('a proxy forwards addresses, but TRUST_PROXY is 0: all who come through it count as one'),
  });
  const pressure = openPressure({
    mostRequests: config.MAX_CONCURRENT_REQUESTS,
    mostDelayMs: config.MAX_EVENT_LOOP_DELAY_MS,
  });
  const contextOf = (request: Request, { token, principal }: Caller): GatewayContext => {
    const requestId = requestIdOf(request);
    telemetry.exchangeOf(request).principal = principal;
    const signal = deadline(request.signal, config.REQUEST_TIMEOUT_MS);
    const upstream = openUpstream(requestId, token, signal, { request, principal });
    const submissions = createSubmissions(services.ledger, principal, config.proofNeeded);
    const owned = createOwned(submissions);
    const batches = createBatchReader(upstream, owned);
    return {
      services,
      requestId,
      principal,
      isRouter: isRouter(request, config.FEDERATION_TOKEN),
      publicUrl: config.PUBLIC_URL ?? new URL(request.url).origin,
      upstream,
      ...reads.loaders(upstream),
      submissions,
      owned,
      batches,
      clientSignal: request.signal,
      fresh: async () => contextOf(request, await callers.again(request)),
      folds: createFoldResults(upstream, services.downloads, batches, submissions),
    };
  };
  const openContext = async (request: Request): Promise<GatewayContext> =>
    contextOf(request, await callers.identify(request));

  let draining = false;
  const readiness = openReadiness({
    store: () => services.ledger.check(),
    upstream: () => reach(agent, upstreamUrl, CHECK_MS),
    needsUpstream: config.READY_REQUIRES_UPSTREAM,
    draining: () => draining,
  });
  /** Which request an error came up in. */
  const owners: ErrorOwners = new WeakMap();
  const counted = new WeakSet<Error>();
  /** What fails before it runs is never masked, and what is masked is seen again in the answer. */
  const countError = (error: Error, owner: Exchange | undefined): void => {
    if (counted.has(error)) return;
    counted.add(error);
    telemetry.failed(codeOf(error), owner);
  };
  const countRefusal = (reason: 'busy' | 'rate') => (error: Error, request: Request) => {
    metrics.refused.inc({ reason });
    countError(error, telemetry.exchangeOf(request));
  };
  const shownError = (error: unknown): Error => {
    const owner = typeof error === 'object' && error !== null ? owners.get(error) : undefined;
    const shown = maskError(
      error,
      (cause) => log.error('masked error', { ...(owner === undefined ? {} : marks(owner)), error: cause }),
      config.INTROSPECTION,
    );
    countError(shown, owner);
    return shown;
  };

  const limits = documentLimits(config);
  const operations = openOperations({
    mode: config.PERSISTED_OPERATIONS,
    listed: config.listedOperations,
    automatic: config.APQ,
    longest: limits.characters,
  });
  const pageWorld: PageWorld = {
    config,
    schema: config.FEDERATION ? subgraphSchema : schema,
    examples,
    assets: openAssets(),
    sandbox,
    upstreamHost: new URL(upstreamUrl).host,
    thumbnails: services.thumbnails,
    open(signal) {
      const upstream = openUpstream('front-page', undefined, signal);
      return { upstream, uniprot: reads.loaders(upstream).uniprot };
    },
    readiness,
    picturesOpen: !config.proofNeeded,
  };
  const yoga = createYoga<object, GatewayContext>({
    schema: config.FEDERATION ? subgraphSchema : schema,
    context: ({ request }) => openContext(request),
    // Requests are read by useRequestReading, which counts bytes too; CORS is useCors'.
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    cors: false,
    parserAndValidationCache: { documentCache: openTextCache(), errorCache: openTextCache() },
    landingPage: false,
    // Ours says more, and is a route like the others.
    healthCheckEndpoint: '/-/yoga',
    logging: false,
    // GraphiQL is a page of ours (routes/graphiql.ts), whose editor comes as files.
    graphiql: false,
    maskedErrors: { maskError: (error) => shownError(error) },
    plugins: guardPlugins(
      [
        useTelemetry(telemetry, owners),
        useAnswerHeaders(sandbox),
        useSecurityHeaders(),
        ...(config.keyForLoopback ? [useOwnHost(config.PUBLIC_URL)] : []),
        useCors(config.CORS_ORIGINS),
        useShedding(pressure, countRefusal('busy')),
        useRateLimit(admission, countRefusal('rate')),
        useRequestReading({ maxBytes: config.MAX_BODY_BYTES, documentOf: operations.documentOf }),
        useTrustedDocuments(operations.check),
        useDocumentLimits(limits, config.INTROSPECTION),
        useErrorCodes((error, request) => countError(error, telemetry.exchangeOf(request))),
        useMediaTypes(pulseMs),
        useUpstreamReport(),
        useHttpCache({
          recordSeconds: config.CACHE_RECORDS_SECONDS,
          proofNeeded: config.proofNeeded,
        }),
        useIntrospection(config.INTROSPECTION),
        useIncrementalDelivery(shownError),
        useEventContexts(),
        useStreamLimit(admission, openPlaces(config.MAX_SUBSCRIPTIONS), config.MAX_SUBSCRIPTIONS),
        useTiedStreams(),
        useRoutes([
          healthRoute,
          readyRoute(readiness),
          ...(config.METRICS && config.METRICS_PORT === undefined
            ? [
                metricsRoute(
                  { contentType: metrics.contentType, text: options.metricsText ?? metrics.text },
                  { token: config.METRICS_TOKEN, open: !config.production },
                ),
              ]
            : []),
          ...pageRoutes(pageWorld),
          thumbnailRoute(services.thumbnails, async (request) => (await openContext(request)).upstream),
          structureRoute(openContext),
          taskRoutes(openContext),
          bulkRoutes(openContext),
        ]),
      ],
      onFault('request'),
    ),
  });
  return {
    fetch: async (request) => yoga.fetch(request),
    listener: guardListener(yoga),
    getEnveloped: yoga.getEnveloped,
    documentOf: operations.documentOf,
    async admit(request, incoming) {
      admission.note(request, incoming);
      if (pressure.isLate) return overloaded();
      const verdict = await admission.spend(request);
      return verdict === null || verdict.allowed ? null : tooMany(verdict);
    },
    async isKnown(request, incoming) {
      admission.note(request, incoming);
      return callers.identify(request).then(
        () => true,
        () => false,
      );
    },
    pressure,
    upstream: gates.state,
    async ready() {
      await services.ledger.check();
      contract.start();
    },
    metrics,
    telemetry,
    reload: callers.reload,
    drain() {
      draining = true;
      services.live.close();
      services.bulk.endWatches();
    },
    close: async () => {
      callers.close();
      pressure.close();
      await rates.close();
      services.live.close();
      await services.bulk.close();
      await contract.close();
      await Promise.all([agent.close(), publicAgent.close()]);
      await services.ledger.close();
      await documents.close();
      await store?.close();
    },
  };
}

const codeOf = (error: Error): string =>
  error instanceof GraphQLError ? String(error.extensions.code) : 'INTERNAL_SERVER_ERROR';

const documentLimits = (config: Config) => ({
  ...FIXED_LIMITS,
  characters: config.MAX_QUERY_CHARACTERS,
  tokens: config.MAX_QUERY_TOKENS,
  aliases: config.MAX_QUERY_ALIASES,
  directives: config.MAX_QUERY_DIRECTIVES,
});
