// Traces: W3C Trace Context, and OpenTelemetry sent by OTLP over HTTP. That is loaded only when
// configured; otherwise spans have ids but are not recorded. telemetry.ts sets the attributes, which
// hold no URL, token or variable.
import { randomFillSync } from 'node:crypto';
import type { Attributes, SpanKind as Kind, Span } from '@opentelemetry/api';
import { withTimeout } from '../async/deadline.ts';

export interface TraceContext {
  /** 32 hexadecimal characters, the same for everything that one question causes anywhere. */
  readonly traceId: string;
  /** 16 hexadecimal characters: this step of it. */
  readonly spanId: string;
  /** Whether the tracer that began the trace records it. */
  readonly sampled: boolean;
}

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
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const traceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

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
    sampled: parent?.sampled ?? false,
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
  /** @param kind - `server` for a request that came in, `client` for a call that goes out */
  begin(kind: 'server' | 'client', name: string, parent: TraceContext | undefined): TraceSpan;
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
  const kinds: Readonly<Record<'server' | 'client', Kind>> = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
  };
  const below = (parent: TraceContext) =>
    api.trace.setSpanContext(api.ROOT_CONTEXT, {
      traceId: parent.traceId,
      spanId: parent.spanId,
      traceFlags: parent.sampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE,
      isRemote: true,
    });
  const contextOf = (span: Span): TraceContext => {
    const { traceId, spanId, traceFlags } = span.spanContext();
    return { traceId, spanId, sampled: (traceFlags & api.TraceFlags.SAMPLED) !== 0 };
  };
  return {
    begin(kind, name, parent) {
      const root = parent === undefined ? api.ROOT_CONTEXT : below(parent);
      const span = tracer.startSpan(name, { kind: kinds[kind] }, root);
      return {
        context: contextOf(span),
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
