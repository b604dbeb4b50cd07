// Traces: W3C Trace Context, and OpenTelemetry sent by OTLP over HTTP. That is loaded only when
// configured; otherwise spans have ids but are not recorded. telemetry.ts sets the attributes, which
// hold no URL, token or variable.
import { randomFillSync } from 'node:crypto';
import type { Attributes, SpanContext } from '@opentelemetry/api';
import { withTimeout } from '../async/deadline.ts';

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
export const readTracestate = (header: string | null): string | undefined =>
  header !== null && header.length <= MAX_TRACESTATE && /^[\x20-\x7e]+$/.test(header) ? header : undefined;

export const traceparent = ({ traceId, spanId, traceFlags }: TraceContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & SAMPLED}`;

const IDS_BYTES = 24;
const IDS_LETTERS = 2 * IDS_BYTES;
/** Asking for random bytes, and writing them out, costs much the same for few and for many. */
const bytes = Buffer.alloc(IDS_BYTES * 128);
let letters = '';
let used = 0;

function randomHex(): string {
  if (used === letters.length) {
    letters = randomFillSync(bytes).toString('hex');
    used = 0;
  }
  used += IDS_LETTERS;
  return letters.slice(used - IDS_LETTERS, used);
}

/** The next step of a trace; the first of a new one without a parent. */
function childSpanContext(parent: TraceContext | undefined): TraceContext {
  const random = randomHex();
  return {
    traceId: parent?.traceId ?? random.slice(16),
    spanId: random.slice(0, 16),
    traceFlags: parent?.traceFlags ?? 0,
  };
}

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

export interface TracingOptions {
  /** Where the collector is; `/v1/traces` is added. */
  readonly endpoint: string;
  readonly serviceName: string;
  readonly onError: (error: unknown) => void;
}

/** How long the end of the process waits for the collector. */
const LAST_SEND_MS = 3_000;

/** OpenTelemetry's own environment variables set sampling, headers and batches. */
export async function openTracing({ endpoint, serviceName, onError }: TracingOptions): Promise<Tracing> {
  const [api, sdk, otlp, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const provider = new sdk.NodeTracerProvider({
    resource: resources
      .detectResources({ detectors: [resources.envDetector] })
      .merge(resources.resourceFromAttributes({ 'service.name': serviceName })),
    spanProcessors: [
      new sdk.BatchSpanProcessor(new otlp.OTLPTraceExporter({ url: `${endpoint}/v1/traces` })),
    ],
  });
  const tracer = provider.getTracer('foldatlas');
  return {
    begin(kind, name, parent) {
      const { ROOT_CONTEXT, SpanKind, trace } = api;
      const around =
        parent === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
      const span = tracer.startSpan(name, { kind: SpanKind[kind] }, around);
      return {
        context: span.spanContext(),
        end({ name: known, attributes, failed }) {
          span.updateName(known);
          span.setAttributes(attributes);
          if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    async close() {
      await withTimeout(provider.shutdown().catch(onError), LAST_SEND_MS, () => undefined);
    },
  };
}
