// Yoga and, in front of it, the node:http listener: request limits first, then the response cache. Plugins
// of the gateway replace Yoga's own request parsing, CORS and error masking.

import type { RequestListener } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config.ts';
import type { AccessControl } from '../http/access-control.ts';
import { limitRequests } from '../http/limits/request-limits.ts';
import { oneAtATime } from '../http/limits/turns.ts';
import type { ClientErrors } from '../http/plugins/errors.ts';
import { destroyResponse, toOriginForm, wrapListener } from '../http/plugins/safe-hooks.ts';
import { withResponseCache } from '../http/response-cache/response-cache.ts';
import type { ResponseStore } from '../http/response-cache/response-store.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

export type GatewayYoga = YogaServerInstance<object, object>;

export interface YogaSources {
  readonly schema: GraphQLSchema;
  readonly plugins: Plugin[];
  readonly errors: ClientErrors;
}

/** Makes the server. */
export const openYoga = ({ schema, plugins, errors }: YogaSources): GatewayYoga =>
  createYoga<object, object>({
    schema,
    // The context of a request is made when it is executed (useExecution).
    // Requests are read by useRequestParser, which counts bytes too; CORS is useCors'.
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    cors: false,
    parserAndValidationCache: { documentCache: createDocumentCache(), errorCache: createDocumentCache() },
    landingPage: false,
    // Ours says more, and is a route like the others.
    healthCheckEndpoint: '/-/yoga',
    logging: false,
    // GraphiQL is a page of ours (http/routes/pages.ts), whose editor comes as files.
    graphiql: false,
    maskedErrors: { maskError: (error) => errors.show(error) },
    plugins,
  });

/** A parsed document takes about a hundred times as many bytes as its text has characters. */
const MAX_CACHED_CHARACTERS = 1_000_000;
const MAX_DOCUMENT_CHARACTERS = 50_000;

const createDocumentCache = <T extends object>() =>
  new LRUCache<string, T>({
    maxSize: MAX_CACHED_CHARACTERS,
    maxEntrySize: MAX_DOCUMENT_CHARACTERS,
    sizeCalculation: (_, text) => Math.max(1, text.length),
  });

export interface ListenerSources
  extends Pick<AccessControl, 'admission' | 'pressure' | 'bodies' | 'connections' | 'slowReaders' | 'turns'> {
  readonly config: Config;
  readonly yoga: GatewayYoga;
  readonly store: ResponseStore;
  readonly telemetry: Telemetry;
  readonly log: Logger;
}

/** Makes the listener. */
export function gatewayListener(sources: ListenerSources): RequestListener {
  const { config, yoga, store, admission, telemetry, log } = sources;
  const { pressure, bodies, connections, slowReaders, turns } = sources;
  const onFault = (error: unknown) => log.error({ error }, 'request');
  const origins = config.CORS_ORIGINS;
  const cached = withResponseCache(wrapListener(yoga), { store, telemetry, turns, origins, onFault });
  const limited = limitRequests(cached, {
    admission,
    pressure,
    bodies,
    connections,
    slowReaders,
    turns,
    proofNeeded: config.proofNeeded,
    maxBodyBytes: config.MAX_BODY_BYTES,
    onFault(error, res) {
      onFault(error);
      destroyResponse(res);
    },
  });
  const oneByOne = oneAtATime(limited);
  return (request, response) => {
    toOriginForm(request);
    return oneByOne(request, response);
  };
}
