// Creates the error of a request that is refused before it runs: a code and an HTTP status.
import { GraphQLError } from 'graphql';

interface RefusalOptions {
  /** One of the codes of the README; BAD_USER_INPUT when absent. */
  readonly code?: 'BAD_USER_INPUT' | 'FORBIDDEN' | 'QUERY_TOO_EXPENSIVE';
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An error that becomes an answer with an HTTP status of its own, in every media type.
 *
 * @param status - the HTTP status, 4xx
 * @param message - what is wrong and what to do next
 */
export const httpError = (status: number, message: string, options: RefusalOptions = {}): GraphQLError =>
  new GraphQLError(message, {
    extensions: {
      code: options.code ?? 'BAD_USER_INPUT',
      retryable: false,
      http: { status, ...(options.headers === undefined ? {} : { headers: { ...options.headers } }) },
    },
  });
