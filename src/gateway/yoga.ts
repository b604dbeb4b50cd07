// Yoga with its plugins and, in front of it, the node:http listener: request limits first, then the
// response cache. Plugins of the gateway replace Yoga's own request parsing, CORS and error masking.
import type { RequestListener } from 'node:http';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config.ts';
import type { AccessControl } from '../http/access-control.ts';
import { loopbackRefusal } from '../http/auth/loopback.ts';
import { destroyResponse, refuseTarget } from '../http/limits/http-server.ts';
import { limitRequests } from '../http/limits/request-limits.ts';
import { documentLimits, MAX_DOCUMENT_CHARACTERS } from '../http/plugins/document-limits.ts';
import { createClientErrors } from '../http/plugins/errors.ts';
import { incrementalDelivery } from '../http/plugins/incremental-delivery.ts';
import { useIntrospection } from '../http/plugins/introspection.ts';
import { createPersistedDocuments, type PersistedDocuments } from '../http/plugins/persisted-documents.ts';
import { useRequestReader } from '../http/plugins/request-reader.ts';
import { useResultWriter } from '../http/plugins/result-writer.ts';
import { useSubscriptions } from '../http/plugins/subscriptions.ts';
import { createOperationOpener, useExecution } from '../http/plugins/use-execution.ts';
import { useHttp } from '../http/plugins/use-http.ts';
import { normalizeTarget } from '../http/request-target.ts';
import { createResponseCache, type ResponseCache } from '../http/response-cache.ts';
import type { Route } from '../http/routes/route.ts';
import { subgraphSchema } from '../resolvers/schema.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Contexts } from './request-context.ts';

export type GatewayYoga = YogaServerInstance<object, object>;

export interface YogaSources {
  readonly config: Config;
  readonly log: Logger;
  readonly telemetry: Telemetry;
  readonly metrics: Metrics;
  readonly accessControl: AccessControl;
  readonly openContext: Contexts['openContext'];
  readonly routes: readonly Route[];
  readonly isSandbox: () => boolean;
  /** Milliseconds between two signs of life in a silent event stream. */
  readonly pulseMs: number;
}

/** A parsed document takes about a hundred times as many bytes as its text has characters. */
const MAX_CACHED_CHARACTERS = 1_000_000;

const createDocumentCache = <T extends object>() =>
  new LRUCache<string, T>({
    maxSize: MAX_CACHED_CHARACTERS,
    maxEntrySize: MAX_DOCUMENT_CHARACTERS / 2,
    sizeCalculation: (_, text) => Math.max(1, text.length),
  });

/**
 * The plugins in the order in which they see a request. It is part of the behaviour: a refusal must
 * come before the work it saves.
 */
function createPlugins(sources: YogaSources, documents: PersistedDocuments, cache: ResponseCache) {
  const { config, log, metrics, telemetry } = sources;
  const errors = createClientErrors(log, metrics, telemetry, config.INTROSPECTION);
  const openOperation = createOperationOpener(config, sources.openContext);
  const plugins: Plugin[] = [
    useHttp({ ...sources, errors, cache }),
    cache.plugin,
    useRequestReader(config, sources.accessControl.callers),
    ...documents.plugins,
    ...documentLimits(config.MAX_QUERY_DEPTH),
    useIntrospection(config.INTROSPECTION),
    errors.plugin,
    ...incrementalDelivery(),
    useResultWriter(config, sources.pulseMs),
    useExecution(openOperation),
    useSubscriptions(config, openOperation, sources.accessControl.callers),
  ];
  return { plugins, errors };
}

/** Makes the server, and what asks it over other transports. */
export function openYoga(sources: YogaSources) {
  const { config } = sources;
  const documents = createPersistedDocuments(config);
  const cache = createResponseCache({
    config,
    maxBytes: config.limits.responseCacheBytes,
    telemetry: sources.telemetry,
    onFault: (error) => sources.log.error({ error }, 'request'),
  });
  const { plugins, errors } = createPlugins(sources, documents, cache);
  const yoga: GatewayYoga = createYoga<object, object>({
    schema: subgraphSchema,
    // The context of a request is made when it is executed (useExecution).
    // Requests are read by useRequestReader, within the limits of bytes; CORS is useHttp's.
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    cors: false,
    parserAndValidationCache: {
      documentCache: createDocumentCache(),
      errorCache: createDocumentCache(),
    },
    landingPage: false,
    // Off: Yoga would answer each URL that ends so before our plugins see it, and none ends in a space.
    healthCheckEndpoint: ' ',
    logging: false,
    // GraphiQL is a page of ours (http/routes/pages.ts), whose editor comes as files.
    graphiql: false,
    maskedErrors: { maskError: errors.show },
    plugins,
  });
  return { yoga, documents, listener: gatewayListener(sources, yoga, cache) };
}

function gatewayListener(
  { config, accessControl, log }: YogaSources,
  yoga: GatewayYoga,
  cache: ResponseCache,
): RequestListener {
  const cached = cache.wrap(yoga);
  // The cache must not answer a request that useHttp refuses.
  const answer: RequestListener = (req, res) =>
    (config.keyForLoopback && loopbackRefusal(req.headers) !== null ? yoga : cached)(req, res);
  const limited = limitRequests(answer, config, accessControl, (error, res) => {
    log.error({ error }, 'request');
    destroyResponse(res);
  });
  return (request, response) => {
    if (normalizeTarget(request)) limited(request, response);
    else refuseTarget(response);
  };
}
