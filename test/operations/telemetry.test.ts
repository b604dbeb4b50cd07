// Telemetry of requests: one access line each, the trace they belong to, numbers for Prometheus,
// spans for a collector, and readiness for traffic.
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { refuseMetrics } from '../../src/http/access/shared-secrets.ts';
import { VERSION } from '../../src/package.ts';
import { readTraceparent } from '../../src/telemetry/trace-context.ts';
import { recorded, testLogger } from '../record.ts';
import { at, openWorld, type World } from '../support.ts';
import { openCollector, openTracingTo } from './collector.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const CARD = `query ProteinCard { uniprotEntry(id: "P01308") { name } protein(hash: "${INSULIN}") { ptm } }`;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;

let world: World;
const lines: Record<string, unknown>[] = [];
beforeAll(async () => {
  world = await openWorld({ CACHE_RECORDS_SECONDS: '60' }, {}, (line) => lines.push(JSON.parse(line)));
});
afterAll(() => world.close());
beforeEach(() => {
  lines.length = 0;
  world.forget();
});

const get = (path: string, init?: RequestInit): Promise<Response> =>
  world.gateway.fetch(new Request(`http://gateway.test${path}`, init));

/** A sample of the metrics; undefined when there is none with these labels. */
async function sample(name: string, text?: string): Promise<number | undefined> {
  const all = text ?? (await (await get('/metrics')).text());
  const line = all.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

describe('the log', () => {
  it('has one line for each request, with its cost and without what was asked', async () => {
    const headers = { authorization: 'Bearer telemetry-token', 'x-request-id': 'telemetry-0001' };
    await world.query(CARD, {}, headers);
    const requests = lines.filter(({ message }) => message === 'request');
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      level: 'info',
      requestId: 'telemetry-0001',
      method: 'POST',
      route: '/graphql',
      status: 200,
      operation: 'query',
      name: 'ProteinCard',
      upstreamCalls: 2,
      principal: expect.stringMatching(/^[\w-]{8}$/),
    });
    expect(lines.map(({ requestId }) => requestId)).toEqual(lines.map(() => 'telemetry-0001'));
    expect(JSON.stringify(lines)).not.toMatch(/P01308|telemetry-token|uniprotEntry/);
  });

  it('names the route of a file, not its path', async () => {
    await get(`/structures/${INSULIN}.pdb?secret=1`);
    expect(lines.find(({ message }) => message === 'request')).toMatchObject({
      route: '/structures/{hash}.{format}',
    });
    expect(JSON.stringify(lines)).not.toContain(INSULIN);
  });

  it('is silent about machines that ask whether it lives', async () => {
    for (const path of ['/health', '/ready', '/metrics']) await get(path);
    expect(lines.filter(({ message, level }) => message === 'request' && level !== 'debug')).toEqual([]);
  });
});

