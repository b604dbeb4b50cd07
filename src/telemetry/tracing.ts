// Traces sent by OTLP over HTTP. This file is imported only when that is configured: the SDK of
// OpenTelemetry is large.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { withTimeout } from '../async/deadline.ts';
import { VERSION } from '../package.ts';
import type { SpanTracer } from './trace-context.ts';

export interface TracingOptions {
  /** Where the collector is; `/v1/traces` is added. */
  readonly endpoint: string;
  /** Called when sending spans begins to fail: once until it succeeds again. */
  readonly onError: (error: unknown) => void;
}

export interface Tracing {
  readonly tracer: SpanTracer;
  /** Sends what has not been sent yet. */
  close(): Promise<void>;
}

/** How long the end of the process waits for the collector. */
const LAST_SEND_MS = 3_000;

/** Wraps an exporter to report its failures, which OpenTelemetry writes only to its own logger. */
function reportFailures(exporter: SpanExporter, onError: (error: unknown) => void): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        if (hasFailed && !isFailing) onError(result.error ?? 'the collector did not take them');
        isFailing = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/**
 * OpenTelemetry's own environment variables set the name, sampling, headers and batches.
 *
 * @throws Error for an endpoint that is no http(s) URL, and what OpenTelemetry throws
 */
export function openTracing({ endpoint, onError }: TracingOptions): Tracing {
  if (!/^https?:$/.test(new URL(endpoint).protocol))
    throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT must be an http(s) URL');
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      [ATTR_SERVICE_NAME]: 'foldatlas',
      [ATTR_SERVICE_VERSION]: VERSION,
    }).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reportFailures(exporter, onError))],
  });
  return {
    tracer: provider.getTracer('foldatlas', VERSION),
    async close() {
      // The exporter has reported spans that could not be sent.
      const end = provider.shutdown().catch(() => undefined);
      await withTimeout(end, LAST_SEND_MS, () => undefined);
    },
  };
}
