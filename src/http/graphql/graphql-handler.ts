// Answers requests to /graphql. Yoga checks the parameters and runs its plugins; its HTTP layer is
// not used, because it would read the body a second time, ignores weights of Accept, and writes
// each result as one string.
import { GraphQLError } from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import type { Config } from '../../config.ts';
import { type Exchange, type HttpResponse, setExchange } from '../exchange.ts';
import type { ClientErrors } from './plugins/client-errors.ts';
import { readRequest } from './read-request.ts';
import { createResultWriter, type Result } from './result-writer.ts';

/** Answers a GraphQL request. @param request - stands for it in Yoga's plugins */
export type AnswerGraphql = (request: Request, exchange: Exchange) => Promise<HttpResponse>;

export interface GraphqlSources {
  readonly config: Config;
  readonly yoga: YogaServerInstance<object, object>;
  readonly errors: Pick<ClientErrors, 'mask' | 'countUnseen'>;
  /** Milliseconds between two signs of life in a silent event stream. */
  readonly pulseMs: number;
}

export function createGraphqlHandler({ config, yoga, errors, pulseMs }: GraphqlSources): AnswerGraphql {
  const { getResultForParams } = yoga;
  const writeResult = createResultWriter(config, pulseMs);

  async function run(request: Request, exchange: Exchange): Promise<Result> {
    try {
      const params = readRequest(exchange, config.CORS_ORIGINS);
      const result = await getResultForParams({ params, request }, {});
      if (result === undefined) throw new Error('Yoga gave no result.');
      return result;
    } catch (error) {
      return { errors: [errors.mask(error)] };
    }
  }

  return async (request, exchange) => {
    setExchange(request, exchange);
    const result = errors.countUnseen(await run(request, exchange), exchange.record);
    try {
      return writeResult(exchange, result);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return writeResult(exchange, { data: null, errors: [error] });
    }
  };
}
