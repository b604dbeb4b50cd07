// The record of one request for logs, metrics and traces. It holds only what a log line may show: the route
// instead of the path, the operation name instead of the query. Steps of traces have ids as W3C Trace
// Context writes them, recorded or not; telemetry.ts sets attributes, which hold no URL, token or variable.
import { randomUUID } from 'node:crypto';
import type { Attributes, SpanContext } from '@opentelemetry/api';
import { createPrivateField } from '../private-field.ts';
import type { CallRecord } from '../upstream/http/call-record.ts';
import { redact } from './redact.ts';

/** With the value 1, the response reports its upstream calls. */
export const REPORT_HEADER = 'x-upstream-report';

export interface RequestRecord {
  readonly requestId: string;
  /** Its step of a trace. */
  readonly step: TraceSpan;
  /** What other tracers say of the trace, for calls to the service. */
  readonly tracestate: string | undefined;
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
  /** What it reports. */
  report: CallRecord | undefined;
  errors: number;
  /** Whether it counts among those that are being answered. */
  begun: boolean;
  ended: boolean;
  /**
   * Whether the client disconnected before the end of the response: later errors reach no client.
   */
  left: boolean;
  /** Clean-up callbacks, each called once at the end. They hold little: a stream may last a day. */
  readonly onEnd: (() => void)[];
}

export interface RequestStart {
  readonly requestId: string;
  /** HTTP's, or WS for an operation over WebSocket. */
  readonly method: string | undefined;
  readonly pathname: string;
  /** As W3C Trace Context writes it. */
  readonly traceparent: string | null;
  /** None when absent. */
  readonly tracestate?: string | null;
  /** On the clock of `performance.now()`; now when absent. */
  readonly startedAt?: number;
  /** Whether its upstream calls are to be reported. */
  readonly isReported?: boolean;
}

export interface RequestEnd {
  readonly status: number;
  /** Bytes sent to the client, headers included; undefined when they were not counted. */
  readonly bytes: number | undefined;
  /** Whether the caller left before the end of the answer. */
  readonly left: boolean;
}

export interface OperationInfo {
  readonly type: 'query' | 'mutation' | 'subscription';
  /** As the caller named it; null for one without a name. */
  readonly name: string | null;
}

const ROUTES: readonly (readonly [RegExp, string])[] = [
  [/^\/assets\//, '/assets/{file}'],
  [/^\/thumbnails\/[^/]+\/[^/]+$/, '/thumbnails/{hash}/{type}.png'],
  [/^\/structures\/[^/]+$/, '/structures/{hash}.{format}'],
  [/^\/tasks\/[^/]+\/[^/]+$/, '/tasks/{taskId}/{file}'],
  [/^\/batches\/[^/]+\/[^/]+$/, '/batches/{batchId}/{file}'],
  [/^\/bulk\/[^/]+\/[^/]+$/, '/bulk/{lookupId}/{part}.zip'],
  [/^\/export\.(tsv|ndjson)$/, '/export.{format}'],
  [/^\/bulk\/[^/]+$/, '/bulk/{lookupId}.{format}'],
];
const PLAIN = new Set(['/', '/graphql', '/llms.txt', '/schema.graphql', '/health', '/ready', '/metrics']);

/** The template of a path: one of a fixed set. */
function routeOf(pathname: string): string {
  if (PLAIN.has(pathname)) return pathname;
  return ROUTES.find(([pattern]) => pattern.test(pathname))?.[1] ?? 'other';
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'WS']);

export function openExchange(
  tracing: Tracing,
  {
    requestId,
    method = '',
    pathname,
    traceparent,
    tracestate = null,
    startedAt = performance.now(),
    isReported = false,
  }: RequestStart,
): RequestRecord {
  const route = routeOf(pathname);
  const parent = readTraceparent(traceparent);
  return {
    requestId,
    step: tracing.begin('SERVER', route, parent),
    tracestate: parent === undefined ? undefined : readTracestate(tracestate),
    method: METHODS.has(method) ? method : 'other',
    route,
    startedAt,
    operation: undefined,
    principal: undefined,
    upstreamCalls: 0,
    isReported,
    report: undefined,
    errors: 0,
    begun: false,
    ended: false,
    left: false,
    onEnd: [],
  };
}

/** What every line about the request carries. */
export const requestLogFields = ({ requestId, step }: RequestRecord) => ({
  requestId,
  traceId: step.context.traceId,
});

