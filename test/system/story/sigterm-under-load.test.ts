// The gateway is told to stop (a deployment) while it is busy. Every request that it had
// accepted is answered, streams are completed, later clients are refused, and the process ends by
// itself with 0.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Sandbox, startSandbox } from '../../../sandbox/src/sandbox.ts';
import { answersOf, subscribe } from '../../subscriptions/streams.ts';
import { fault, until } from '../../subscriptions/support.ts';
import { type Answer, at } from '../../support.ts';
import { queuedBatches, type ServerProcess, startServer, submitOnce } from '../server-process.ts';

const SLOW = ['P01308', 'P69905', 'P68871', 'P00698', 'P42212', 'P0CG48'];

let underWay = 0;
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({
    size: 'small',
    control: true,
    onRequest: ({ operation }) => {
      if (operation === 'uniprot' || operation === 'submit') underWay += 1;
    },
  });
});
afterAll(() => sandbox.close());

describe('SIGTERM under load', () => {
  it('answers what was taken, completes streams, takes nothing more, and ends with 0', async () => {
    const before = new Set(await queuedBatches(sandbox.url));
    const server = await startServer({
      STORE_URL: 'memory:',
      UPSTREAM_URL: sandbox.url,
      SHUTDOWN_SECONDS: '20',
    });
    const { batchId } = await submitOnce(server, 'watched');
    const stream = answersOf(
      await subscribe(
        fetch,
        'subscription($id: ID!) { batchProgress(batchId: $id) { sequence } }',
        { id: batchId },
        { url: `${server.url}/graphql`, headers: { authorization: 'Bearer key-of-a-test' } },
      ),
    );
    expect((await stream.next()).value?.errors).toBeUndefined();
    const watching = (async () => {
      // Throws when the stream breaks off instead of being completed.
      for await (const answer of stream) expect(answer.errors).toBeUndefined();
    })();

    // Requests that are certainly under way: the upstream has them, and answers late.
    underWay = 0;
    await fault(sandbox.url, { operation: 'uniprot', delay_ms: 1500, times: SLOW.length });
    await fault(sandbox.url, { operation: 'submit', delay_ms: 1500, times: 3 });
    const reads = SLOW.map((id) =>
      server.ask('query($id: String!) { uniprotEntry(id: $id) { accession } }', { id }),
    );
    const writes = ['one', 'two', 'three'].map((key) => submitOnce(server, key));

    // And a crowd that comes and goes, each on a connection of its own.
    let going = true;
    const answered: number[] = [];
    let turnedAway = 0;
    const crowd = Array.from({ length: 4 }, async () => {
      while (going) {
        const answer = await fetch(`${server.url}/graphql?query={limits{maxBulkHashes}}`, {
          headers: { connection: 'close' },
        }).catch(() => null);
        if (answer === null) {
          turnedAway += 1;
          await sleep(5);
          continue;
        }
        // An answer that has begun is whole.
        expect(at(await answer.json(), 'data.limits.maxBulkHashes')).toBe(500);
        answered.push(answer.status);
      }
    });
    await until('all of them to be under way', () => underWay === SLOW.length + 3);
    await until('the crowd to be served', () => answered.length > 20);
    const ended = server.end('SIGTERM');
    for (const { data, errors } of await Promise.all(reads)) {
      expect(errors).toBeUndefined();
      // Null for an accession that the small sandbox does not hold.
      expect(data).toHaveProperty('uniprotEntry');
    }
    const endings = await Promise.all(writes);
    expect(endings.map(({ kind }) => kind)).toEqual(['FoldSubmitted', 'FoldSubmitted', 'FoldSubmitted']);
    await watching;
    expect(await ended).toBe(0);
    going = false;
    await Promise.all(crowd);
    expect(new Set(answered)).toEqual(new Set([200]));
    expect(turnedAway).toBeGreaterThan(0);
    const queued = (await queuedBatches(sandbox.url)).filter((id) => !before.has(id));
    expect(new Set(queued)).toEqual(new Set([batchId, ...endings.map((ending) => ending.batchId)]));
  });

  it('answers requests on open connections with Connection: close', async () => {
    const stopped = await startServer({ STORE_URL: 'memory:', UPSTREAM_URL: sandbox.url });
    const { hostname, port } = new URL(stopped.url);
    const socket = connect(Number(port), hostname).setEncoding('latin1');
    let received = '';
    socket.on('data', (text: string) => (received += text));
    const query = (id: string) => encodeURIComponent(`{ uniprotEntry(id: "${id}") { accession } }`);
    const ask = (id: string) => socket.write(`GET /graphql?query=${query(id)} HTTP/1.1\r\nhost: a\r\n\r\n`);
    underWay = 0;
    await fault(sandbox.url, { operation: 'uniprot', delay_ms: 3000 });
    ask('P01308');
    await until('it to be under way', () => underWay === 1);
    const ended = stopped.end('SIGTERM');
    await until('the door to be closed', () =>
      fetch(`${stopped.url}/health`, { headers: { connection: 'close' } }).then(
        () => false,
        () => true,
      ),
    );
    ask('P69905');
    await once(socket, 'close');
    expect(received.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
    expect(received.toLowerCase().match(/^connection: .*$/gm)).toEqual([
      'connection: keep-alive',
      'connection: close',
    ]);
    expect(await ended).toBe(0);
  });

  it('answers what is under way over WebSocket before it says goodbye', async () => {
    const stopped = await startServer({ STORE_URL: 'memory:', UPSTREAM_URL: sandbox.url });
    const { batchId } = await submitOnce(stopped, 'watched over a socket');
    const before = (await queuedBatches(sandbox.url)).length;
    let code: unknown;
    const client = createClient({
      url: `${stopped.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { token: 'key-of-a-test' },
      // A client that retries would submit again.
      retryAttempts: 0,
      lazy: false,
      on: { closed: (event) => (code = Reflect.get(Object(event), 'code')) },
    });
    const watching = client.iterate({
      query: 'subscription($id: ID!) { batchProgress(batchId: $id) { sequence } }',
      variables: { id: batchId },
    });
    expect((await watching.next()).value?.errors).toBeUndefined();
    underWay = 0;
    await fault(sandbox.url, { operation: 'submit', delay_ms: 1500 });
    const ask: ServerProcess['ask'] = async (query, variables = {}) => {
      const { value } = await client.iterate<Answer['data']>({ query, variables }).next();
      return value as Answer;
    };
    const submitted = submitOnce({ ask }, 'over a socket');
    await until('it to be under way', () => underWay === 1);
    const ended = stopped.end('SIGTERM');
    expect(await watching.next()).toEqual({ done: true, value: undefined });
    expect(await submitted).toMatchObject({ kind: 'FoldSubmitted', replayed: false });
    expect(await ended).toBe(0);
    expect(code).toBe(1001);
    expect(await queuedBatches(sandbox.url)).toHaveLength(before + 1);
  });

  it('waits for a submission whose client has left, and writes it down', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'foldatlas-sigterm-'));
    const env = {
      STORE_URL: `sqlite:${folder}/gateway.db`,
      UPSTREAM_URL: sandbox.url,
      SHUTDOWN_SECONDS: '20',
    };
    const stopped = await startServer(env);
    underWay = 0;
    // Longer than closing the stores may take.
    await fault(sandbox.url, { operation: 'submit', delay_ms: 4_500 });
    const leaving = new AbortController();
    const ask: ServerProcess['ask'] = async (query, variables = {}) => {
      const answer = await fetch(`${stopped.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer key-of-a-test' },
        body: JSON.stringify({ query, variables }),
        signal: leaving.signal,
      });
      return (await answer.json()) as Answer;
    };
    const left = submitOnce({ ask }, 'left').catch(() => 'left');
    await until('it to be under way', () => underWay === 1);
    leaving.abort();
    expect(await left).toBe('left');
    expect(await stopped.end('SIGTERM')).toBe(0);
    const restarted = await startServer(env);
    expect(await submitOnce(restarted, 'left')).toMatchObject({ kind: 'FoldSubmitted', replayed: true });
    await restarted.end('SIGTERM');
    rmSync(folder, { recursive: true });
  });
});
