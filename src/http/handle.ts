// Answers every request: one chain of layers around the routes, of which GraphQL is one.
import type { Config } from '../config.ts';
import type { Logger } from '../telemetry/log.ts';
import { createAccessLayer } from './access/access-layer.ts';
import type { Answer, Layer } from './exchange.ts';
import type { Failures } from './failures/failures.ts';
import { toErrorResponse } from './graphql/error-response.ts';
import type { GraphqlHandler } from './graphql/graphql-handler.ts';
import { answerRoute, findMethods, type Route } from './routes/route.ts';
import { createCommonHeaders, createPersonalHeaders } from './server/header-layers.ts';

export interface HandleSources {
  readonly config: Config;
  readonly log: Logger;
  readonly failures: Failures;
  readonly cache: Layer;
  readonly routes: readonly Route[];
  readonly graphql: Pick<GraphqlHandler, 'answer'>;
  readonly isSandbox: () => boolean;
}

/** A request that failed is answered with its error. */
const createExit =
  ({ fail }: Failures): Layer =>
  async (exchange, next) => {
    try {
      return await next(exchange);
    } catch (error) {
      return toErrorResponse(exchange, fail(error, exchange));
    }
  };

/** Each layer around those behind it. */
const chain = (layers: readonly Layer[], last: Answer): Answer =>
  layers.reduceRight<Answer>((next, layer) => (exchange) => layer(exchange, next), last);

export function createHandle(sources: HandleSources): Answer {
  const { config, log, failures, cache, routes, graphql, isSandbox } = sources;
  const layers = [
    createPersonalHeaders(config, log),
    createCommonHeaders(config, isSandbox),
    createExit(failures),
    createAccessLayer(config, failures, (path) => findMethods(routes, path)),
    cache,
  ];
  return chain(layers, (exchange) => {
    const { method, path } = exchange;
    // Most requests: they need no look at the routes.
    const isOperation = method === 'POST' && path === '/graphql';
    return isOperation ? graphql.answer(exchange) : answerRoute(routes, exchange);
  });
}
