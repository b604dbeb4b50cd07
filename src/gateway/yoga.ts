// Yoga with its plugins, and the HTTP handler in front of it.
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config.ts';
import type { AccessControl } from '../http/access/access-control.ts';
import { createResponseCache, type ResponseCache } from '../http/cache/response-cache.ts';
import { type AnswerGraphql, createGraphqlHandler } from '../http/graphql/graphql-handler.ts';
import { type ClientErrors, createClientErrors } from '../http/graphql/plugins/client-errors.ts';
import { documentLimits, MAX_DOCUMENT_CHARACTERS } from '../http/graphql/plugins/document-limits.ts';
import { incrementalDelivery } from '../http/graphql/plugins/incremental-delivery.ts';
import { useIntrospection } from '../http/graphql/plugins/introspection.ts';
import {
  createPersistedDocuments,
  type PersistedDocuments,
} from '../http/graphql/plugins/persisted-documents.ts';
import { useSubscriptions } from '../http/graphql/plugins/subscriptions.ts';
import { createOperationOpener, useExecution } from '../http/graphql/plugins/use-execution.ts';
import { useReport } from '../http/graphql/plugins/use-report.ts';
import { createHttpHandler, type HttpHandler } from '../http/handler.ts';
import type { Route } from '../http/routes/route.ts';
import { subgraphSchema } from '../resolvers/schema.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Contexts } from './request-context.ts';

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
function createPlugins(
  { config, openContext }: YogaSources,
  documents: PersistedDocuments,
  cache: ResponseCache,
  errors: ClientErrors,
): Plugin[] {
  const openOperation = createOperationOpener(config, openContext);
  return [
    useReport,
    cache.plugin,
    ...documents.plugins,
    ...documentLimits(config.limits.queryDepth),
    useIntrospection(config.INTROSPECTION),
    errors.plugin,
    ...incrementalDelivery(),
    useExecution(openOperation),
    useSubscriptions(config, openOperation),
  ];
}

/** The server, and what asks it over other transports. */
export interface OpenedYoga {
  readonly yoga: YogaServerInstance<object, object>;
  readonly documents: PersistedDocuments;
  readonly answerGraphql: AnswerGraphql;
  readonly handler: HttpHandler;
}

export function openYoga(sources: YogaSources): OpenedYoga {
  const { config, log, metrics, telemetry } = sources;
  const documents = createPersistedDocuments(config);
  const cache = createResponseCache({ config, maxBytes: config.limits.responseCacheBytes });
  const errors = createClientErrors(log, metrics, telemetry, config.INTROSPECTION);
  const yoga = createYoga({
    schema: subgraphSchema,
    // The context of a request is made when it is executed (useExecution).
    parserAndValidationCache: {
      documentCache: createDocumentCache(),
      errorCache: createDocumentCache(),
    },
    extraParamNames: ['documentId'],
    logging: false,
    maskedErrors: { maskError: errors.mask },
    plugins: createPlugins(sources, documents, cache, errors),
  });
  const { fetchAPI } = yoga;
  const answerGraphql = createGraphqlHandler({ ...sources, yoga, errors });
  const handler = createHttpHandler({ ...sources, errors, cache, answerGraphql, fetchAPI });
  return { yoga, documents, answerGraphql, handler };
}
