// The proxy of compose.yaml, started with its own file: two gateways behind it, of which one stops
// under load.
import { spawn, spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { endWithFile } from '../../child-processes.ts';
import { ROOT } from '../../root.ts';
import { freePort } from '../../store/redis-place.ts';
import { type ServerProcess, startServer } from '../server-process.ts';

/** Without nginx these tests are skipped, never on CI. */
const NO_NGINX = process.env.CI === undefined && spawnSync('nginx', ['-v']).error !== undefined;

/** Addresses of this machine, as those of two containers. */
const HOSTS = ['127.0.0.1', '127.0.0.2'] as const;

/** Answers each question of a name server with the addresses of both gateways, as Docker's does. */
async function serveNames(): Promise<Socket> {
  const server = createSocket('udp4');
  server.on('message', (question, { port, address }) => {
    const end = question.indexOf(0, 12) + 5;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(HOSTS.length, 6);
    header.writeUInt32BE(0, 8);
    // A pointer to the name, type A, class IN, two seconds, four bytes.
    const records = HOSTS.map((host) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 2, 0, 4, ...host.split('.').map(Number)]),
    );
    server.send(Buffer.concat([header, question.subarray(12, end), ...records]), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe.skipIf(NO_NGINX)('the proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'foldatlas-proxy-'));
  let sandbox: Sandbox;
  let names: Socket;
  let port = 0;
  let url = '';
  let gateways: ServerProcess[] = [];
  let nginx: ReturnType<typeof spawn>;
  /** The log of nginx, without its tries of a gateway that is away. */
  let faults = '';

  const startGateway = (host: string): Promise<ServerProcess> =>
    startServer({
      ...{ HOST: host, PORT: String(port), UPSTREAM_URL: sandbox.url, STORE_URL: 'memory:' },
      ...{ TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '0' },
    });

  beforeAll(async () => {
    sandbox = await startSandbox({ size: 'small' });
    names = await serveNames();
    port = await freePort();
    gateways = await Promise.all(HOSTS.map(startGateway));
    const proxyPort = await freePort();
    url = `http://127.0.0.1:${proxyPort}/graphql`;
    const file = join(folder, 'nginx.conf');
    // Started by root, nginx works as another user.
    chmodSync(folder, 0o755);
    writeFileSync(
      file,
      readFileSync(`${ROOT}deploy/nginx.conf`, 'utf8')
        .replace('listen 4000', `listen 127.0.0.1:${proxyPort}`)
        .replace('127.0.0.11', `127.0.0.1:${names.address().port}`)
        .replace('gateway:4000', `gateway:${port}`)
        .replaceAll('/tmp/', `${folder}/`),
    );
    nginx = endWithFile(
      spawn('nginx', ['-c', file, '-p', folder, '-g', 'daemon off;'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
    const lines = createInterface({ input: nginx.stderr as Readable });
    lines.on('line', (line) => {
      if (!line.includes('Connection refused')) faults += `${line}\n`;
    });
    await vi.waitUntil(
      () =>
        fetch(url.replace('graphql', 'health')).then(
          ({ ok }) => ok,
          () => false,
        ),
      { timeout: 60_000 },
    );
  });
  afterAll(async () => {
    nginx?.kill('SIGTERM');
    await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')));
    names?.close();
    await sandbox?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * Sends one request with a body of 200 kB. @returns the status of its answer, or why there is
   * none
   */
  const send = (padding: string): Promise<string> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ limits { maxItems } }', extensions: { padding } }),
    }).then(
      async (response) => [response.status, await response.text()].join(' '),
      (error: unknown) => String(error),
    );
  const ANSWER = '200 {"data":{"limits":{"maxItems":2000}}}';

  it('answers every request while one gateway after the other stops and comes back', async () => {
    const padding = 'x'.repeat(200_000);
    const answers = new Map<unknown, number>();
    let isOver = false;
    const count = () => [...answers.values()].reduce((sum, one) => sum + one, 0);
    const more = async (requests: number) => {
      const goal = count() + requests;
      await expect.poll(count).toBeGreaterThan(goal);
    };
    const senders = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const answer = await send(padding);
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    });
    for (const [index, host] of HOSTS.entries()) {
      await more(100);
      expect(await gateways[index]?.end('SIGTERM')).toBe(0);
      await more(200);
      gateways[index] = await startGateway(host);
    }
    await more(100);
    isOver = true;
    await Promise.all(senders);
    expect(Object.fromEntries(answers), faults).toEqual({ [ANSWER]: count() });
  });

  it('sends a GET that one gateway has no room for to the other, and never a POST', async () => {
    const [, host] = HOSTS;
    await gateways[1]?.end('SIGTERM');
    let refused = 0;
    const full = createServer((request, response) => {
      refused += 1;
      request.resume();
      response.writeHead(503, { 'retry-after': '1', connection: 'close' }).end();
    }).listen(port, host);
    await once(full, 'listening');
    onTestFinished(async () => {
      full.close();
      await once(full, 'close');
      gateways[1] = await startGateway(host);
    });
    const get = `${url}?query=${encodeURIComponent('{ limits { maxItems } }')}`;
    while (refused < 3) expect((await fetch(get)).status).toBe(200);
    const before = refused;
    // nginx draws the gateway of each request at random: of 100, one gateway has none in 1 of 2^99
    // runs.
    const answers = new Map<string, number>();
    for (let count = 0; count < 100; count++) {
      const status = (await send('')).slice(0, 3);
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
    expect([...answers.keys()].sort()).toEqual(['200', '503']);
    expect(answers.get('503')).toBe(refused - before);
  });

  it('passes the parts of an answer on', async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'multipart/mixed' },
      body: JSON.stringify({
        query: '{ feature(index: 1) { index ... @defer { summary } } }',
      }),
    });
    expect(response.headers.get('content-type')).toMatch(/^multipart\/mixed/);
    expect(await response.text()).toMatch(/"hasNext":true[\s\S]*"hasNext":false/);
  });
});
