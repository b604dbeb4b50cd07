// An OpenTelemetry collector on loopback that keeps the spans it is sent (OTLP over HTTP, JSON).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { vi } from 'vitest';
import { z } from 'zod';
import { openTracing, type Tracing } from '../../src/telemetry/tracing.ts';

const attribute = z.object({
  key: z.string(),
  value: z.record(z.string(), z.unknown()).transform((value) => Object.values(value)[0]),
});
const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  status: z.object({ code: z.number().optional() }),
  attributes: z
    .array(attribute)
    .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value]))),
});
const sent = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
});

export type SentSpan = z.output<typeof span>;

export interface Collector {
  readonly url: string;
  readonly spans: SentSpan[];
  /** Everything as it came. */
  text(): string;
  close(): Promise<void>;
}

export async function openCollector(): Promise<Collector> {
  const spans: SentSpan[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const bytes = await buffer(request);
    const body = String(request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
    bodies.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
    for (const { scopeSpans } of sent.parse(JSON.parse(body)).resourceSpans)
      spans.push(...scopeSpans.flatMap((scope) => scope.spans));
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => bodies.join('\n'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Opens a tracer with OpenTelemetry's variables, which it reads from the environment once. */
export function openTracingTo(
  url: string,
  env: Readonly<Record<string, string>> = {},
  warn: (problem: string) => void = () => undefined,
): Tracing {
  for (const [name, value] of Object.entries({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env }))
    vi.stubEnv(name, value);
  try {
    return openTracing(warn);
  } finally {
    vi.unstubAllEnvs();
  }
}
