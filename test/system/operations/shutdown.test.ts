// A process that is told to stop ends, whatever hangs while it is stopped.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { readConfig } from '../../../src/config.ts';
import { type Served, serve } from '../../../src/process/serve.ts';
import { testLogger } from '../../record.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const script = (graceMs: number, stop: string, rest: string): string => `
import { createLogger } from './src/telemetry/log.ts';
import { installShutdownHandler } from './src/process/shutdown.ts';
setInterval(() => undefined, 1000);
installShutdownHandler(createLogger('info', true), ${graceMs}, ${stop});
${rest}
`;

const HANGING = script(0, '() => new Promise(() => undefined)', "process.kill(process.pid, 'SIGTERM');");

/** A process that needs three seconds to stop, and is sent a second SIGINT meanwhile. */
const signalledTwice = (afterMs: number): string =>
  script(
    15_000,
    '() => new Promise((resolve) => setTimeout(resolve, 3000, true))',
    `process.kill(process.pid, 'SIGINT');
setTimeout(() => process.kill(process.pid, 'SIGINT'), ${afterMs});`,
  );

const run = (program: string): Promise<[code: unknown, log: string]> =>
  new Promise((resolve) => {
    const words = ['--import', 'tsx', '--input-type=module', '-e', program];
    execFile(process.execPath, words, { cwd: ROOT, timeout: 100_000 }, (error, _out, err) =>
      resolve([error?.code ?? 0, err]),
    );
  });

it('ends with 1 at its deadline when something that is to be stopped hangs, and says so', async () => {
  const [code, log] = await run(HANGING);
  expect(log).toContain('stopping took too long');
  expect(code).toBe(1);
});

it('ends with 1 where something did not end in time and was given up', async () => {
  expect((await run(script(0, 'async () => false', "process.kill(process.pid, 'SIGTERM');")))[0]).toBe(1);
});

it('stops in order on Ctrl-C below npm, which passes on what the terminal has sent already', async () => {
  expect((await run(signalledTwice(20)))[0]).toBe(0);
});

it('ends at once on a second signal later on', async () => {
  expect((await run(signalledTwice(1000)))[0]).toBe(130);
});

describe('a gateway that is told to stop', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ size: 'small' });
  });
  afterAll(() => sandbox.close());

  const start = () =>
    serve({
      config: readConfig({
        STORE_URL: 'memory:',
        PORT: '0',
        SHUTDOWN_SECONDS: '3600',
        REQUEST_BODY_SECONDS: '3600',
      }),
      upstreamUrl: sandbox.url,
      sandbox: true,
      log: testLogger(),
    });

  /** Begins to connect. */
  function dial({ url }: Served, request = '') {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('error', () => undefined);
    socket.write(request);
    return {
      socket,
      connected: once(socket, 'connect'),
      closed: once(socket, 'close'),
      text: () => text,
    };
  }
  const HEALTH = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';

  it('closes connections without a request at once, also those that never sent one, and answers what is under way', async () => {
    const served = await start();
    const [unused, idle, busy] = [dial(served), dial(served, HEALTH), dial(served)];
    await Promise.all([unused, busy].map(({ connected }) => connected));
    await once(idle.socket, 'data');
    const body = JSON.stringify({ query: '{ __typename }' });
    busy.socket.write(
      'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    // The server has read the beginning of it.
    await fetch(`${served.url}/health`, { headers: { connection: 'close' } });
    const stopped = served.stop();
    await Promise.all([unused.closed, idle.closed]);
    busy.socket.write(body.slice(5));
    await stopped;
    expect(unused.text()).toBe('');
    expect(idle.text()).toContain('HTTP/1.1 200');
    expect(busy.text()).toContain('HTTP/1.1 200');
  }, 20_000);

  it('answers every connection that waits for the event loop, and refuses later ones', async () => {
    const served = await start();
    const waiting = Array.from({ length: 50 }, () => dial(served, HEALTH));
    await served.stop();
    await Promise.all(waiting.map(({ closed }) => closed));
    expect(waiting.map(({ text }) => text().slice(0, 12))).toEqual(waiting.map(() => 'HTTP/1.1 200'));
    await expect(fetch(served.url)).rejects.toThrow();
  });
});
