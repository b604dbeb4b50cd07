// Every plugin of Yoga, in the order in which they see a request: who watches, who refuses cheaply, who reads, who checks, who answers.
// It makes no decision of its own.
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import type { AnswerLimits } from '../execution/execution-budget.ts';
import type { ResponseStore } from '../http/response-cache/response-store.ts';
import { responseCachePlugins } from '../http/response-cache/use-response-cache.ts';
import { openPlaces } from '../load/streams.ts';
import type { Logger } from '../log.ts';
import type { Telemetry } from '../operations/telemetry.ts';
import { guardPlugins } from '../plugins/guard.ts';
import { useCors } from '../plugins/use-cors.ts';
import { useDocumentLimits } from '../plugins/use-document-limits.ts';
import { useErrorCodes } from '../plugins/use-error-codes.ts';
import { useEventContexts } from '../plugins/use-event-contexts.ts';
import { useExecution } from '../plugins/use-execution.ts';
import { useIncrementalDelivery } from '../plugins/use-incremental-delivery.ts';
import { useIntrospection } from '../plugins/use-introspection.ts';
import { useMediaTypes } from '../plugins/use-media-types.ts';
import { useOwnHost } from '../plugins/use-own-host.ts';
import { useProof } from '../plugins/use-proof.ts';
import { useRateLimit } from '../plugins/use-rate-limit.ts';
import { useRequestReading } from '../plugins/use-request-reading.ts';
import { useResponseHeaders } from '../plugins/use-response-headers.ts';
import { type Route, useRoutes } from '../plugins/use-routes.ts';
import { useShedding } from '../plugins/use-shedding.ts';
import { useStreamLimit } from '../plugins/use-stream-limit.ts';
import { useTelemetry } from '../plugins/use-telemetry.ts';
import { useTrustedDocuments } from '../plugins/use-trusted-documents.ts';
import { useUpstreamReport } from '../plugins/use-upstream-report.ts';
import { FIXED_LIMITS } from '../protocol/document-limits.ts';
import type { Operations } from '../protocol/operations.ts';
import type { OpenContext } from './contexts.ts';
import type { Entrance } from './entrance.ts';
import type { ShownErrors } from './shown-errors.ts';

export interface PluginSources extends Pick<Entrance, 'callers' | 'admission' | 'pressure'> {
  readonly config: Config;
  readonly log: Logger;
  readonly telemetry: Telemetry;
  readonly errors: ShownErrors;
  readonly operations: Operations;
  readonly openContext: OpenContext;
  readonly store: ResponseStore;
  readonly routes: readonly Route[];
  readonly sandbox: boolean;
  /** Milliseconds between two signs of life in a silent event stream. */
  readonly pulseMs: number;
}

/** What a document may hold, as configured. */
export const documentLimits = (config: Config) => ({
  ...FIXED_LIMITS,
  characters: config.MAX_QUERY_CHARACTERS,
  tokens: config.MAX_QUERY_TOKENS,
  aliases: config.MAX_QUERY_ALIASES,
  directives: config.MAX_QUERY_DIRECTIVES,
});

/** What an answer may hold, as configured. */
const answerLimits = (config: Config): AnswerLimits => ({
  values: config.MAX_ANSWER_VALUES,
  bytes: config.MAX_ANSWER_BYTES,
});

/** The plugins of a gateway. */
export function gatewayPlugins(sources: PluginSources): Plugin[] {
  const { config, log, telemetry, errors, operations, openContext, store, callers, admission, pressure } =
    sources;
  const { routes, sandbox, pulseMs } = sources;
  const cache = responseCachePlugins({
    store,
    recordSeconds: config.CACHE_RECORDS_SECONDS,
    proofNeeded: config.proofNeeded,
  });
  return guardPlugins(
    [
      useTelemetry(telemetry, errors.owners),
      cache.first,
      useResponseHeaders({ sandbox, proofNeeded: config.proofNeeded }),
      ...(config.keyForLoopback ? [useOwnHost(config.PUBLIC_URL)] : []),
      useCors(config.CORS_ORIGINS),
      useShedding(pressure, errors.countRefusal),
      useRateLimit(admission, (error, request) => errors.countRefusal('rate', error, request)),
      ...(config.proofNeeded ? [useProof(callers, errors.count)] : []),
      useRequestReading({
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
      useIncrementalDelivery(errors.showPart),
      useExecution(answerLimits(config), openContext),
      useEventContexts(answerLimits(config), openContext),
      useStreamLimit(admission, openPlaces(config.MAX_SUBSCRIPTIONS), config.MAX_SUBSCRIPTIONS),
      useRoutes(routes),
      cache.last,
    ],
    (error) => log.error({ error }, 'request'),
  );
}
