// Traces sent by OTLP over HTTP. The SDK of OpenTelemetry is loaded only when that is configured.
import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import { withTimeout } from '../async/deadline.ts';
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

/** OpenTelemetry's own environment variables set the name, sampling, headers and batches. */
export async function openTracing({ endpoint, onError }: TracingOptions): Promise<Tracing> {
  const [sdk, otlp, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const exporter = new otlp.OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const provider = new sdk.NodeTracerProvider({
    resource: resources
      .resourceFromAttributes({ 'service.name': 'foldatlas' })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(reportFailures(exporter, onError))],
  });
  return {
    tracer: provider.getTracer('foldatlas'),
    async close() {
      // The exporter has reported spans that could not be sent.
      const end = provider.shutdown().catch(() => undefined);
      await withTimeout(end, LAST_SEND_MS, () => undefined);
    },
  };
}
