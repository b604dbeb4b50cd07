// Masks errors: the gateway's own and the upstream's are shown with a code, all others are logged
// and replaced. Never a stack trace.
import { GraphQLError } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin, type YogaInitialContext } from 'graphql-yoga';
import { StoreError } from '../../store/redis-connection.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { redact } from '../../telemetry/redact.ts';
import { type RequestRecord, requestLogFields } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { asError, type Failure, UpstreamError } from '../../upstream/errors.ts';
import type { RefusalReason } from '../access-control.ts';
import { STATUS_OF_CODE } from '../errors.ts';
import type { ResultPart } from '../graphql/http-result.ts';

/** `extensions` of a failed upstream call: never a URL, a header or a body. */
const extensionsOf = (failure: Failure) => ({
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

/** An error that the request's own deadline or a caller that left caused. */
export const isAbort = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');

export const STORE_AWAY = 'The store of the gateway does not answer at present. Try again in a moment.';

export const TOOK_TOO_LONG = 'The request took longer than it may. Ask for less at once, or try again.';

/**
 * Makes the error that a client sees.
 *
 * @param log - called with each masked error
 * @param suggestions - whether errors may suggest names, which reveals the schema piece by piece
 */
export function maskError(error: unknown, log: (error: unknown) => void, suggestions: boolean): Error {
  const located =
    error instanceof GraphQLError ? error : new GraphQLError('', { originalError: asError(error) });
  const cause = rootOf(located);
  if (cause instanceof UpstreamError) return errorAt(located, cause.message, extensionsOf(cause.failure));
  if (cause instanceof GraphQLError) {
    const { code } = cause.extensions;
    return typeof code === 'string'
      ? errorAt(located, placeOf(located, cause) + cause.message, cause.extensions)
      : badInput(located, cause, suggestions);
  }
  if (cause instanceof Error && 'code' in cause && cause.code === 'UPSTREAM_DRIFT') {
    return errorAt(located, cause.message, { code: 'UPSTREAM_DRIFT', retryable: false });
  }
  if (isAbort(cause)) {
    return errorAt(located, TOOK_TOO_LONG, { code: 'UPSTREAM_TIMEOUT', retryable: true });
  }
  log(cause);
  if (cause instanceof StoreError) {
    return errorAt(located, STORE_AWAY, { code: 'UPSTREAM_UNAVAILABLE', retryable: true });
  }
  return errorAt(
    located,
    'Something went wrong inside the gateway. Quote the x-request-id of this answer when you report it.',
    { code: 'INTERNAL_SERVER_ERROR', retryable: false },
  );
}

/** The message without the suggestion that graphql-js ends it with. */
function withoutSuggestion(message: string): string {
  const at = message.lastIndexOf(' Did you mean ');
  return at < 0 ? message : message.slice(0, at);
}

/** The variable, and the path in it; never the value, which may be long or private. */
function placeOf(located: GraphQLError, cause: GraphQLError): string {
  const wrapped = located.message.endsWith(cause.message)
    ? located.message.slice(0, -cause.message.length)
    : '';
  const variable = /^Variable "\$(\w+)" got invalid value /.exec(wrapped)?.[1];
  if (variable === undefined) return '';
  const path = / at "([\w.[\]]+)"; $/.exec(wrapped)?.[1] ?? variable;
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
  return errorAt(located, placeOf(located, cause) + message, {
    ...rest,
    ...(http === undefined || isDefault ? {} : { http }),
    code: 'BAD_USER_INPUT',
    retryable: false,
  });
}

/** The error that was thrown, below the ones that graphql-js wrapped around it. */
function rootOf(error: GraphQLError): unknown {
  let root: unknown = error;
  while (root instanceof GraphQLError && root.originalError != null) root = root.originalError;
  return root;
}

/** The codes that the README lists. */
const CODES: ReadonlySet<unknown> = new Set([
  'BAD_USER_INPUT',
  'NOT_FOUND',
  'RESULT_EXPIRED',
  'QUERY_TOO_EXPENSIVE',
  ...Object.keys(STATUS_OF_CODE),
]);

const NO_OPERATION =
  '`operationName` must name an operation of the document; without it, the document must hold exactly one.';

/**
 * An error with one of our codes; other codes come from libraries that refuse the client's input.
 */
export function withErrorCode(error: GraphQLError): GraphQLError {
  const { message, extensions } = error;
  if (CODES.has(extensions.code)) return error;
  const text = extensions.code === 'OPERATION_RESOLUTION_FAILURE' ? NO_OPERATION : redact(message);
  // Clients of automatic persisted queries then send the text: plain JSON has status 200, as Apollo's.
  const http = extensions.code === 'PERSISTED_QUERY_NOT_FOUND' ? { http: { status: 400, spec: true } } : {};
  return errorAt(error, text, { ...extensions, ...http, code: 'BAD_USER_INPUT', retryable: false });
}

export type ClientErrors = ReturnType<typeof createClientErrors>;

/** How often refusals of one kind are logged at most. */
const LOG_REFUSALS_MS = 10_000;

const codeOf = (error: Error): string =>
  error instanceof GraphQLError ? String(error.extensions.code) : 'INTERNAL_SERVER_ERROR';

/**
 * @param suggestions - whether errors may suggest names, which reveals the schema piece by piece
 */
export function createClientErrors(
  log: Logger,
  metrics: Metrics,
  telemetry: Telemetry,
  suggestions: boolean,
) {
  /** Errors of executions, as they are shown: they are counted, and seen again in the answer. */
  const counted = new WeakSet<Error>();
  const countFor = (error: Error, record: RequestRecord): void => {
    if (!record.isDisconnected) telemetry.countError(codeOf(error), record);
  };
  const count = (error: Error, request: Request) => countFor(error, telemetry.requestRecord(request));
  const mask = (error: unknown, record?: RequestRecord): Error =>
    maskError(
      error,
      (cause) => {
        const fields = record === undefined ? {} : requestLogFields(record);
        // What breaks when a caller has left is no fault of the gateway.
        if (record?.isDisconnected !== true) log.error({ ...fields, error: cause }, 'masked error');
      },
      suggestions,
    );
  /** The errors of a result as its caller sees them, each counted once. */
  const ofResult = (all: readonly GraphQLError[], record: RequestRecord): GraphQLError[] =>
    all.map((error) => {
      const masked = mask(error, record);
      const shown = withErrorCode(masked instanceof GraphQLError ? masked : new GraphQLError(masked.message));
      counted.add(shown);
      countFor(shown, record);
      const cause = rootOf(error);
      if (cause instanceof UpstreamError && !record.isDisconnected) telemetry.countDrift(cause.failure);
      return shown;
    });
  /** The errors of an answer; those that no execution has counted are counted now. */
  const ofAnswer = (all: readonly GraphQLError[], request: Request): GraphQLError[] =>
    all.map((error) => {
      const shown = withErrorCode(error);
      if (!counted.has(shown)) count(shown, request);
      return shown;
    });
  /** The error that a caller sees instead of one of no execution. */
  const show = (error: unknown): Error =>
    error instanceof Error && counted.has(error) ? error : mask(error);

  const withShownErrors = <T extends Pick<ResultPart, 'errors'>>(result: T, record: RequestRecord): T =>
    result.errors === undefined ? result : { ...result, errors: ofResult(result.errors, record) };

  /** The hook for the results of an operation, and each part of one. */
  const showAll =
    ({ context: { request } }: { context: YogaInitialContext }) =>
    (done: Parameters<typeof handleStreamOrSingleExecutionResult>[0]) =>
      handleStreamOrSingleExecutionResult(done, ({ result, setResult }) => {
        const record = telemetry.requestRecord(request);
        const { incremental, ...rest }: ResultPart = result;
        const parts = incremental?.map((part) => withShownErrors(part, record));
        setResult({ ...withShownErrors(rest, record), ...(parts && { incremental: parts }) });
      });

  const plugin: Plugin = {
    onValidate:
      () =>
      ({ valid, result, setResult }) => {
        if (!valid) setResult(result.map(show));
      },
    onExecute: (payload) => ({ onExecuteDone: showAll(payload) }),
    onSubscribe: (payload) => ({ onSubscribeResult: showAll(payload) }),
    onResultProcess({ request, result, setResult }) {
      if ('errors' in result && result.errors !== undefined)
        setResult({ ...result, errors: ofAnswer(result.errors, request) });
    },
  };

  const refusals = new Map<RefusalReason, { many: number; loggedAt: number }>();
  /**
   * Logs the first refusal of a kind at once, later ones together. Each has an access log line,
   * too.
   */
  function logRefusal(reason: RefusalReason): void {
    const known = refusals.get(reason) ?? { many: 0, loggedAt: Number.NEGATIVE_INFINITY };
    known.many += 1;
    refusals.set(reason, known);
    if (performance.now() - known.loggedAt < LOG_REFUSALS_MS) return;
    log.warn({ reason, requests: known.many }, 'requests are refused');
    known.many = 0;
    known.loggedAt = performance.now();
  }
  return {
    /** Counts an error that is shown as it is. */
    count,
    show,
    plugin,
    /** Counts a request that is refused before it runs, and logs such refusals now and then. */
    countRefusal(reason: RefusalReason, error: Error, request: Request): void {
      metrics.refused.inc({ reason });
      count(error, request);
      logRefusal(reason);
    },
  };
}