const PRINCIPAL_CHARACTERS = 8;

/** Fields of the access log: the line that every request ends with. */
export function accessLogFields(
  exchange: RequestRecord,
  { status, bytes, left }: RequestEnd,
  milliseconds: number,
) {
  const { requestId, step, method, route, operation, principal, upstreamCalls, errors } = exchange;
  // What is undefined is not written.
  return {
    requestId,
    traceId: step.context.traceId,
    method,
    route,
    status: method === 'WS' ? undefined : status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    operation: operation?.type,
    name: operation?.name == null ? undefined : boundedOperationName(operation.name),
    principal: principal?.slice(0, PRINCIPAL_CHARACTERS),
    upstreamCalls,
    errors: errors > 0 ? errors : undefined,
    bytes,
    left: left ? left : undefined,
  };
}

/** An operation's name as it may be shown: it is the caller's text. */
export function boundedOperationName(name: string): string {
  if (lastName.name !== name) lastName = { name, shown: redact(name.slice(0, 100)) };
  return lastName.shown;
}
/** What was shown last: most requests ask what others have just asked. */
let lastName = { name: '', shown: '' };

const ids = createPrivateField<Request, string>();

/**
 * The caller's own id where it sent a usable one in `x-request-id`, else a new one: no token and no
 * sequence, as it stands in the log and goes to the upstream.
 *
 * @param authorization - the header of the same request
 */
export const makeRequestId = (given: string | null | undefined, authorization?: string | null): string =>
  given != null &&
  /^[\w.:-]{8,128}$/.test(given) &&
  redact(given) === given &&
  !authorization?.includes(given)
    ? given
    : randomUUID();

/** The id of a request, the same whenever asked. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request);
  if (known !== undefined) return known;
  const id = makeRequestId(request.headers.get('x-request-id'), request.headers.get('authorization'));
  ids.set(request, id);
  return id;
}

/** `traceId` for all that one question causes anywhere, `spanId` of this step, in hexadecimal. */
export type TraceContext = Pick<SpanContext, 'traceId' | 'spanId' | 'traceFlags'>;

/** Whether the tracer that began the trace records it: a bit of the flags. */
const SAMPLED = 1;
const PATTERN = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` header.
 *
 * @returns undefined for an invalid one, which the standard says to ignore
 */
export function readTraceparent(header: string | null): TraceContext | undefined {
  if (header === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = PATTERN.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED };
}

/** Characters of a `tracestate`: as many as the standard says to pass on. */
const MAX_TRACESTATE = 512;

/** Reads a `tracestate` header, which is passed on as it is. */
const readTracestate = (header: string | null): string | undefined =>
  header !== null && header.length <= MAX_TRACESTATE && /^[\x20-\x7e]+$/.test(header) ? header : undefined;

export const traceparent = ({ traceId, spanId, traceFlags }: TraceContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & SAMPLED}`;

/** Node takes random bytes for many UUIDs at once; `randomBytes` asks the system for them each time. */
const randomHex = (): string => randomUUID().replaceAll('-', '');

/** The next step of a trace; the first of a new one without a parent. */
const childSpanContext = (parent: TraceContext | undefined): TraceContext => ({
  traceId: parent?.traceId ?? randomHex(),
  spanId: randomHex().slice(16),
  traceFlags: parent?.traceFlags ?? 0,
});

/** A step of a trace that is under way. */
export interface TraceSpan {
  readonly context: TraceContext;
  /** Absent when the span is not recorded. */
  readonly end?: (what: TraceSpanEnd) => void;
}

export interface TraceSpanEnd {
  readonly name: string;
  readonly attributes: Attributes;
  /** Whether it failed by a fault of ours or of the upstream. */
  readonly failed: boolean;
}

export interface Tracing {
  /** @param kind - SERVER for a request that came in, CLIENT for a call that goes out */
  begin(kind: 'SERVER' | 'CLIENT', name: string, parent: TraceContext | undefined): TraceSpan;
  /** Sends what has not been sent yet. */
  close(): Promise<void>;
}

/** Spans that are not recorded: ids for logs, for the upstream and for the caller. */
export const noopTracing: Tracing = {
  begin: (_kind, _name, parent) => ({ context: childSpanContext(parent) }),
  close: async () => undefined,
};
