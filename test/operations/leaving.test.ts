// Operators see each error that a client was shown once, and none of a client that had left.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { attachWebSocket } from '../../src/http/websocket/server.ts';
import { fault, until } from '../subscriptions/support.ts';
import { openWorld, type World } from '../support.ts';

const TYPES = ['application/json', 'multipart/mixed', 'text/event-stream'];
const HASH = '12e9c9e4e2835c302e8ba615115edda3';

let world: World;
let server: Server;
let url: string;
const lines: string[] = [];
const warnings: string[] = [];
const warned = (warning: Error) => void warnings.push(warning.message);
beforeAll(async () => {
  world = await openWorld({}, { control: true }, (line) => lines.push(line));
  server = createServer(world.gateway.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  process.on('warning', warned);
});
afterAll(async () => {
  process.off('warning', warned);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await world.close();
});

const post = (query: string, accept: string, variables = {}, signal: AbortSignal | null = null) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query, variables }),
    signal,
  });

/** Errors that were counted, in all. */
const counted = async (): Promise<number> =>
  [...(await world.gateway.metrics.text()).matchAll(/^foldatlas_errors_total\{[^}]*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );

describe('clients that leave', () => {
  it.each(TYPES)('are counted and logged as no error, and cause no warning: %s', async (accept) => {
    await fault(world.sandboxUrl, { operation: 'uniprot', delay_ms: 500, times: 48 });
    const errors = await counted();
    lines.length = 0;
    const ids = Array.from({ length: 24 }, (_, i) => `P${10_000 + i}`);
    for (let round = 0; round < 2; round += 1) {
      const before = world.counts().uniprot ?? 0;
      const leaving = new AbortController();
      const asked = post(
        'query($ids: [String!]!) { lookup(ids: $ids) { __typename } }',
        accept,
        { ids },
        leaving.signal,
      );
      await until('the service to be asked', () => (world.counts().uniprot ?? 0) > before);
      leaving.abort();
      await expect(asked.then((answer) => answer.text())).rejects.toThrow();
      await until(
        'the end of the request',
        () => lines.filter((line) => line.includes('"disconnected":true')).length > round,
      );
    }
    await sleep(600);
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(await counted()).toBe(errors);
    expect(warnings).toEqual([]);
  });
});

it('logs no error for a browser that ends its request for a picture', async () => {
  await fault(world.sandboxUrl, { operation: 'thumbnail', delay_ms: 500, times: 1 });
  lines.length = 0;
  const leaving = new AbortController();
  const picture = fetch(new URL(`/thumbnails/${HASH}/plddt.png`, url), { signal: leaving.signal });
  await until('the service to be asked', () => world.counts().thumbnail === 1);
  leaving.abort();
  await expect(picture).rejects.toThrow();
  await until('the end of the request', () => lines.some((line) => line.includes('"disconnected":true')));
  await sleep(600);
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

describe('errors that a client is shown', () => {
  it.each(TYPES)('are counted once each: %s', async (accept) => {
    for (const query of [
      '{ batch(batchId: "x") { batchId } myBatches { totalCount } }',
      `{ a: protein(hash: "x") { hash } b: nothing }`,
      '{ features(first: -1) { totalCount } }',
      '{ broken',
    ]) {
      for (let round = 0; round < 2; round += 1) {
        const before = await counted();
        const text = await (await post(query, accept)).text();
        const shown = text.match(/"extensions":\{"code"/g)?.length ?? 0;
        expect(await counted(), `${query} ${text}`).toBe(before + shown);
        expect(shown).toBeGreaterThanOrEqual(1);
      }
    }
  });

  it('are counted and logged once each over WebSocket', async () => {
    const sockets = attachWebSocket(server, world.gateway, {
      origins: [],
      maxBytes: 100_000,
    });
    const client = createClient({
      url: url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    for (const query of [
      '{ batch(batchId: "x") { batchId } myBatches { totalCount } }',
      `{ a: protein(hash: "x") { hash } b: nothing }`,
      '{ broken',
      'fragment A on Query { __typename }',
      'subscription { nothing }',
    ]) {
      const before = await counted();
      lines.length = 0;
      const shown = await new Promise<number>((resolve) =>
        client.subscribe(
          { query },
          {
            next: ({ errors = [] }) => resolve(errors.length),
            error: (errors) => resolve(Array.isArray(errors) ? errors.length : 0),
            complete: () => undefined,
          },
        ),
      );
      expect(shown, query).toBeGreaterThanOrEqual(1);
      expect(await counted(), query).toBe(before + shown);
      await until('the line', () => lines.some((line) => line.includes(`"errors":${shown}`)));
    }
    await client.dispose();
    await sockets.close();
  });
});

const ARGUMENTS: readonly (readonly [directive: string, variables: Record<string, unknown>])[] = [
  ['@stream(initialCount: -1)', {}],
  ['@stream(initialCount: null)', {}],
  ['@stream(initialCount: $n)', { n: -5 }],
  ['@stream(initialCount: $n)', { n: null }],
  ['@stream(initialCount: 99999999999)', {}],
  ['@stream(initialCount: "1")', {}],
  ['@stream(if: null)', {}],
  ['@stream(label: 5)', {}],
];

describe('arguments of @stream', () => {
  it.each(ARGUMENTS)('%s with %j is refused as bad input', async (directive, variables) => {
    lines.length = 0;
    const declared = directive.includes('$n') ? 'query($n: Int) ' : '';
    const query = `${declared}{ proteins(hashes: ["${HASH}"]) ${directive} { hash } }`;
    for (const accept of [...TYPES.slice(1), ...TYPES.slice(1)]) {
      const text = await (await post(query, accept, variables)).text();
      expect(text).toContain('"code":"BAD_USER_INPUT"');
      expect(text).not.toContain('INTERNAL_SERVER_ERROR');
    }
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
