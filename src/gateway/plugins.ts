// All Yoga plugins in the order in which they see a request: HTTP with its cheap refusals, parsing,
// validation, execution. The order is part of the behaviour: a refusal must come before the work it
// saves.
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import { FIXED_LIMITS } from '../http/graphql/document-limits.ts';
import type { PersistedOperations } from '../http/graphql/persisted-operations.ts';
import type { ClientErrors } from '../http/plugins/errors.ts';
import { useErrors } from '../http/plugins/use-errors.ts';
import { useExecution } from '../http/plugins/use-execution.ts';
import { useHttp } from '../http/plugins/use-http.ts';
import { useIncrementalDelivery } from '../http/plugins/use-incremental-delivery.ts';
import { useMediaTypes } from '../http/plugins/use-media-types.ts';
import {
  useDocumentLimits,
  useIntrospection,
  usePublicIntrospection,
  useRequestParser,
  useTrustedDocuments,
} from '../http/plugins/use-request-parser.ts';
import { useTelemetry } from '../http/plugins/use-telemetry.ts';
import { createResponseCaching } from '../http/response-cache/response-caching.ts';
import type { ResponseStore } from '../http/response-cache/response-store.ts';
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
  const { config, telemetry, errors, operations, openContext, store, accessControl } = sources;
  const caching = createResponseCaching({
    store,
    recordSeconds: config.CACHE_RECORDS_SECONDS,
    proofNeeded: config.proofNeeded,
  });
  return [
    useHttp({ ...sources, caching }),
    useTelemetry(telemetry),
    caching.plugin,
    useRequestParser({
      maxBytes: config.MAX_BODY_BYTES,
      origins: config.CORS_ORIGINS,
      documentOf: operations.documentOf,
    }),
    useTrustedDocuments(operations.check),
    useDocumentLimits(documentLimits(config), config.INTROSPECTION),
    useErrors(errors, telemetry),
    useMediaTypes({
      pulseMs: sources.pulseMs,
      shown: (all, request) => errors.ofResult(all, telemetry.exchangeOf(request)),
    }),
    useIntrospection(config.INTROSPECTION),
    ...(config.FEDERATION ? [usePublicIntrospection(sources.publicSchema)] : []),
    useIncrementalDelivery(),
    useExecution({
      limits: { values: config.MAX_ANSWER_VALUES, bytes: config.MAX_ANSWER_BYTES },
      openContext,
      admission: accessControl.admission,
      maxSubscriptions: config.MAX_SUBSCRIPTIONS,
    }),
  ];
}
