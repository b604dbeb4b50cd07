// Everything that the built gateway loads late, in one place: traces, Redis, keys of an issuer,
// webhooks, tools for agents, the chemistry of a ligand, GraphiQL, the command line. Coverage tells
// which modules were loaded; one that no test asks for fails here.
import { execFile } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUDIENCE, ISSUER, type Issuer, openIssuer } from '../auth/issuer.ts';
import { type Collector, openCollector } from '../operations/collector.ts';
import { ROOT } from '../root.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../store/redis-place.ts';
import { at } from '../support.ts';
import { installNode, withNode } from './nodes.ts';
import { ask, type Program, startProgram } from './program.ts';

const run = promisify(execFile);

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-late-'));
const coverage = join(folder, 'coverage');
const PROGRAM = join(ROOT, 'dist/cli/main.js');
const WEBHOOK_KEY = randomBytes(32);
const FEDERATION_TOKEN = 'token-of-the-federation-router';

/** A webhook as it came. */
interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
const received: Received[] = [];
const receiver = createServer(async (message, response) => {
  let body = '';
  for await (const chunk of message) body += String(chunk);
  received.push({ headers: message.headers, body });
  response.end();
});

let node: string;
let env: Record<string, string>;
let redis: RedisPlace;
let collector: Collector;
let issuer: Issuer;
let gateway: Program;
let token: string;

/** The URLs of all modules that the processes so far have run. */
function loadedModules(): string[] {
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result }: { readonly result: readonly { readonly url: string }[] } = JSON.parse(
      readFileSync(join(coverage, name), 'utf8'),
    );
    return result.map(({ url }) => url);
  });
  return [...new Set(urls)];
}

