// Observes a gateway's requests from start to last byte: one access-log line each, metrics and
// traces. What it observes with may throw: the error is logged, and no response changes.
import type { ServerResponse } from 'node:http';
import { createPrivateField } from '../private-field.ts';
import type { Found } from '../store/cache/cache.ts';
import type { Failure } from '../upstream/errors.ts';
import type { CallReport, Upstream } from '../upstream/http/upstream-client.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import {
  accessLogFields,
  boundedOperationName,
  noopTracing,
  type OperationInfo,
  openExchange,
  REPORT_HEADER,
  type RequestEnd,
  type RequestRecord,
  type RequestStart,
  requestIdOf,
  requestLogFields,
  type TraceSpan,
  type Tracing,
  traceparent,
} from './request-record.ts';

export type Telemetry = ReturnType<typeof openTelemetry>;

/** Asked every few seconds by machines: no news. */
const QUIET = new Set(['/health', '/ready', '/metrics']);

/** Places of drifts that metrics tell apart: keys of maps come from the service. */
const MAX_DRIFT_PLACES = 200;

const outcomeOf = (status: number): string => {
  if (status === 0) return 'no_answer';
  if (status === 429) return 'limited';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'ok';
};

/** @param knownNames - of operations that metrics tell apart; all others are `other` */
export function openTelemetry(
  log: Logger,
  metrics: Metrics,
  knownNames: ReadonlySet<string>,
  tracing: Tracing = noopTracing,
) {
  const driftPlaces = new Set<string>();
  const exchanges = createPrivateField<Request, RequestRecord>();

  /** Runs what observes. An error in it is logged, and reaches nothing that is observed. */
  const observe = (action: () => void): void => {
    try {
      action();
    } catch (error) {
      log.error({ error }, 'telemetry failed');
    }
  };
  const spans: Tracing = {
    ...tracing,
    begin(...what) {
      let span: TraceSpan | undefined;
      observe(() => {
        span = tracing.begin(...what);
      });
      return span ?? noopTracing.begin(...what);
    },
  };

  const exchangeOf = (request: Request, method?: string): RequestRecord => {
    const known = exchanges.get(request);
    if (known !== undefined) return known;
    const exchange = openExchange(spans, {
      requestId: requestIdOf(request),
      method: method ?? request.method,
      pathname: new URL(request.url).pathname,
      traceparent: request.headers.get('traceparent'),
      tracestate: request.headers.get('tracestate'),
      isReported: request.headers.get(REPORT_HEADER) === '1',
    });
    exchanges.set(request, exchange);
    return exchange;
  };
  const nameClass = (name: string | null): string => {
    if (name === null) return 'anonymous';
    return knownNames.has(name) ? name : 'other';
  };

  function count(exchange: RequestRecord, status: number, seconds: number): void {
    const { operation, route, method } = exchange;
    if (method !== 'WS') {
      metrics.requests.inc({ route, method, status: String(status) });
      if (operation?.type !== 'subscription') metrics.requestSeconds.observe({ route }, seconds);
    }
    if (operation === undefined) return;
    const { type, name } = operation;
    metrics.operations.inc({
      type,
      name: nameClass(name),
      outcome: exchange.errors === 0 ? 'ok' : 'error',
    });
    if (type !== 'subscription') metrics.operationSeconds.observe({ type }, seconds);
  }

  function writeAccessLog(exchange: RequestRecord, end: RequestEnd, milliseconds: number): void {
    const isQuiet = QUIET.has(exchange.route) && end.status < 500;
    log[isQuiet ? 'debug' : 'info'](accessLogFields(exchange, end, milliseconds), 'request');
  }

  function trace(exchange: RequestRecord, { status }: RequestEnd): void {
    const { step, requestId, route, method, operation, upstreamCalls, errors } = exchange;
    if (step.end === undefined) return;
    const name = operation?.name == null ? undefined : boundedOperationName(operation.name);
    const words = operation === undefined ? [method, route] : [operation.type, name ?? ''];
    step.end({
      name: words.join(' ').trim(),
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'graphql.operation.type': operation?.type,
        'graphql.operation.name': name,
        'foldatlas.request_id': requestId,
        'foldatlas.upstream_calls': upstreamCalls,
        'foldatlas.errors': errors,
      },
      failed: status >= 500,
    });
  }

  function end(exchange: RequestRecord, how: RequestEnd): void {
    if (exchange.ended) return;
    exchange.ended = true;
    exchange.left = how.left;
    if (exchange.begun) metrics.inFlight.now -= 1;
    const milliseconds = performance.now() - exchange.startedAt;
    observe(() => count(exchange, how.status, milliseconds / 1000));
    observe(() => writeAccessLog(exchange, how, milliseconds));
    observe(() => trace(exchange, how));
    for (const letGo of exchange.onEnd) letGo();
  }

  const begun = (exchange: RequestRecord): RequestRecord => {
    if (!exchange.begun) metrics.inFlight.now += 1;
    exchange.begun = true;
    return exchange;
  };

  return {
    /**
     * Begins a request that will end.
     *
     * @param method - where it is not that of the request: WS, or HEAD of GraphQL
     */
    begin: (request: Request, method?: string) => begun(exchangeOf(request, method)),
    /** Begins what has no request yet. */
    arrive: (arrived: RequestStart) => begun(openExchange(spans, arrived)),
    /** The request's, begun or not. */
    exchangeOf: (request: Request) => exchangeOf(request),
    setOperation(exchange: RequestRecord, operation: OperationInfo) {
      exchange.operation = operation;
    },
    /** An error that a caller is shown. */
    failed(code: string, exchange: RequestRecord | undefined) {
      if (exchange !== undefined) exchange.errors += 1;
      observe(() => metrics.errors.inc({ code }));
    },
    /** Counts a change of the service that a caller was shown. Other failures are ignored. */
    upstreamFailed({ code, operation, path = '$' }: Failure) {
      if (code !== 'UPSTREAM_DRIFT') return;
      const place = path.replaceAll(/\.\d+(?=\.|$)/g, '[]');
      if (driftPlaces.size < MAX_DRIFT_PLACES) driftPlaces.add(place);
      const shown = driftPlaces.has(place) ? place : 'other';
      observe(() => metrics.drifts.inc({ operation, path: shown }));
    },
    end,
    /** Ends a request when its response is sent, or its client has left. */
    endWith(exchange: RequestRecord, response: ServerResponse) {
      const { socket } = response.req;
      const before = socket.bytesWritten;
      response.once('close', () => {
        const bytes = socket.bytesWritten - before;
        end(exchange, { status: response.statusCode, bytes, left: !response.writableFinished });
      });
    },
    upstreamHooks: (
      requestId: string,
      exchange: RequestRecord | undefined,
    ): Pick<Upstream, 'onCall' | 'startCall'> => ({
      startCall(operation) {
        const step = spans.begin('CLIENT', operation, exchange?.step.context);
        return {
          headers: {
            traceparent: traceparent(step.context),
            ...(exchange?.tracestate === undefined ? {} : { tracestate: exchange.tracestate }),
          },
          ended({ status }) {
            const attributes = {
              'foldatlas.upstream_operation': operation,
              'foldatlas.outcome': outcomeOf(status),
              'foldatlas.request_id': requestId,
              'http.response.status_code': status === 0 ? undefined : status,
            };
            const failed = status === 0 || status >= 400;
            observe(() => step.end?.({ name: operation, attributes, failed }));
          },
        };
      },
      onCall(call: CallReport) {
        const { operation, status, milliseconds } = call;
        if (exchange !== undefined) exchange.upstreamCalls += 1;
        exchange?.report?.hooks.onCall(call);
        observe(() => {
          metrics.upstreamCalls.inc({ operation, outcome: outcomeOf(status) });
          metrics.upstreamSeconds.observe({ operation }, milliseconds / 1000);
        });
        // The circuit breaker bounds how many calls of an upstream that is away are logged.
        const level = call.fault === undefined ? 'debug' : 'warn';
        if (!log.isLevelEnabled(level)) return;
        const owner = exchange === undefined ? { requestId } : requestLogFields(exchange);
        log[level]({ ...owner, ...call, milliseconds: Math.round(milliseconds) }, 'upstream');
      },
    }),
    cacheLookup: (kind: string, { memory, store, missing }: Found) =>
      observe(() => {
        if (memory > 0) metrics.cacheHits.inc({ kind, tier: 'memory' }, memory);
        if (store > 0) metrics.cacheHits.inc({ kind, tier: 'store' }, store);
        if (missing > 0) metrics.cacheMisses.inc({ kind }, missing);
      }),
    storeFailed(store: string, error: unknown, requestId?: string) {
      observe(() => metrics.storeErrors.inc({ store }));
      const fields = { ...(requestId === undefined ? {} : { requestId }), error };
      if (store === 'cache') log.warn(fields, 'cache bypassed');
      else log.error(fields, `store: ${store}`);
    },
  };
}
