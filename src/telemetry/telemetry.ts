// Observes a gateway's requests from start to last byte: one access-log line each, metrics and
// traces. Logs, metrics and traces may fail: the error is logged, and no response changes.
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
  ERROR_TYPE_VALUE_OTHER,
  HTTP_REQUEST_METHOD_VALUE_OTHER,
} from '@opentelemetry/semantic-conventions';
import {
  ATTR_GRAPHQL_OPERATION_NAME,
  ATTR_GRAPHQL_OPERATION_TYPE,
} from '@opentelemetry/semantic-conventions/incubating';
import { OperationalError } from '../async/operational-error.ts';
import { createLineLimiter } from './line-limiter.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import { redact } from './redact.ts';
import {
  accessLogFields,
  createRequestRecord,
  type IncomingRequest,
  type RequestEnd,
  type RequestRecord,
  requestLogFields,
  shownName,
} from './request-record.ts';
import { nonRecordingTracer, type SpanTracer, traceHeaders } from './trace-context.ts';
import type { CallEnd, CallHooks, CallStart, ServiceError } from './upstream-calls.ts';

export interface Telemetry {
  /** Requests, streams among them, that have begun and not ended. */
  inFlight(): number;
  /** Begins a request, which `end` ends. */
  begin(request: IncomingRequest): RequestRecord;
  /** Counts an error that a caller is shown. */
  countError(code: string, record: RequestRecord | undefined): void;
  /** Logs a failure of the service that a caller was shown, and counts a change of its answers. */
  serviceFailed(error: ServiceError, record: RequestRecord | undefined): void;
  end(record: RequestRecord, end: RequestEnd): void;
  /** Hooks of the service client while it works for a request, or for none. */
  upstreamHooks(requestId: string, record: RequestRecord | undefined): CallHooks;
  cacheLookup(kind: string, found: { memory: number; store: number; missing: number }): void;
  /** Logs and counts a try of a webhook. */
  webhookTried(report: WebhookReport): void;
  /** Logs and counts a failure of a store. */
  storeFailed(store: string, error: unknown, requestId?: string): void;
}

/** A try of a webhook that has ended. `failed`: it was the last one. */
export interface WebhookReport {
  readonly outcome: 'delivered' | 'retried' | 'failed';
  readonly webhookId: string;
  /** Host of the receiver: the rest of its address may hold a secret. */
  readonly host: string;
  /** Why it was not delivered. */
  readonly reason?: string;
}

