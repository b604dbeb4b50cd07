// Masks the errors of results, and counts each error that a client sees once, for metrics and the
// log line of its request.
import { GraphQLError } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin, type YogaInitialContext } from 'graphql-yoga';
import { createLineLimiter } from '../../../telemetry/line-limiter.ts';
import type { Logger } from '../../../telemetry/log.ts';
import type { Metrics } from '../../../telemetry/metrics.ts';
import { type RequestRecord, requestLogFields } from '../../../telemetry/request-record.ts';
import type { Telemetry } from '../../../telemetry/telemetry.ts';
import { asError, UpstreamError } from '../../../upstream/errors.ts';
import type { RefusalReason } from '../../access/access-control.ts';
import { getExchange } from '../../exchange.ts';
import type { ResultPart } from '../http-result.ts';
import type { Result } from '../result-writer.ts';
import { findCause, maskError, withErrorCode } from './mask-error.ts';

export interface ClientErrors {
  readonly plugin: Plugin;
  /** Counts an error that is shown as it is. */
  count(error: GraphQLError, record: RequestRecord): void;
  /** Counts a request that is refused before it runs, and logs such refusals now and then. */
  countRefusal(reason: RefusalReason, error: GraphQLError, record: RequestRecord): void;
  /** The error that a client sees instead of one that ended a request; counted and logged once. */
  fail(error: unknown, record: RequestRecord): GraphQLError;
  /** The error that a client sees instead of one outside of an execution. */
  mask(error: unknown): GraphQLError;
  /** Gives the errors of a result our codes, and counts those that no execution has counted. */
  countUnseen(result: Result, record: RequestRecord): Result;
}

/** The request's own deadline, which the calls of one request share. */
const OUT_OF_TIME = { code: 'UPSTREAM_TIMEOUT', operation: 'request' };

/**
 * @param suggestions - whether errors may suggest names, which reveals the schema piece by piece
 */
export function createClientErrors(
  log: Logger,
  metrics: Metrics,
  telemetry: Telemetry,
  suggestions: boolean,
): ClientErrors {
  /** Errors of executions, as they are shown: they are counted, and seen again in the answer. */
  const counted = new WeakSet<GraphQLError>();
  const limitRefusals = createLineLimiter();

  function count({ extensions }: GraphQLError, record: RequestRecord): void {
    if (!record.isDisconnected) telemetry.countError(String(extensions.code), record);
  }

  function maskAndLog(error: unknown, record?: RequestRecord): GraphQLError {
    const fields = record === undefined ? {} : requestLogFields(record);
    return maskError(
      error,
      (cause) => {
        // A failure after the client disconnected is no fault of the gateway.
        if (record?.isDisconnected !== true) log.error({ ...fields, error: cause }, 'masked error');
      },
      suggestions,
    );
  }

  function maskAndCount(error: GraphQLError, record: RequestRecord): GraphQLError {
    const shown = withErrorCode(maskAndLog(error, record));
    counted.add(shown);
    count(shown, record);
    const cause = findCause(error);
    if (!record.isDisconnected) {
      if (cause instanceof UpstreamError) telemetry.serviceFailed(cause, record);
      else if (cause instanceof Error && cause.name === 'TimeoutError')
        telemetry.serviceFailed({ message: shown.message, failure: OUT_OF_TIME }, record);
    }
    return shown;
  }

  const withMaskedErrors = <T extends Pick<ResultPart, 'errors'>>(result: T, record: RequestRecord): T =>
    result.errors === undefined
      ? result
      : { ...result, errors: result.errors.map((error) => maskAndCount(error, record)) };

  /** The hook for the results of an operation, and each part of one. */
  const maskResults =
    ({ context: { request } }: { context: YogaInitialContext }) =>
    (done: Parameters<typeof handleStreamOrSingleExecutionResult>[0]) =>
      handleStreamOrSingleExecutionResult(done, ({ result, setResult }) => {
        const { record } = getExchange(request);
        const { incremental, ...rest }: ResultPart = result;
        if (incremental !== undefined) {
          const parts = incremental.map((part) => withMaskedErrors(part, record));
          const masked: ResultPart = { ...withMaskedErrors(rest, record), incremental: parts };
          setResult(masked);
        } else if (result.errors !== undefined) setResult(withMaskedErrors(result, record));
      });

  const mask = (error: unknown): GraphQLError =>
    error instanceof GraphQLError && counted.has(error) ? error : maskAndLog(error);

  return {
    plugin: {
      onValidate:
        () =>
        ({ valid, result, setResult }) => {
          if (!valid) setResult(result.map(mask));
        },
      onExecute: (payload) => ({ onExecuteDone: maskResults(payload) }),
      onSubscribe: (payload) => ({ onSubscribeResult: maskResults(payload) }),
    },
    countUnseen(result, record) {
      if (!('errors' in result) || result.errors === undefined) return result;
      const errors = result.errors.map(withErrorCode);
      for (const error of errors) if (!counted.has(error)) count(error, record);
      return { ...result, errors };
    },
    count,
    mask,
    fail: (error, record) =>
      error instanceof GraphQLError && counted.has(error)
        ? error
        : maskAndCount(
            error instanceof GraphQLError ? error : new GraphQLError('', { originalError: asError(error) }),
            record,
          ),
    countRefusal(reason, error, record) {
      metrics.refused.inc({ reason });
      count(error, record);
      const requests = limitRefusals(reason);
      if (requests > 0) log.warn({ reason, requests }, 'requests are refused');
    },
  };
}
