// Gives errors that never reach execution (the request, syntax, validation) the same codes as all
// others.
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { redact } from '../../telemetry/redact.ts';

/** The codes that the README lists. */
const CODES: ReadonlySet<unknown> = new Set([
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_DRIFT',
  'RESULT_EXPIRED',
  'QUERY_TOO_EXPENSIVE',
  'INTERNAL_SERVER_ERROR',
]);

/**
 * An error with one of our codes; other codes come from libraries that refuse the client's input.
 */
export const withErrorCode = (error: GraphQLError): GraphQLError =>
  CODES.has(error.extensions.code)
    ? error
    : new GraphQLError(redact(error.message), {
        nodes: error.nodes ?? null,
        source: error.source ?? null,
        positions: error.positions ?? null,
        path: error.path ?? null,
        extensions: { ...error.extensions, code: 'BAD_USER_INPUT', retryable: false },
      });

/** The result with coded errors. @param onError - called with each error */
function withErrorCodes<T extends ExecutionResult>(result: T, onError: (error: GraphQLError) => void): T {
  if (result.errors === undefined) return result;
  const errors = result.errors.map(withErrorCode);
  errors.forEach(onError);
  return { ...result, errors };
}

/**
 * Gives errors before execution (request, syntax, validation) the same codes as all others.
 *
 * @param onError - called with each error of a single result
 */
export const useErrorCodes = (onError: (error: GraphQLError, request: Request) => void): Plugin => ({
  onResultProcess({ request, result, setResult }) {
    if ('errors' in result && result.errors !== undefined)
      setResult(withErrorCodes(result, (error) => onError(error, request)));
  },
});
