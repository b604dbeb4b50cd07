// The one exit for failures: whatever fails in a request, over any transport, becomes here the
// error that its client sees, is counted once for metrics and the access log, and logged once.
import { GraphQLError } from 'graphql';
import { OperationalError } from '../../async/operational-error.ts';
import { createLineLimiter } from '../../telemetry/line-limiter.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { requestLogFields } from '../../telemetry/request-record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { asError, UpstreamError } from '../../upstream/errors.ts';
import type { Exchange, RefusalReason } from '../exchange.ts';
import { findCause, maskError } from './mask-error.ts';

/** The request that failed; without a signal its client counts as connected. */
export type FailedExchange = Pick<Exchange, 'record'> & Partial<Pick<Exchange, 'signal'>>;

/**
 * Makes the error that a client sees of one that ended its request, or a part of it: the message,
 * the code and what stands in the table of `errors.ts` for the code. It is counted, and logged
 * where it is the gateway's, its store's or the service's, unless its client has left. An error
 * that was given before stays as it is, and is not counted again.
 */
export type Fail = (error: unknown, exchange: FailedExchange) => GraphQLError;

export interface Failures {
  readonly fail: Fail;
  /** The same for a request that is refused before it runs; counts and logs such refusals. */
  refuse(reason: RefusalReason, error: GraphQLError, exchange: FailedExchange): GraphQLError;
}

/** The request's own deadline, which the calls of one request share. */
const OUT_OF_TIME = { code: 'UPSTREAM_TIMEOUT', operation: 'request' };

/**
 * @param suggestions - whether errors may suggest names, which reveals the schema piece by piece
 */
export function createFailures(
  log: Logger,
  metrics: Metrics,
  telemetry: Telemetry,
  suggestions: boolean,
): Failures {
  const shown = new WeakSet<GraphQLError>();
  const limitRefusals = createLineLimiter();

  const fail: Fail = (error, { record, signal }) => {
    if (error instanceof GraphQLError && shown.has(error)) return error;
    const located =
      error instanceof GraphQLError ? error : new GraphQLError('', { originalError: asError(error) });
    // A failure after the client disconnected is not sent and is no fault of the gateway.
    const isSeen = !record.isDisconnected && signal?.aborted !== true;
    const logMasked = (cause: unknown): void => {
      if (isSeen) log.error({ ...requestLogFields(record), error: cause }, 'masked error');
    };
    const masked = maskError(located, logMasked, suggestions);
    shown.add(masked);
    if (!isSeen) return masked;
    telemetry.countError(String(masked.extensions.code), record);
    const cause = findCause(located);
    if (cause instanceof UpstreamError) telemetry.serviceFailed(cause, record);
    // Requests read the ledger, and documents that stand beside it.
    else if (cause instanceof OperationalError) telemetry.storeFailed('ledger', cause, record.requestId);
    else if (cause instanceof Error && cause.name === 'TimeoutError')
      telemetry.serviceFailed({ message: masked.message, failure: OUT_OF_TIME }, record);
    return masked;
  };

  return {
    fail,
    refuse(reason, error, exchange) {
      metrics.refused.inc({ reason });
      const requests = limitRefusals(reason);
      if (requests > 0) log.warn({ reason, requests }, 'requests are refused');
      return fail(error, exchange);
    },
  };
}