describe('a trace', () => {
  it('goes on through the gateway: the same id in the lines, upstream, and in the answer', async () => {
    const response = await get(
      `/graphql?query=${encodeURIComponent('{ protein(hash: "8638a1f668ec33ebe31a2aba196bd674") { length } }')}`,
      {
        headers: { traceparent: PARENT },
      },
    );
    const answered = readTraceparent(response.headers.get('traceresponse') ?? undefined);
    expect(answered).toMatchObject({ traceId: TRACE, traceFlags: 1 });
    const sent = world.calls.map(({ headers }) => readTraceparent(headers.traceparent));
    expect(sent).toHaveLength(1);
    expect(sent[0]?.traceId).toBe(TRACE);
    expect(new Set([sent[0]?.spanId, answered?.spanId, 'b7ad6b7169203331']).size).toBe(3);
    expect(lines.map(({ traceId }) => traceId)).toEqual(lines.map(() => TRACE));
  });

  it('goes on with what other tracers say of it, unless the trace begins anew', async () => {
    const states: (string | undefined)[] = [];
    for (const [index, headers] of [
      { traceparent: PARENT, tracestate: 'vendor=t61rcWkgMzE,other@tenant=1' },
      { traceparent: PARENT, tracestate: `vendor=${'x'.repeat(600)}` },
      { traceparent: PARENT },
      { traceparent: 'nonsense', tracestate: 'vendor=1' },
    ].entries()) {
      world.forget();
      await get(`/graphql?query=${encodeURIComponent(`{ feature(index: ${index + 40}) { summary } }`)}`, {
        headers,
      });
      expect(world.calls).toHaveLength(1);
      states.push(world.calls[0]?.headers.tracestate);
    }
    expect(states).toEqual(['vendor=t61rcWkgMzE,other@tenant=1', undefined, undefined, undefined]);
  });

  it.each([
    'nonsense',
    `ff-${TRACE}-b7ad6b7169203331-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-b7ad6b7169203331-01-more`,
    `00-${TRACE.toUpperCase()}-b7ad6b7169203331-01`,
  ])('begins anew where the header is not valid: %s', (header) => {
    expect(readTraceparent(header)).toBeUndefined();
  });

  it('says once that a collector does not take spans', async () => {
    const refusing = createServer((_, response) => void response.writeHead(404).end());
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const { port } = refusing.address() as { port: number };
    const errors: unknown[] = [];
    const tracing = openTracingTo(`http://127.0.0.1:${port}`, {}, (problem) => errors.push(problem));
    for (let i = 0; i < 1000; i++) tracing.tracer.startSpan('step').end();
    // While it runs, not only when it ends.
    await expect.poll(() => errors).toHaveLength(1);
    await tracing.close();
    refusing.close();
    expect(errors).toEqual(['traces were not sent: Not Found']);
  });

  it('is sent to a collector: a span for the request, one below it for each upstream call', async () => {
    const collector = await openCollector();
    const tracing = openTracingTo(collector.url, { OTEL_SERVICE_NAME: 'tested' });
    const gateway = recorded(
      createGateway({
        config: readConfig({ STORE_URL: 'memory:', MAX_CONCURRENT_REQUESTS: '0' }),
        upstreamUrl: world.sandboxUrl,
        log: testLogger(),
        tracing,
      }),
    );
    const response = await gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', traceparent: PARENT },
        body: JSON.stringify({ query: CARD }),
      }),
    );
    await response.text();
    await tracing.close();
    await gateway.close();
    await collector.close();
    const root = collector.spans.find(({ kind }) => kind === 2);
    expect(root).toMatchObject({
      traceId: TRACE,
      parentSpanId: 'b7ad6b7169203331',
      name: 'query ProteinCard',
      attributes: {
        'http.route': '/graphql',
        'http.response.status_code': 200,
        'url.path': '/graphql',
        'url.scheme': 'http',
        'foldatlas.upstream_calls': 2,
      },
    });
    const calls = collector.spans.filter(({ kind }) => kind === 3);
    expect(calls.map(({ name }) => name).sort()).toEqual(['protein', 'uniprot']);
    const { hostname, port } = new URL(world.sandboxUrl);
    for (const call of calls)
      expect(call).toMatchObject({
        traceId: TRACE,
        parentSpanId: root?.spanId,
        attributes: {
          'http.request.method': 'GET',
          'url.full': `${new URL(world.sandboxUrl).origin}/REDACTED`,
          'server.address': hostname,
          'server.port': expect.toSatisfy((value: unknown) => Number(value) === Number(port)),
        },
      });
    expect(readTraceparent(response.headers.get('traceresponse') ?? undefined)?.spanId).toBe(root?.spanId);
    expect(collector.text()).not.toMatch(/P01308|127\.0\.0\.1:\d+\/atlas|uniprotEntry/);
    expect(collector.text()).toContain('"tested"');
    expect(collector.text()).toContain(`"service.version","value":{"stringValue":"${VERSION}"}`);
    for (const { attributes } of [root, ...calls].map((one) => ({ attributes: Object(one?.attributes) })))
      expect(attributes).not.toHaveProperty(['error.type']);
  });

  it('says why a call or a request failed, and never which file was asked for', async () => {
    const collector = await openCollector();
    const tracing = openTracingTo(collector.url);
    const gateway = recorded(
      createGateway({
        config: readConfig({ STORE_URL: 'memory:', MAX_CONCURRENT_REQUESTS: '0' }),
        // Nothing listens there.
        upstreamUrl: 'http://127.0.0.1:1',
        log: testLogger(),
        tracing,
      }),
    );
    const hash = '12e9c9e4e2835c302e8ba615115edda3';
    const response = await gateway.fetch(new Request(`http://gateway.test/structures/${hash}.pdb`));
    expect(response.status).toBe(503);
    await response.text();
    await tracing.close();
    await gateway.close();
    await collector.close();
    expect(collector.spans.find(({ kind }) => kind === 2)).toMatchObject({
      attributes: { 'url.path': '/structures/{hash}.{format}', 'error.type': '503' },
    });
    const failed = collector.spans.filter(({ kind }) => kind === 3);
    expect(failed.length).toBeGreaterThan(0);
    for (const { attributes } of failed) expect(attributes).toMatchObject({ 'error.type': 'ECONNREFUSED' });
    expect(collector.text()).not.toContain(hash);
  });
});