/** Names of the files in `dist` that others import late: `import()` as the bundler writes it. */
function lateModules(): string[] {
  const texts = readdirSync(join(ROOT, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(ROOT, 'dist', name), 'utf8'));
  return texts.flatMap((text) =>
    [...text.matchAll(/\bimport\("(\.{1,2}\/[^"]+\.js)"\)/g)].map(([, path = '']) => basename(path)),
  );
}

describe.skipIf(NO_REDIS)('a built gateway with everything on', () => {
  beforeAll(async () => {
    [node, redis, collector, issuer] = await Promise.all([
      installNode(24),
      openRedisPlace(),
      openCollector(),
      openIssuer(),
    ]);
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    env = withNode(node, {
      NODE_V8_COVERAGE: coverage,
      NODE_ENV: 'production',
      PORT: '0',
      STORE_URL: redis.url,
      GATEWAY_SECRET: 'secret-of-this-gateway-only',
      UPSTREAM_API_KEY: 'key-of-the-gateway',
      GATEWAY_JWKS_URL: issuer.url,
      GATEWAY_JWT_ISSUER: ISSUER,
      GATEWAY_JWT_AUDIENCE: AUDIENCE,
      FEDERATION_TOKEN,
      INTROSPECTION: '1',
      MCP_MUTATIONS: '1',
      WEBHOOK_HOSTS: '127.0.0.1',
      WEBHOOK_SECRET: `whsec_${WEBHOOK_KEY.toString('base64')}`,
      METRICS_TOKEN: 'token-of-the-metrics',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      SANDBOX_DATA: 'memory',
      SANDBOX_SIZE: 'small',
      SANDBOX_SPEED: '1000',
    });
    token = await issuer.sign('a-caller');
    gateway = await startProgram(['node', PROGRAM], { cwd: folder, env });
  });
  afterAll(async () => {
    receiver.close();
    await Promise.all([redis.remove(), collector.close(), issuer.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('answers a caller with a token of the issuer, and nobody else', async () => {
    const query = '{ features(search: "helix", first: 1) { nodes { index label } } }';
    const { data, errors } = await ask(gateway.url, query, { token });
    expect(errors).toBeUndefined();
    expect(at(data, 'features.nodes.0.index')).toEqual(expect.any(Number));
    const refused = await ask(gateway.url, query);
    expect(refused).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  });

  it('checks a ligand, folds, and sends a signed webhook', async () => {
    const check = `{ checkFold(input: { items: [{ name: "a", chains: [{ ligand: { smiles: "C(C)(C)(C)(C)C" } }] }] })
      { ok warnings { code } } }`;
    const checked = await ask(gateway.url, check, { token });
    expect(JSON.stringify(checked)).toContain('SMILES_VALENCE');
    const { port } = Object(receiver.address());
    const variables = { url: `http://127.0.0.1:${port}/hook` };
    const submit = `mutation($url: String!) { submitFold(input: { idempotencyKey: "late", notify: { url: $url },
      items: [{ name: "a", chains: [{ protein: { sequence: "GIVEQCCTSICSLYQLENYCN" } }] }] })
      { __typename ... on FoldSubmitted { batch { batchId } } } }`;
    const { data } = await ask(gateway.url, submit, { variables, token });
    const batchId = at(data, 'submitFold.batch.batchId');
    await expect.poll(() => received.length).toBeGreaterThan(0);
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const signature = createHmac('sha256', WEBHOOK_KEY).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    expect(JSON.parse(body)).toMatchObject({ data: { batchId } });
    const again = await ask(gateway.url, submit, { variables, token });
    expect(at(again.data, 'submitFold.batch.batchId')).toBe(batchId);
  });

  it('gives its subgraph to the router, GraphiQL to a browser, and its description to tools', async () => {
    const subgraph = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        'x-federation-token': FEDERATION_TOKEN,
      },
      body: JSON.stringify({ query: '{ _service { sdl } }' }),
    });
    expect(at(await subgraph.json(), 'data._service.sdl')).toContain('@key');
    const page = await (await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html' } })).text();
    const [, script = ''] = /"([^"]*graphiql-app[^"]*\.js)"/.exec(page) ?? [];
    const asset = await fetch(new URL(script, `${gateway.url}/graphql`));
    expect((await asset.text()).length).toBeGreaterThan(1e6);
    expect(await (await fetch(`${gateway.url}/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' });
  });

  it('has tools for agents over HTTP, and over standard input by its command', async () => {
    const transports: readonly Transport[] = [
      new StreamableHTTPClientTransport(new URL('/mcp', gateway.url), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
      new StdioClientTransport({
        command: join(node, 'node'),
        args: [PROGRAM, 'mcp', '--url', gateway.url],
        env: { ...env, FOLDATLAS_TOKEN: token },
        stderr: 'inherit',
      }),
    ];
    for (const transport of transports) {
      const client = new Client({ name: 'agent', version: '1.0.0' });
      await client.connect(transport);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('check_fold');
      const found = await client.callTool({
        name: 'lookup_proteins',
        arguments: { ids: ['P01308'] },
      });
      expect(JSON.stringify(found)).toContain('Insulin');
      await client.close();
    }
  });

  it('has a doctor who finds the sandbox well, and a ledger that needs no acceptance', async () => {
    const place = { cwd: folder, env: { ...env, SANDBOX_PORT: '0' } };
    const sandbox = await startProgram(['node', PROGRAM, 'sandbox'], place);
    const doctorEnv = { ...env, UPSTREAM_URL: sandbox.url, WEBHOOK_HOSTS: '' };
    const { stdout } = await run('node', [PROGRAM, 'doctor'], { cwd: folder, env: doctorEnv });
    expect(stdout).toMatch(/ok/i);
    expect(await sandbox.stop()).toBe(0);
    const { stderr } = await run('node', [PROGRAM, 'accept-ledger'], { cwd: folder, env });
    expect(stderr).toContain(`Nothing is wrong with the ledger at ${env.STORE_URL}`);
  });

  it('has counted and traced all that', async () => {
    const headers = { authorization: `Bearer ${env.METRICS_TOKEN}` };
    const metrics = await (await fetch(`${gateway.url}/metrics`, { headers })).text();
    expect(metrics).toMatch(/^foldatlas_http_requests_total\{.*route="\/graphql".*\} [1-9]/m);
    expect(await gateway.stop()).toBe(0);
    const { spans } = collector;
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(spans.filter(({ parentSpanId = '' }) => ids.has(parentSpanId)).length).toBeGreaterThan(2);
    expect(gateway.output()).not.toMatch(/"level":"(warn|error)"/);
  });

  it('has loaded every module that it loads late', () => {
    const loaded = loadedModules();
    const isLoaded = (end: string): boolean => loaded.some((url) => url.endsWith(end));
    const late = lateModules();
    expect(late.length).toBeGreaterThan(10);
    expect(late.filter((name) => !isLoaded(`/${name}`))).toEqual([]);
    // Addresses that the bundler does not know.
    for (const file of [
      'sandbox/dist/sandbox.js',
      'sandbox/dist/main.js',
      'dist/submission/smiles-worker.js',
    ])
      expect(isLoaded(`/${file}`), file).toBe(true);
    for (const name of ['@redis/client', '@keyv/redis', 'keyv', 'openchemlib', 'tinypool'])
      expect(
        loaded.some((url) => url.includes(`/node_modules/${name}/`)),
        name,
      ).toBe(true);
  });
});
