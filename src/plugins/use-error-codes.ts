// Gives errors that never reach execution (syntax, validation) the same codes as all others.
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** An error of the document itself is the client's input. */
const coded = (error: GraphQLError): GraphQLError =>
  String(error.extensions.code ?? 'GRAPHQL_').startsWith('GRAPHQL_')
    ? new GraphQLError(error.message, {
        nodes: error.nodes ?? null,
        source: error.source ?? null,
        positions: error.positions ?? null,
        path: error.path ?? null,
        extensions: { ...error.extensions, code: 'BAD_USER_INPUT', retryable: false },
      })
    : error;

export const useErrorCodes = (): Plugin => ({
  onResultProcess({ result, setResult }) {
    if ('errors' in result && result.errors !== undefined)
      setResult({ ...result, errors: result.errors.map(coded) });
  },
});
