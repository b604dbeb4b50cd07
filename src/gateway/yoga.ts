// Yoga with its plugins, and the HTTP handler in front of it.

import type { RequestListener } from 'node:http';
import type { DocumentNode } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { CACHE_BYTES, type CacheName } from '../config/cache-bytes.ts';
import type { Config } from '../config.ts';
import type { AccessControl } from '../http/access/access-control.ts';
import { createAdmission } from '../http/access/admit.ts';
import { createFetch } from '../http/adapters/fetch.ts';
import { createListener } from '../http/adapters/socket.ts';
import { createResponseCache } from '../http/cache/response-cache.ts';
import { createFailures, type Failures } from '../http/failures/failures.ts';
import { createGraphqlHandler, type GraphqlHandler } from '../http/graphql/graphql-handler.ts';
import type { OperationPlugin } from '../http/graphql/operation-context.ts';
import { documentLimits, MAX_DOCUMENT_CHARACTERS } from '../http/graphql/plugins/document-limits.ts';
import { incrementalDelivery } from '../http/graphql/plugins/incremental-delivery.ts';
import { useIntrospection } from '../http/graphql/plugins/introspection.ts';
import {
  createPersistedDocuments,
  type PersistedDocuments,
} from '../http/graphql/plugins/persisted-documents.ts';
import { useSubscriptions } from '../http/graphql/plugins/subscriptions.ts';
import { createOperationOpener, useExecution } from '../http/graphql/plugins/use-execution.ts';
import { createOperations, type Operations } from '../http/graphql/run-operation.ts';
import { createHandle } from '../http/handle.ts';
import type { Route } from '../http/routes/route.ts';
import { createBodyReader } from '../http/server/read-body.ts';
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

/** Memory of a parsed document for each character of its text, about. */
const BYTES_PER_CHARACTER = 80;

const createDocumentCache = <T extends object>(maxSize: number) =>
  new LRUCache<string, T>({
    maxSize,
    maxEntrySize: (BYTES_PER_CHARACTER * MAX_DOCUMENT_CHARACTERS) / 2,
    sizeCalculation: (_, text) => BYTES_PER_CHARACTER * Math.max(1, text.length),
  });

/**
 * The plugins in the order in which they see a request. It is part of the behaviour: a refusal must
 * come before the work it saves.
 */
function createPlugins(
  { config, openContext }: YogaSources,
  documents: PersistedDocuments,
): (OperationPlugin | Plugin)[] {
  const openOperation = createOperationOpener(config, openContext);
  return [
    documents.plugin,
    ...documentLimits(config.limits.queryDepth),
    useIntrospection(config.INTROSPECTION),
    ...incrementalDelivery(),
    useExecution(openOperation),
    useSubscriptions(config, openOperation),
  ];
}

/** The server, and what asks it over other transports. */
export interface OpenedYoga {
  readonly failures: Failures;
  readonly operations: Operations;
  readonly graphql: GraphqlHandler;
  readonly listener: RequestListener;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Estimated bytes of the caches of responses and documents, by name. */
  readonly cacheBytes: () => Partial<Record<CacheName, number>>;
}

export function openYoga(sources: YogaSources): OpenedYoga {
  const { config, log, metrics, telemetry, accessControl } = sources;
  const documents = createPersistedDocuments(config);
  const cache = createResponseCache({ config, maxBytes: config.limits.responseCacheBytes });
  const failures = createFailures(log, metrics, telemetry, config.INTROSPECTION);
  const { fail } = failures;
  const documentCache = createDocumentCache<DocumentNode>(CACHE_BYTES.documents);
  const errorCache = createDocumentCache<Error>(CACHE_BYTES['document-errors']);
  const { getEnveloped } = createYoga({
    schema: subgraphSchema,
    // The context of a request is made when it is executed (useExecution).
    parserAndValidationCache: { documentCache, errorCache },
    logging: false,
    // The only place that runs operations masks their errors, and counts them.
    maskedErrors: false,
    plugins: createPlugins(sources, documents),
  });
  const operations = createOperations({
    ...{ getEnveloped, documents, fail },
    recordSeconds: config.CACHE_RECORDS_SECONDS,
  });
  const graphql = createGraphqlHandler({ ...sources, operations, fail });
  const adapters = {
    ...{ ...sources, failures },
    handle: createHandle({ ...sources, failures, cache: cache.layer, graphql }),
    admit: createAdmission(config, telemetry, accessControl),
    bodies: createBodyReader(),
  };
  return {
    ...{ failures, operations, graphql },
    listener: createListener(adapters),
    fetch: createFetch(adapters),
    cacheBytes: () => ({
      responses: cache.bytes(),
      documents: documentCache.calculatedSize,
      'document-errors': errorCache.calculatedSize,
    }),
  };
}
