// The variables of OpenTelemetry's specification: docs/operations.md says which work, and each of
// these is tried here.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { ROOT } from '../root.ts';
import { type Collector, openCollector, openTracingTo } from './collector.ts';

let collector: Collector;
beforeAll(async () => {
  collector = await openCollector();
});
afterAll(() => collector.close());

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const TRACES_ENDPOINT = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const PROTOCOL = 'OTEL_EXPORTER_OTLP_PROTOCOL';
const TRACES_PROTOCOL = 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL';
const ON = { [ENDPOINT]: 'http://127.0.0.1:4318' };

/** Variables, whether traces are sent with them, and the warning. */
const SWITCHES: readonly [Record<string, string>, boolean, string?][] = [
  [{}, false],
  [ON, true],
  [{ [TRACES_ENDPOINT]: 'https://collector.example/x' }, true],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ ...ON, OTEL_TRACES_EXPORTER: 'none' }, false],
  [
    { ...ON, OTEL_TRACES_EXPORTER: 'zipkin' },
    false,
    'OTEL_TRACES_EXPORTER: the gateway has no exporter but otlp, not zipkin; no traces are sent',
  ],
  [{ ...ON, OTEL_SDK_DISABLED: 'true' }, false],
  [{ ...ON, OTEL_SDK_DISABLED: ' TRUE ' }, false],
  [{ ...ON, OTEL_SDK_DISABLED: '1' }, true],
  [{ [ENDPOINT]: 'wrong', OTEL_SDK_DISABLED: 'true' }, false],
  [{ ...ON, [PROTOCOL]: 'http/json' }, true],
  [
    { ...ON, [PROTOCOL]: 'http/protobuf' },
    true,
    `${PROTOCOL}: the gateway sends http/json, not http/protobuf`,
  ],
  [
    { ...ON, [PROTOCOL]: 'grpc' },
    false,
    `${PROTOCOL}: the gateway sends http/json only, not grpc; no traces are sent`,
  ],
  [{ ...ON, [PROTOCOL]: 'grpc', [TRACES_PROTOCOL]: 'http/json' }, true],
  ...['collector', 'collector:4318', 'grpc://127.0.0.1:4317', 'http://'].map(
    (url): [Record<string, string>, boolean, string] => [
      { [ENDPOINT]: url },
      false,
      `${ENDPOINT} must be an http(s) URL; no traces are sent`,
    ],
  ),
  [
    { ...ON, [TRACES_ENDPOINT]: 'collector' },
    false,
    `${TRACES_ENDPOINT} must be an http(s) URL; no traces are sent`,
  ],
];

interface Sent {
  readonly spans: Collector['spans'];
  readonly text: string;
  readonly warnings: readonly string[];
}

/** Sends a span with an attribute of ten characters. */
async function send(env: Record<string, string>): Promise<Sent> {
  const warnings: string[] = [];
  const [spans, text] = [collector.spans.length, collector.text().length];
  const tracing = openTracingTo(collector.url, env, (problem) => warnings.push(problem));
  tracing.tracer.startSpan('step', { attributes: { first: '0123456789', second: 1 } }).end();
  await tracing.close();
  return { spans: collector.spans.slice(spans), text: collector.text().slice(text).trim(), warnings };
}

/** Variables that the SDK itself reads: name, value, others beside it, and a check of the spans. */
const READ: readonly [string, () => string, Record<string, string>, (sent: Sent) => void][] = [
  [ENDPOINT, () => `${collector.url}/a/`, {}, ({ text }) => expect(text).toMatch(/^\/a\/v1\/traces /)],
  [TRACES_ENDPOINT, () => `${collector.url}/b`, {}, ({ text }) => expect(text).toMatch(/^\/b /)],
  [
    'OTEL_EXPORTER_OTLP_HEADERS',
    () => 'x-one=1,x-two=2',
    {},
    ({ text }) => expect(text).toContain('"x-one":"1","x-two":"2"'),
  ],
  [
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    () => 'x-one=3',
    { OTEL_EXPORTER_OTLP_HEADERS: 'x-one=1' },
    ({ text }) => expect(text).toContain('"x-one":"3"'),
  ],
  [
    'OTEL_EXPORTER_OTLP_COMPRESSION',
    () => 'gzip',
    {},
    ({ text, spans }) => {
      expect(text).toContain('"content-encoding":"gzip"');
      expect(spans).toHaveLength(1);
    },
  ],
  [
    'OTEL_SERVICE_NAME',
    () => 'tested',
    {},
    ({ text }) => expect(text).toContain('"service.name","value":{"stringValue":"tested"}'),
  ],
  [
    'OTEL_RESOURCE_ATTRIBUTES',
    () => 'deployment.environment.name=staging',
    {},
    ({ text }) => {
      expect(text).toContain('"deployment.environment.name","value":{"stringValue":"staging"}');
      expect(text).toContain('"service.name","value":{"stringValue":"foldatlas"}');
    },
  ],
  ['OTEL_TRACES_SAMPLER', () => 'always_off', {}, ({ spans }) => expect(spans).toEqual([])],
  [
    'OTEL_TRACES_SAMPLER_ARG',
    () => '0',
    { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio' },
    ({ spans }) => expect(spans).toEqual([]),
  ],
  [
    'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT',
    () => '1',
    {},
    ({ spans }) => expect(spans[0]?.attributes).toEqual({ first: '0123456789' }),
  ],
  [
    'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
    () => '4',
    {},
    ({ spans }) => expect(spans[0]?.attributes).toMatchObject({ first: '0123' }),
  ],
  [
    'OTEL_BSP_MAX_QUEUE_SIZE',
    () => '0',
    { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '0' },
    ({ spans }) => expect(spans).toEqual([]),
  ],
  [
    'OTEL_EXPORTER_OTLP_CERTIFICATE',
    () => `${ROOT}package.json`,
    {},
    // Not used by a collector without TLS.
    ({ spans }) => expect(spans).toHaveLength(1),
  ],
];

describe('a variable of OpenTelemetry', () => {
  it.each(SWITCHES)('decides whether traces are sent: %j', (env, tracesOn, warning) => {
    const config = readConfig(env);
    expect(config.tracesOn).toBe(tracesOn);
    expect(config.warnings).toEqual(warning === undefined ? [] : [warning]);
  });

  it.each(READ)('is read by the SDK: %s', async (name, value, others, check) => {
    const sent = await send({ ...others, [name]: value() });
    check(sent);
    expect(sent.warnings).toEqual([]);
  });

  it('is told in one line when its value is wrong', async () => {
    for (const [name, value] of [
      ['OTEL_TRACES_SAMPLER', 'sometimes'],
      ['OTEL_BSP_MAX_QUEUE_SIZE', 'many'],
      ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/no/such/file'],
    ] as const) {
      const { warnings } = await send({ [name]: value });
      expect(warnings.length, name).toBeGreaterThan(0);
      expect(warnings.join('\n'), name).not.toMatch(/\n {4}at /);
    }
  });

  it('works where docs/operations.md says so', () => {
    const [, section = ''] = readFileSync(`${ROOT}docs/operations.md`, 'utf8').split('\n## Traces\n');
    const [documented] = section.split('\n## ');
    const named = new Set(documented?.match(/\bOTEL_[A-Z_]+\b/g));
    const tried = new Set([
      ...SWITCHES.flatMap(([env]) => Object.keys(env)),
      ...READ.flatMap(([name, , others]) => [name, ...Object.keys(others)]),
    ]);
    expect([...named].sort()).toEqual([...tried].sort());
  });
});
