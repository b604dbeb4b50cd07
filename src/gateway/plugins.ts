// All Yoga plugins in the order in which they see a request: telemetry, cheap refusals, parsing,
// validation, execution. The order is part of the behaviour: a refusal must come before the work it
// saves.
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import { FIXED_LIMITS } from '../http/graphql/document-limits.ts';
import type { PersistedOperations } from '../http/graphql/persisted-operations.ts';
import { type ClientErrors, useErrorCodes } from '../http/plugins/errors.ts';
import { wrapPluginHooks } from '../http/plugins/safe-hooks.ts';
import { useAccessChecks, useHostCheck } from '../http/plugins/use-access-checks.ts';
import { useExecution } from '../http/plugins/use-execution.ts';
import { headPlugins } from '../http/plugins/use-head.ts';
import { useIncrementalDelivery } from '../http/plugins/use-incremental-delivery.ts';
import { useMediaTypes } from '../http/plugins/use-media-types.ts';
import {
  useDocumentLimits,
  useIntrospection,
  usePublicIntrospection,
  useRequestParser,
  useTrustedDocuments,
} from '../http/plugins/use-request-parser.ts';
import { useCors, useResponseHeaders } from '../http/plugins/use-response-headers.ts';
import { useRoutes } from '../http/plugins/use-routes.ts';
import { useTelemetry, useUpstreamReport } from '../http/plugins/use-telemetry.ts';
import type { ResponseStore } from '../http/response-cache/response-store.ts';
import { useResponseCache } from '../http/response-cache/use-response-cache.ts';
import type { YogaSources } from './yoga.ts';

interface PluginSources extends Omit<YogaSources, 'metrics' | 'schema'> {
  readonly errors: ClientErrors;
  readonly operations: PersistedOperations;
  readonly store: ResponseStore;
}

/** What a document may hold, as configured. */
const documentLimits = (config: Config) => ({
  ...FIXED_LIMITS,
  characters: config.MAX_QUERY_CHARACTERS,
  tokens: config.MAX_QUERY_TOKENS,
  aliases: config.MAX_QUERY_ALIASES,
  directives: config.MAX_QUERY_DIRECTIVES,
});

/** The plugins of a gateway. */
export function gatewayPlugins(sources: PluginSources): Plugin[] {
  const { config, log, telemetry, errors, operations, openContext, store, accessControl } = sources;
  const { routes, isSandbox, pulseMs, publicSchema } = sources;
  const { admission, callers, pressure } = accessControl;
  const head = headPlugins();
  return wrapPluginHooks(
    [
      head.first,
      useTelemetry(telemetry, errors.owners, head.isHead),
      useResponseHeaders({ isSandbox, proofNeeded: config.proofNeeded }),
      ...(config.keyForLoopback ? [useHostCheck(config.PUBLIC_URL)] : []),
      useCors(config.CORS_ORIGINS),
      useResponseCache({
        store,
        recordSeconds: config.CACHE_RECORDS_SECONDS,
        proofNeeded: config.proofNeeded,
      }),
      useAccessChecks({ pressure, admission, callers: config.proofNeeded ? callers : undefined, errors }),
      useRequestParser({
        maxBytes: config.MAX_BODY_BYTES,
        origins: config.CORS_ORIGINS,
        documentOf: operations.documentOf,
      }),
      useTrustedDocuments(operations.check),
      useDocumentLimits(documentLimits(config), config.INTROSPECTION),
      useErrorCodes(errors.count),
      useMediaTypes({
        pulseMs,
        shown: (all, request) => errors.ofResult(all, telemetry.exchangeOf(request)),
      }),
      useUpstreamReport(),
      useIntrospection(config.INTROSPECTION),
      ...(config.FEDERATION ? [usePublicIntrospection(publicSchema)] : []),
      useIncrementalDelivery(errors.showPart),
      useExecution({
        limits: { values: config.MAX_ANSWER_VALUES, bytes: config.MAX_ANSWER_BYTES },
        openContext,
        admission,
        maxSubscriptions: config.MAX_SUBSCRIPTIONS,
      }),
      useRoutes(routes),
      head.last,
    ],
    (error) => log.error({ error }, 'request'),
  );
}