describe('/metrics', () => {
  it('counts HEAD of GraphQL as HEAD', async () => {
    const counted = async (method: string) =>
      sample(
        `foldatlas_http_requests_total{route="/graphql",method="${method}",status="200"}`,
        await (await get('/metrics')).text(),
      ).catch(() => 0);
    const before = await counted('HEAD');
    const path = `/graphql?query=${encodeURIComponent('{ limits { maxTasks } }')}`;
    await get(path, { method: 'HEAD' });
    expect(await counted('HEAD')).toBe((before || 0) + 1);
  });

  it('counts operations, errors, upstream calls and what was kept, under names that a caller cannot make up', async () => {
    await world.query('query SomebodysOwnName { limits { maxBulkHashes } }');
    await world.query('{ nothingOfTheKind }');
    await world.query('{ protein(hash: "8638a1f668ec33ebe31a2aba196bd674") { length } }');
    // Cached at the second sight.
    for (const field of ['sequence', 'length', 'sequence'])
      await world.query(`{ protein(hash: "${INSULIN}") { ${field} } }`);
    const text = await (await get('/metrics')).text();
    expect(text).not.toContain('SomebodysOwnName');
    expect(
      await sample('foldatlas_operations_total{type="query",name="other",outcome="ok"}', text),
    ).toBeGreaterThan(0);
    for (const name of [
      'foldatlas_errors_total{code="BAD_USER_INPUT"}',
      'foldatlas_upstream_calls_total{operation="protein",outcome="ok"}',
      'foldatlas_upstream_call_duration_seconds_count{operation="protein"}',
      'foldatlas_cache_hits_total{kind="proteins",tier="memory"}',
      'foldatlas_cache_misses_total{kind="proteins"}',
      'process_resident_memory_bytes',
    ])
      expect(await sample(name, text), name).toBeGreaterThan(0);
    // Alerts on an increase would miss the first of a series that is not there before.
    const rare = ['errors_total{code="INTERNAL_SERVER_ERROR"}', 'store_errors_total{store="ledger"}'];
    for (const name of [...rare, 'pollers', 'upstream_queued{host="api"}'].map((name) => `foldatlas_${name}`))
      expect(await sample(name, text), name).toBe(0);
    expect(text).toMatch(/^foldatlas_build_info\{version="\d+\.\d+\.\d+",node="\d+/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
    // Kinds of resources can be counted safely; asking for the handles themselves can end the
    // process on Node 20.
    expect(text).toMatch(/^nodejs_active_resources\{/m);
    expect(text).not.toMatch(/nodejs_active_(handles|requests)/);
  });

  it('counts an error once, whether it comes before the execution or out of it', async () => {
    const name = 'foldatlas_errors_total{code="BAD_USER_INPUT"}';
    const counted = async () => Number(await sample(name, await (await get('/metrics')).text()));
    await world.query('{ nothingOfTheKind }');
    const before = await counted();
    await world.query('{ nothingOfTheKind }');
    expect(await counted()).toBe(before + 1);
    await world.query('{ uniprotEntry(id: "NP_000198") { name } }');
    expect(await counted()).toBe(before + 2);
  });

  it('may be read by who has the token; without one, in production, by this machine and not through its proxy', () => {
    const closed = { token: undefined, isOpen: false };
    const withToken = { token: 'a token of sixteen', isOpen: true };
    expect(refuseMetrics(closed, {}, '127.0.0.1')).toBeUndefined();
    expect(refuseMetrics(closed, {}, '::1')).toBeUndefined();
    expect(refuseMetrics(closed, {}, '::ffff:127.0.0.1')).toBeUndefined();
    for (const name of ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'])
      expect(refuseMetrics(closed, { [name]: '203.0.113.9' }, '127.0.0.1'), name).toBe(403);
    expect(refuseMetrics({ token: undefined, isOpen: true }, {}, '10.0.0.7')).toBeUndefined();
    for (const remote of ['10.0.0.7', '203.0.113.9', undefined])
      expect(refuseMetrics(closed, {}, remote)).toBe(403);
    expect(refuseMetrics(withToken, {}, '127.0.0.1')).toBe(401);
    expect(refuseMetrics(withToken, { authorization: 'Bearer another' }, '10.0.0.7')).toBe(401);
    expect(refuseMetrics(withToken, { authorization: 'Bearer a token of sixteen' }, '10.0.0.7')).toBe(401);
    expect(
      refuseMetrics(
        { ...withToken, token: 'token-of-sixteen' },
        { authorization: 'Bearer token-of-sixteen' },
        '10.0.0.7',
      ),
    ).toBeUndefined();
  });
});

describe('/ready', () => {
  const askReady = async (gateway: World['gateway']) => {
    const response = await gateway.fetch(new Request('http://gateway.test/ready'));
    return { status: response.status, body: (await response.json()) as unknown };
  };

  it('says what it needs, and lives by itself', async () => {
    await expect
      .poll(() => askReady(world.gateway))
      .toMatchObject({
        status: 200,
        body: {
          state: 'ready',
          checks: [
            { name: 'store', ok: true },
            { name: 'upstream', ok: true },
          ],
        },
      });
    for (const path of ['/health', '/ready']) {
      const head = await get(path, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
    }
    expect(await (await get('/health')).json()).toEqual({ alive: true });
  });

  it('asks the upstream once in a while, however many want to know', async () => {
    let asked = 0;
    const upstream = createServer((_, response) => {
      asked += 1;
      response.end();
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as { port: number };
    const config = readConfig({
      STORE_URL: 'memory:',
      MAX_CONCURRENT_REQUESTS: '0',
    });
    const upstreamUrl = `http://127.0.0.1:${port}`;
    const own = recorded(createGateway({ config, upstreamUrl, log: testLogger() }));
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let ready = await askReady(own);
    // A busy machine may be late.
    for (; at(ready.body, 'checks.1.ok') !== true; ready = await askReady(own)) vi.advanceTimersByTime(1_501);
    expect(ready).toMatchObject({ status: 200, body: { state: 'ready' } });
    const once = asked;
    await Promise.all([askReady(own), askReady(own)]);
    expect(asked).toBe(once);
    vi.advanceTimersByTime(1_500);
    await askReady(own);
    expect(asked).toBe(once);
    vi.advanceTimersByTime(1);
    await askReady(own);
    expect(asked).toBeGreaterThan(once);
    await own.close();
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
  });

  it('is degraded without an upstream; draining says no at once', async () => {
    const nobody = createServer();
    await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
    const { port } = nobody.address() as { port: number };
    await new Promise((resolve) => nobody.close(resolve));
    const told: string[] = [];
    const gateway = recorded(
      createGateway({
        config: readConfig({ STORE_URL: 'memory:', MAX_CONCURRENT_REQUESTS: '0' }),
        upstreamUrl: `http://127.0.0.1:${port}`,
        log: testLogger((line) => told.push(line)),
      }),
    );
    const degraded = await askReady(gateway);
    expect(degraded).toMatchObject({ status: 200, body: { state: 'degraded' } });
    expect(at(degraded.body, 'checks.1')).toMatchObject({
      name: 'upstream',
      ok: false,
      reason: 'cannot be reached (ECONNREFUSED)',
    });
    await gateway.fetch(new Request(`http://gateway.test/structures/${INSULIN}.pdb`));
    const [why] = told.filter((line) => line.includes('"level":"warn"'));
    expect(JSON.parse(why ?? '{}')).toMatchObject({ message: 'upstream', fault: 'ECONNREFUSED' });
    expect(why).not.toContain('127.0.0.1');
    gateway.drain();
    expect(await askReady(gateway)).toMatchObject({ status: 503, body: { state: 'draining' } });
    await gateway.close();
  });
});
