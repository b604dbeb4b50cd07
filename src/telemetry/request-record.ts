// The record of one request for logs, metrics and traces. It holds only what a log line may show:
// the route instead of the path, the operation name instead of the query.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Span, SpanContext } from '@opentelemetry/api';
import type { LineLimiter } from './line-limiter.ts';
import { redact } from './redact.ts';
import { toMethodLabel, toRouteLabel } from './request-labels.ts';
import { readTraceparent } from './trace-context.ts';
import type { CallRecord } from './upstream-calls.ts';

/** With the value 1, the response reports its upstream calls. */
export const REPORT_HEADER = 'x-upstream-report';

export interface RequestRecord {
  /** The caller's, or that of the trace where this request begins one. */
  readonly requestId: string;
  readonly span: Span;
  /** HTTP's, or WS for an operation over WebSocket. */
  readonly method: string;
  /** Template of the path. */
  readonly route: string;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  operation: OperationInfo | undefined;
  /** The caller's name within the gateway; null for anonymous, undefined before authentication. */
  principal: string | null | undefined;
  upstreamCalls: number;
  /** Whether the response reports its upstream calls in `extensions.upstream`. */
  readonly isReported: boolean;
  /** The report itself. */
  report: CallRecord | undefined;
  errors: number;
  /** Limits lines about failures of the service; undefined before the first. */
  limitLines: LineLimiter | undefined;
  hasEnded: boolean;
  /**
   * Whether the client disconnected before the end of the response: later errors reach no client.
   */
  isDisconnected: boolean;
  /** Clean-up callbacks, each called once at the end. They hold little: a stream may last a day. */
  readonly onEnd: (() => void)[];
}

export interface IncomingRequest {
  /** HTTP's, or WS for an operation over WebSocket. */
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface RequestEnd {
  readonly status: number;
  /** Bytes sent to the client, headers included; absent when they were not counted. */
  readonly bytes?: number;
  /** Whether the client disconnected before the end of the response. */
  readonly isDisconnected?: boolean;
}

export interface OperationInfo {
  readonly type: 'query' | 'mutation' | 'subscription';
  /** As the caller named it; null for one without a name. */
  readonly name: string | null;
}

/** A header with one value. Node joins those of a repeated header. */
const readHeader = (headers: IncomingHttpHeaders, name: string): string | undefined =>
  headers[name]?.toString();

/** @param startSpan - starts the span of the request, below that of the client where it sent one */
export function createRequestRecord(
  { method, path, headers }: IncomingRequest,
  startSpan: (name: string, parent: SpanContext | undefined) => Span,
): RequestRecord {
  const route = toRouteLabel(path);
  const parent = readTraceparent(readHeader(headers, 'traceparent'), readHeader(headers, 'tracestate'));
  const span = startSpan(route, parent);
  const ownId = parent === undefined ? span.spanContext().traceId : randomUUID();
  return {
    requestId: readRequestId(readHeader(headers, 'x-request-id'), headers.authorization) ?? ownId,
    span,
    method: toMethodLabel(method),
    route,
    startedAt: performance.now(),
    operation: undefined,
    principal: undefined,
    upstreamCalls: 0,
    isReported: headers[REPORT_HEADER] === '1',
    report: undefined,
    errors: 0,
    limitLines: undefined,
    hasEnded: false,
    isDisconnected: false,
    onEnd: [],
  };
}

/** Fields of every log line about the request. */
export const requestLogFields = ({ requestId, span }: RequestRecord) => ({
  requestId,
  traceId: span.spanContext().traceId,
});

const PRINCIPAL_CHARACTERS = 8;
const MAX_NAME_CHARACTERS = 100;

/** An operation's name as it may be shown: it is the caller's text. */
export const shownName = (name: string | null | undefined): string | undefined =>
  name == null ? undefined : redact(name.slice(0, MAX_NAME_CHARACTERS));

/**
 * Fields of the access log: the line that every request ends with. Undefined fields are not
 * written.
 */
export const accessLogFields = (
  record: RequestRecord,
  { status, bytes, isDisconnected }: RequestEnd,
  milliseconds: number,
) => ({
  requestId: record.requestId,
  traceId: record.span.spanContext().traceId,
  method: record.method,
  route: record.route,
  status: record.method === 'WS' ? undefined : status,
  milliseconds: Math.round(milliseconds * 10) / 10,
  operation: record.operation?.type,
  name: shownName(record.operation?.name),
  principal: record.principal?.slice(0, PRINCIPAL_CHARACTERS),
  upstreamCalls: record.upstreamCalls,
  errors: record.errors > 0 ? record.errors : undefined,
  bytes,
  disconnected: isDisconnected || undefined,
});

/**
 * The caller's own id where it sent a usable one in `x-request-id`: no token and no sequence, as it
 * stands in the log and goes to the service.
 *
 * @param authorization - the header of the same request
 */
export const readRequestId = (given: string | undefined, authorization?: string): string | undefined =>
  given !== undefined &&
  /^[\w.:-]{8,128}$/.test(given) &&
  redact(given) === given &&
  !authorization?.includes(given)
    ? given
    : undefined;
