// A tracer, a metric or a log that cannot be set up is a warning: the gateway answers all the same.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { endWithFile } from '../child-processes.ts';
import { ROOT } from '../root.ts';
import { freePort } from '../store/redis-place.ts';
import { PLAIN_ENV } from './nodes.ts';
import { ask } from './program.ts';

let sandbox: Sandbox;
const taken = createServer();
let takenPort = '';
beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small' });
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  takenPort = String(Object(taken.address()).port);
});
afterAll(async () => {
  taken.close();
  await sandbox.close();
});

const TRACES = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
const TRACER = /ENDPOINT must be an http\(s\) URL; no traces are sent/;

const CASES: readonly [string, () => Record<string, string>, redirect?: string, warning?: RegExp][] = [
  ['an endpoint that is no URL', () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }), '', TRACER],
  [
    'an endpoint of another protocol',
    () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://127.0.0.1:4317' }),
    '',
    TRACER,
  ],
  ['an endpoint without a host', () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://' }), '', TRACER],
  ['a sampler that nobody knows', () => ({ ...TRACES, OTEL_TRACES_SAMPLER: 'sometimes' })],
  ['batches larger than the queue', () => ({ ...TRACES, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '100000' })],
  ['a queue that is no number', () => ({ ...TRACES, OTEL_BSP_MAX_QUEUE_SIZE: 'many' })],
  ['headers that no request can have', () => ({ ...TRACES, OTEL_EXPORTER_OTLP_HEADERS: 'a=\u00e9%0a,=,b' })],
  ['attributes that are none', () => ({ ...TRACES, OTEL_RESOURCE_ATTRIBUTES: '%%%=,=' })],
  ['a certificate that is missing', () => ({ ...TRACES, OTEL_EXPORTER_OTLP_CERTIFICATE: '/no/such/file' })],
  [
    'a port for metrics that is taken',
    () => ({ METRICS_PORT: takenPort }),
    '',
    /METRICS_PORT cannot be opened/,
  ],
  ['a log on a full disk', () => ({}), '2>/dev/full'],
  ['a log that is closed', () => ({}), '2>&-'],
  ['a standard output on a full disk', () => ({}), '>/dev/full'],
  ['a standard output whose reader has gone', () => ({}), '| true'],
];

it.concurrent.each(
  CASES,
)('the gateway answers over %s', async (_, settings, redirect = '', warning = /(?:)/) => {
  const port = String(await freePort());
  const env = {
    ...PLAIN_ENV,
    ...{ NODE: process.execPath, PORT: port, STORE_URL: 'memory:', UPSTREAM_URL: sandbox.url },
    ...settings(),
  };
  const script = `"$NODE" ${join(ROOT, 'dist/server.js')} ${redirect}`;
  const child = spawn('sh', ['-c', script], { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  endWithFile(child, true);
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const url = `http://127.0.0.1:${port}`;
  const query = '{ uniprotEntry(id: "P01308") { name } }';
  const ended = once(child, 'close').then(() => Promise.reject(new Error(`the gateway ended: ${log}`)));
  await Promise.race([ended, expect.poll(() => ask(url, query).catch(() => undefined)).toBeDefined()]);
  expect(await ask(url, query)).toEqual({ data: { uniprotEntry: { name: 'Insulin' } } });
  expect(log).toMatch(warning);
  ended.catch(() => undefined);
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
});
