// Gives errors that never reach execution (syntax, validation) the same codes as all others.
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { redact } from '../redact.ts';

/** An error of the document itself is the client's input. */
const coded = (error: GraphQLError): GraphQLError =>
  String(error.extensions.code ?? 'GRAPHQL_').startsWith('GRAPHQL_')
    ? new GraphQLError(redact(error.message), {
        nodes: error.nodes ?? null,
        source: error.source ?? null,
        positions: error.positions ?? null,
        path: error.path ?? null,
        extensions: { ...error.extensions, code: 'BAD_USER_INPUT', retryable: false },
      })
    : error;

/** @param onError - told of each error of an answer in one piece */
export const useErrorCodes = (onError: (error: GraphQLError, request: Request) => void): Plugin => ({
  onResultProcess({ request, result, setResult }) {
    if (!('errors' in result) || result.errors === undefined) return;
    const errors = result.errors.map(coded);
    for (const error of errors) onError(error, request);
    setResult({ ...result, errors });
  },
});
