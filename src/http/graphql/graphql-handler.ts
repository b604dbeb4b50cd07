// Answers requests to /graphql. Yoga's own HTTP layer is not used, because it would read the body a
// second time, ignores weights of Accept, and writes each result as one string.
import { GraphQLError } from 'graphql';
import type { Config } from '../../config.ts';
import type { Exchange, HttpResponse, Sharing } from '../exchange.ts';
import type { Fail } from '../failures/failures.ts';
import { type RequestParams, readRequest } from './read-request.ts';
import { createResultWriter } from './result-writer.ts';
import type { OperationOutcome, Operations } from './run-operation.ts';

export interface GraphqlHandler {
  /** Answers a GraphQL request. */
  answer(exchange: Exchange): Promise<HttpResponse>;
  /** Answers a request whose parameters are read. */
  answerParams(exchange: Exchange, params: RequestParams): Promise<HttpResponse>;
}

export interface GraphqlSources {
  readonly config: Config;
  readonly operations: Operations;
  readonly fail: Fail;
  /** Milliseconds between two signs of life in a silent event stream. */
  readonly pulseMs: number;
}

/** A result with a missing object is stored at most this long: the object may appear any time. */
const ABSENT_SECONDS = 60;

/** The scope in which the result of a public operation is shared; undefined if it is incomplete. */
function toSharing(
  { result, resolvers }: OperationOutcome,
  seconds: number,
  operationName: string | null,
): Sharing | undefined {
  if (Symbol.asyncIterator in result) return undefined;
  const { errors, data } = result;
  if (errors !== undefined || data == null) return undefined;
  const isComplete = (resolvers?.upstream.absences?.size ?? 0) === 0 && !Object.values(data).includes(null);
  const { dependsOnHost = false } = resolvers ?? {};
  return { seconds: isComplete ? seconds : Math.min(seconds, ABSENT_SECONDS), dependsOnHost, operationName };
}

export function createGraphqlHandler({ config, operations, fail, pulseMs }: GraphqlSources): GraphqlHandler {
  const writeResult = createResultWriter(config, pulseMs);

  function write(exchange: Exchange, { result, isSmall }: Omit<OperationOutcome, 'resolvers'>): HttpResponse {
    try {
      return writeResult(exchange, result, isSmall);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return writeResult(exchange, { data: null, errors: [fail(error, exchange)] }, false);
    }
  }

  const handler: GraphqlHandler = {
    async answer(exchange) {
      let params: RequestParams;
      try {
        params = readRequest(exchange, config.CORS_ORIGINS);
      } catch (error) {
        const result = { errors: [fail(error, exchange)] };
        return write(exchange, { result, isSmall: false });
      }
      return handler.answerParams(exchange, params);
    },
    async answerParams(exchange, params) {
      const prepared = operations.prepare(exchange, params);
      if (!('run' in prepared)) return write(exchange, { result: { errors: prepared }, isSmall: false });
      const { publicSeconds: seconds, type, name } = prepared;
      if (seconds === null) {
        const response = write(exchange, await prepared.run(exchange));
        // Subscriptions have a limit of their own.
        if (type === 'subscription') exchange.release();
        return response;
      }
      return exchange.share(async (shared) => {
        const outcome = await prepared.run(shared);
        return { ...write(shared, outcome), sharing: toSharing(outcome, seconds, name) };
      });
    },
  };
  return handler;
}
