// Traces sent by OTLP over HTTP. This file is imported only when that is configured: the SDK of
// OpenTelemetry is large.
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { withTimeout } from '../async/deadline.ts';
import { VERSION } from '../package.ts';
import { redact } from './redact.ts';
import type { SpanTracer } from './trace-context.ts';

export interface Tracing {
  readonly tracer: SpanTracer;
  /** Sends what has not been sent yet. */
  close(): Promise<void>;
}

/** How long the end of the process waits for the collector. */
const LAST_SEND_MS = 3_000;

/** Why spans were not taken, in a line. A failed connection to several addresses has no message. */
const reason = (error: (Error & { code?: unknown }) | undefined): string =>
  redact(error?.message || String(error?.code ?? 'the collector did not take them'));

/** Wraps an exporter to report its failures, which OpenTelemetry writes only to its own logger. */
function reportFailures(exporter: SpanExporter, warn: (problem: string) => void): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        if (hasFailed && !isFailing) warn(`traces were not sent: ${reason(result.error)}`);
        isFailing = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/**
 * OpenTelemetry reads its own environment variables: address, headers, name, sampling, batches and
 * limits.
 *
 * @param warn - receives a sentence for each variable that is wrong, and one when sending spans
 *   begins to fail
 * @throws what OpenTelemetry throws
 */
export function openTracing(warn: (problem: string) => void): Tracing {
  const ignore = () => undefined;
  const tell = (text: string) => warn(redact(text));
  const logger = { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  try {
    return createTracing(warn);
  } finally {
    // Later on it would write each failure of the exporter, with a stack.
    diag.disable();
  }
}

function createTracing(warn: (problem: string) => void): Tracing {
  const exporter = new OTLPTraceExporter();
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      [ATTR_SERVICE_NAME]: 'foldatlas',
      [ATTR_SERVICE_VERSION]: VERSION,
    }).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reportFailures(exporter, warn))],
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
