// Span contexts as W3C Trace Context writes them, and the tracer of a process without a collector.
import { randomUUID } from 'node:crypto';
import {
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** Starts spans; the spans are OpenTelemetry's. */
export type SpanTracer = Pick<Tracer, 'startSpan'>;

/**
 * Spans with ids for logs, for the service and for the client, which are not recorded. Node takes
 * random bytes for many UUIDs at once; `randomBytes` asks the system for them each time.
 */
export const nonRecordingTracer: SpanTracer = {
  startSpan(_name, _options, context = ROOT_CONTEXT) {
    const id = randomUUID();
    const traceId = id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
    const parent = trace.getSpanContext(context);
    return trace.wrapSpanContext({
      traceId: parent?.traceId ?? traceId,
      spanId: traceId.slice(16),
      traceFlags: parent?.traceFlags ?? TraceFlags.NONE,
      ...(parent?.traceState === undefined ? {} : { traceState: parent.traceState }),
    });
  },
};

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads the headers of a trace that began elsewhere.
 *
 * @returns undefined for an invalid `traceparent`, which the standard says to ignore with its state
 */
export function readTraceparent(
  header: string | undefined,
  tracestate?: string | undefined,
): SpanContext | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const context: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(context) ? context : undefined;
}

/** The `traceparent` and `traceresponse` header of a span. */
export function traceparent(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
}

/** The headers by which the service goes on with the trace of a span. */
export function traceHeaders(span: Span): Record<string, string> {
  const tracestate = span.spanContext().traceState?.serialize() ?? '';
  return { traceparent: traceparent(span), ...(tracestate === '' ? {} : { tracestate }) };
}
