// The error that a client sees: the gateway's own and the service's keep their message and code,
// all others are logged and replaced. Never a stack trace.
import { GraphQLError } from 'graphql';
import { OperationalError } from '../../async/operational-error.ts';
import { UnusableStoreError } from '../../store/unusable-store.ts';
import { redact } from '../../telemetry/redact.ts';
import { type Failure, UpstreamError } from '../../upstream/errors.ts';
import { ERROR_CODES } from './errors.ts';

/** `extensions` of a failed upstream call: never a URL, a header or a body. */
const toExtensions = (failure: Failure) => ({
  code: failure.code,
  retryable: failure.retryable,
  retryAfterSeconds: failure.retryAfterSeconds,
  issues: failure.issues?.map(({ path, message }) => ({ path, message })),
  resultsExpireAt: failure.resultsExpireAt,
  upstream: {
    operation: failure.operation,
    status: failure.status,
    path: failure.path,
    requestId: failure.requestId,
  },
});

/** Makes an error at the place of another one. */
const errorAt = (
  { nodes, source, positions, locations, path }: GraphQLError,
  message: string,
  extensions: Readonly<Record<string, unknown>>,
): GraphQLError =>
  // graphql-js would search the document for the position again.
  Object.assign(new GraphQLError(message, { path: path ?? null, extensions }), {
    nodes,
    source,
    positions,
    locations,
  });

/** Whether the request's own deadline, or a client that left, caused an error. */
const isAbort = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');

/** After which it is worth to ask again. */
const STORE_RETRY_SECONDS = 5;
const STORE_AWAY = 'The store of the gateway does not answer at present. Try again in a moment.';
const STORE_UNUSABLE =
  'The store of the gateway cannot be used: its disk or its database is at fault. Tell the operator, who finds ' +
  'the reason in the log and at /ready.';

const TOOK_TOO_LONG = 'The request took longer than it may. Ask for less at once, or try again.';

const INTERNAL =
  'Something went wrong inside the gateway. Quote the x-request-id of this answer when you report it.';

/** The error that was thrown, below the ones that graphql-js wrapped around it. */
export function findCause(error: GraphQLError): unknown {
  let cause: unknown = error;
  while (cause instanceof GraphQLError && cause.originalError != null) cause = cause.originalError;
  return cause;
}

/**
 * Makes the error that a client sees.
 *
 * @param log - called with an error whose message is not shown
 * @param suggestions - whether errors may suggest names, which reveals the schema piece by piece
 */
export function maskError(
  located: GraphQLError,
  log: (error: unknown) => void,
  suggestions: boolean,
): GraphQLError {
  const cause = findCause(located);
  if (cause instanceof UpstreamError) return errorAt(located, cause.message, toExtensions(cause.failure));
  if (cause instanceof GraphQLError) {
    // Other codes come from libraries that refuse the client's input.
    return String(cause.extensions.code) in ERROR_CODES
      ? errorAt(located, variablePath(located, cause) + cause.message, cause.extensions)
      : badInput(located, cause, suggestions);
  }
  if (cause instanceof Error && 'code' in cause && cause.code === 'UPSTREAM_DRIFT')
    return errorAt(located, cause.message, { code: 'UPSTREAM_DRIFT', retryable: false });
  if (isAbort(cause)) return errorAt(located, TOOK_TOO_LONG, { code: 'UPSTREAM_TIMEOUT', retryable: true });
  if (cause instanceof UnusableStoreError)
    return errorAt(located, STORE_UNUSABLE, { code: 'UPSTREAM_UNAVAILABLE', retryable: false });
  if (cause instanceof OperationalError)
    return errorAt(located, STORE_AWAY, {
      ...{ code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      retryAfterSeconds: STORE_RETRY_SECONDS,
    });
  log(cause);
  return errorAt(located, INTERNAL, { code: 'INTERNAL_SERVER_ERROR', retryable: false });
}

/** The message without the suggestion that graphql-js ends it with. */
function withoutSuggestion(message: string): string {
  const at = message.lastIndexOf(' Did you mean ');
  return at < 0 ? message : message.slice(0, at);
}

/** Characters of a path in a variable: names of the schema are short, and lists are not deep. */
const MAX_PATH_CHARACTERS = 1000;

/** The variable of an error, and the path in it; never the value, which may be long or private. */
function variablePath(located: GraphQLError, cause: GraphQLError): string {
  const wrapped = located.message.endsWith(cause.message)
    ? located.message.slice(0, -cause.message.length)
    : '';
  const variable = /^Variable "\$(\w+)" got invalid value /.exec(wrapped)?.[1];
  if (variable === undefined) return '';
  const path = / at "([\w.[\]]+)"; $/.exec(wrapped.slice(-MAX_PATH_CHARACTERS))?.[1] ?? variable;
  return `$${path}: `;
}

/**
 * Errors of graphql-js (syntax, validation, coercion) are about the client's input, which they
 * quote.
 */
function badInput(located: GraphQLError, cause: GraphQLError, suggestions: boolean): GraphQLError {
  const message = redact(suggestions ? cause.message : withoutSuggestion(cause.message));
  // The executor gives missing variables a status of their own, but not variables of a wrong value.
  const { http, ...rest } = cause.extensions;
  const isDefault = Object(http).status === 400;
  return errorAt(located, variablePath(located, cause) + message, {
    ...rest,
    ...(http === undefined || isDefault ? {} : { http }),
    code: 'BAD_USER_INPUT',
    retryable: false,
  });
}