/** Codes of failures that are neither the caller's nor a limit's. */
const SERVICE_FAULTS: ReadonlySet<string> = new Set([
  ...['UPSTREAM_DRIFT', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT'],
]);

/** Asked every few seconds by machines: logged at level debug. */
const QUIET_ROUTES = new Set(['/health', '/ready', '/metrics']);
/** Paths of drifts that metrics tell apart: keys of maps come from the service. */
const MAX_DRIFT_PATHS = 200;

const STORE_LOG_INTERVAL_MS = 60_000;

/** The method of an HTTP request: an operation over WebSocket began with the GET of its upgrade. */
function toSpanMethod(method: string): string {
  if (method === 'WS') return 'GET';
  return method === 'other' ? HTTP_REQUEST_METHOD_VALUE_OTHER : method;
}

function toOutcome(status: number): string {
  if (status === 0) return 'no_answer';
  if (status === 429) return 'limited';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'ok';
}

/** @param knownNames - of operations that metrics tell apart; all others are `other` */
export function createTelemetry(
  log: Logger,
  metrics: Metrics,
  knownNames: ReadonlySet<string>,
  tracer: SpanTracer = nonRecordingTracer,
): Telemetry {
  const driftPaths = new Set<string>();
  /** A store stays as it is for minutes, and everything that asks it fails alike. */
  const limitStoreLines = createLineLimiter(STORE_LOG_INTERVAL_MS);
  let inFlight = 0;

  /**
   * The guard around all that observes: an error in it is logged, and reaches nothing that is
   * observed.
   */
  function observe<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      log.error({ error }, 'telemetry failed');
      return undefined;
    }
  }
  function startSpan(kind: SpanKind, name: string, parent: SpanContext | undefined): Span {
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    return (
      observe(() => tracer.startSpan(name, { kind }, context)) ??
      nonRecordingTracer.startSpan(name, { kind }, context)
    );
  }
  function endSpan(span: Span, attributes: Attributes, hasFailed: boolean): void {
    span.setAttributes(attributes);
    if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  function nameLabel(name: string | null): string {
    if (name === null) return 'anonymous';
    return knownNames.has(name) ? name : 'other';
  }
  function count({ operation, route, method, errors }: RequestRecord, status: number, seconds: number): void {
    if (method !== 'WS') metrics.requests.inc({ route, method, status: String(status) });
    if (operation === undefined) return;
    const { type, name } = operation;
    metrics.operations.inc({ type, name: nameLabel(name), outcome: errors === 0 ? 'ok' : 'error' });
    if (type !== 'subscription') metrics.operationSeconds.observe({ type }, seconds);
  }
  function endRequestSpan(record: RequestRecord, status: number): void {
    const { span, route, method, operation } = record;
    if (!span.isRecording()) return;
    const name = shownName(operation?.name);
    const words = operation === undefined ? [method, route] : [operation.type, name ?? ''];
    span.updateName(words.join(' ').trim());
    const attributes = {
      [ATTR_HTTP_REQUEST_METHOD]: toSpanMethod(method),
      [ATTR_HTTP_ROUTE]: route,
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: status,
      // The template: paths hold ids of the caller, and signed ones a token.
      [ATTR_URL_PATH]: route,
      // A proxy in front ends TLS.
      [ATTR_URL_SCHEME]: 'http',
      [ATTR_ERROR_TYPE]: status >= 500 ? String(status) : undefined,
      [ATTR_GRAPHQL_OPERATION_TYPE]: operation?.type,
      [ATTR_GRAPHQL_OPERATION_NAME]: name,
      'foldatlas.request_id': record.requestId,
      'foldatlas.upstream_calls': record.upstreamCalls,
      'foldatlas.errors': record.errors,
    };
    endSpan(span, attributes, status >= 500);
  }
  function end(record: RequestRecord, how: RequestEnd): void {
    if (record.hasEnded) return;
    record.hasEnded = true;
    inFlight -= 1;
    record.isDisconnected = how.isDisconnected === true;
    const milliseconds = performance.now() - record.startedAt;
    observe(() => count(record, how.status, milliseconds / 1000));
    observe(() => {
      const isQuiet = QUIET_ROUTES.has(record.route) && how.status < 500;
      log[isQuiet ? 'debug' : 'info'](accessLogFields(record, how, milliseconds), 'request');
    });
    observe(() => endRequestSpan(record, how.status));
    for (const cleanUp of record.onEnd) cleanUp();
  }

  function endCallSpan(
    span: Span,
    requestId: string,
    { operation, method, origin }: CallStart,
    { status, fault = ERROR_TYPE_VALUE_OTHER }: CallEnd,
  ) {
    if (!span.isRecording()) return;
    const { protocol, hostname, port } = new URL(origin);
    const hasFailed = status === 0 || status >= 400;
    const attributes = {
      [ATTR_HTTP_REQUEST_METHOD]: method,
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: status === 0 ? undefined : status,
      [ATTR_ERROR_TYPE]: hasFailed ? (status === 0 ? fault : String(status)) : undefined,
      // Paths hold ids, and signed addresses a token.
      [ATTR_URL_FULL]: `${origin}/REDACTED`,
      [ATTR_SERVER_ADDRESS]: hostname,
      [ATTR_SERVER_PORT]: Number(port) || (protocol === 'https:' ? 443 : 80),
      'foldatlas.upstream_operation': operation,
      'foldatlas.outcome': toOutcome(status),
      'foldatlas.request_id': requestId,
    };
    endSpan(span, attributes, hasFailed);
  }

  /** The path of a failure as a label: without positions in lists, and one of a bounded number. */
  function pathLabel(path = '$'): string {
    const place = path.replaceAll(/\.\d+(?=\.|$)/g, '[]');
    if (driftPaths.size < MAX_DRIFT_PATHS) driftPaths.add(place);
    return driftPaths.has(place) ? place : 'other';
  }

  function serviceFailed({ message, failure }: ServiceError, record: RequestRecord | undefined): void {
    const { code, operation, path, status, requestId: upstreamRequestId } = failure;
    if (!SERVICE_FAULTS.has(code)) return;
    const label = pathLabel(path);
    if (code === 'UPSTREAM_DRIFT') observe(() => metrics.drifts.inc({ operation, path: label }));
    if (record !== undefined) record.limitLines ??= createLineLimiter();
    // One line for a request, however many rows of it fail alike.
    const failures = record?.limitLines?.(`${code} ${operation} ${label} ${status}`) ?? 1;
    if (failures === 0) return;
    const owner = record === undefined ? {} : requestLogFields(record);
    const reason = redact(message);
    const line = { ...owner, code, operation, path, status, upstreamRequestId, failures, reason };
    log.warn(line, 'upstream failed');
  }

  function upstreamHooks(requestId: string, record: RequestRecord | undefined): CallHooks {
    return {
      ...record?.report?.hooks,
      onFailure: (error) => serviceFailed(error, record),
      startCall(call) {
        const { operation } = call;
        const startedAt = performance.now();
        const span = startSpan(SpanKind.CLIENT, operation, record?.span.spanContext());
        return {
          headers: traceHeaders(span),
          end(how) {
            const { status, fault } = how;
            const milliseconds = performance.now() - startedAt;
            if (record !== undefined) record.upstreamCalls += 1;
            record?.report?.addCall(operation, milliseconds);
            observe(() => {
              metrics.upstreamCalls.inc({ operation, outcome: toOutcome(status) });
              metrics.upstreamSeconds.observe({ operation }, milliseconds / 1000);
            });
            observe(() => endCallSpan(span, requestId, call, how));
            // The circuit breaker bounds how many calls to a service that is away are logged.
            const level = fault === undefined ? 'debug' : 'warn';
            if (!log.isLevelEnabled(level)) return;
            const owner = record === undefined ? { requestId } : requestLogFields(record);
            const line = { ...owner, operation, status, milliseconds: Math.round(milliseconds), fault };
            log[level](line, 'upstream');
          },
        };
      },
    };
  }

  return {
    inFlight: () => inFlight,
    begin(request) {
      inFlight += 1;
      return createRequestRecord(request, (name, parent) => startSpan(SpanKind.SERVER, name, parent));
    },
    countError(code, record) {
      if (record !== undefined) record.errors += 1;
      observe(() => metrics.errors.inc({ code }));
    },
    serviceFailed,
    end,
    upstreamHooks,
    cacheLookup: (kind, { memory, store, missing }) =>
      observe(() => {
        if (memory > 0) metrics.cacheHits.inc({ kind, tier: 'memory' }, memory);
        if (store > 0) metrics.cacheHits.inc({ kind, tier: 'store' }, store);
        if (missing > 0) metrics.cacheMisses.inc({ kind }, missing);
      }),
    webhookTried(report) {
      observe(() => metrics.webhooks.inc({ outcome: report.outcome }));
      log[report.outcome === 'delivered' ? 'info' : 'warn']({ ...report }, 'webhook');
    },
    storeFailed(store, error, requestId) {
      observe(() => metrics.storeErrors.inc({ store }));
      const state = error instanceof OperationalError ? error.constructor.name : String(error);
      const failures = limitStoreLines(`${store} ${state}`);
      if (failures === 0) return;
      if (store === 'cache') log.warn({ requestId, failures, error }, 'cache bypassed');
      else log.error({ requestId, failures, error }, `store: ${store}`);
    },
  };
}
