// Answers of many structures that begin while the service still sends them: over a socket. What they say is what
// a GET says, which waits for the whole, whatever comes, in whatever pieces, and however it ends.

import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type Body, bodyOf } from '../../src/http/graphql/serialize-result.ts';
import { streamOf } from '../../src/http/graphql/stream-body.ts';
import { attachWebSocket } from '../../src/http/websocket/server.ts';
import { lazyText } from '../../src/structure/lazy-text.ts';
import { thrown } from '../subscriptions/streams.ts';
import type { Sender } from '../transport.ts';
import { streamListener } from './send.ts';
import {
  asked as askedFor,
  brokenBefore,
  closed,
  cutAt,
  expected,
  gate,
  hashesOf,
  heldBefore,
  ITEM,
  inOrder,
  listening,
  lists,
  openService,
  places,
  portOf,
  prepared,
  reading,
  type Service,
} from './structures-service.ts';

let service: Service;
let own: Awaited<ReturnType<Service['gateway']>>;
let sender: Sender;

const LOOKUP = `query($ids: [String!]!) { lookup(ids: $ids) ${ITEM} }`;
const PROTEINS =
  'query($ids: [ProteinHash!]!) { proteins(hashes: $ids) { hash structure(plddtScale: UNIT) { text } } }';

const asked = (ids: readonly string[], query = LOOKUP) => askedFor(ids, query);

/** The same by GET, which waits for the whole. */
const whole = async (ids: readonly string[], query = LOOKUP): Promise<string> => {
  const search = new URLSearchParams({ query, variables: JSON.stringify({ ids }) });
  const request = new Request(`http://gateway.test/graphql?${search}`, {
    headers: { accept: 'application/json' },
  });
  return (await own.gateway.fetch(request)).text();
};

beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

/** Asks once for nothing in particular: a query goes the short way when it has been seen. */
async function seen(by: Sender): Promise<void> {
  for (const query of [LOOKUP, PROTEINS]) await (await by.send(asked(hashesOf(0), query))).text();
}

beforeEach(() => service.reset());

describe('an answer of many structures', () => {
  beforeAll(async () => {
    service.reset();
    own = await service.gateway();
    sender = own.sender;
    await seen(sender);
  });
  afterAll(() => own.close());

  it('begins before the last of them is there, and is whole in one call', async () => {
    for (const query of [LOOKUP, PROTEINS]) {
      const ids = hashesOf(1);
      const { opened, open } = gate();
      service.send = heldBefore(ids[50] ?? '', opened);
      service.calls = 0;
      const answer = await sender.send(asked(ids, query));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-length')).toBeNull();
      const body = reading(answer);
      expect(await body.until(`${ids[49]}`)).toBe(true);
      open();
      const text = await body.rest();
      expect(service.calls).toBe(1);
      const plain = await whole(ids, query);
      expect(text).toBe(plain);
    }
  });

  it('begins with the first fifty only where there are more, and not for GET', async () => {
    const ids = hashesOf(2).slice(0, 50);
    const few = await sender.send(asked(ids));
    expect(few.headers.get('content-length')).not.toBeNull();
    const search = new URLSearchParams({ query: LOOKUP, variables: JSON.stringify({ ids: hashesOf(2) }) });
    const got = await sender.send(new Request(`http://gateway.test/graphql?${search}`));
    expect(await got.json()).toEqual({ data: { lookup: expected(hashesOf(2)) } });
  });

  it('is one whole message over WebSocket, however its archive comes', async () => {
    const { gateway } = own;
    const server = await listening(createServer(gateway.listener));
    const sockets = attachWebSocket(server, gateway, { origins: [], maxBytes: 100_000, onFault: thrown });
    const url = `ws://127.0.0.1:${portOf(server)}/graphql`;
    const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
    const ids = hashesOf(4);
    service.send = heldBefore(ids[50] ?? '', sleep(100));
    const messages = [];
    for await (const message of client.iterate({ query: LOOKUP, variables: { ids } })) messages.push(message);
    expect(messages).toEqual([{ data: { lookup: expected(ids) } }]);
    await client.dispose();
    await sockets.close();
    await closed(server);
  });

  it('says what a function call says, errors and gaps too, whatever is asked for and in whatever pieces it comes', {
    timeout: 300_000,
  }, async () => {
    let run = 100;
    let failed = 0;
    await fc.assert(
      fc.asyncProperty(lists, places, async (list, cuts) => {
        run += 1;
        const ids = prepared(service, list, run);
        service.send = cutAt(cuts);
        const answer = await sender.send(asked(ids));
        const [sent, called] = await Promise.all([answer.text(), whole(ids)]);
        const [ours, theirs] = [JSON.parse(sent), JSON.parse(called)];
        expect(ours.data).toEqual(theirs.data);
        expect(inOrder(ours.errors)).toEqual(inOrder(theirs.errors));
        if (ours.errors !== undefined) failed += 1;
      }),
      { numRuns: 60 },
    );
    expect(failed).toBeGreaterThan(20);
  });

  it('has its errors behind the data, with their places', async () => {
    const ids = hashesOf(3);
    const { opened, open } = gate();
    service.damaged = new Set([ids[7] ?? '', ids[70] ?? '']);
    service.send = heldBefore(ids[60] ?? '', opened);
    const answer = await sender.send(asked(ids));
    const body = reading(answer);
    // What came of one that is damaged is known when the archive has ended: until then nothing behind it can be said.
    expect(await body.until(ids[6] ?? '')).toBe(true);
    open();
    const text = await body.rest();
    expect(text.indexOf('"errors":')).toBeGreaterThan(text.indexOf(`"requested":"${ids[79]}"`));
    const { data, errors } = JSON.parse(text);
    expect(errors).toMatchObject(
      [7, 70].map((at) => ({
        path: ['lookup', at, 'protein'],
        extensions: { code: 'UPSTREAM_DRIFT', retryable: false },
      })),
    );
    expect(data.lookup).toEqual(
      expected(ids).map((item, i) => (i === 7 || i === 70 ? { ...item, protein: null } : item)),
    );
    const logged = () => service.lines.filter((line) => line.includes('"message":"request"'));
    await expect.poll(() => logged().length).toBe(1);
    expect(JSON.parse(logged()[0] ?? '')).toMatchObject({ status: 200, errors: 2, upstreamCalls: 1 });
  });

  it('is one call for two who ask for the same, also for the one who comes late', async () => {
    const ids = hashesOf(4);
    const { opened, open } = gate();
    service.send = heldBefore(ids[60] ?? '', opened);
    service.calls = 0;
    const first = reading(await sender.send(asked(ids)));
    expect(await first.until(ids[55] ?? '')).toBe(true);
    const second = reading(await sender.send(asked(ids)));
    expect(await second.until(ids[55] ?? '')).toBe(true);
    open();
    for (const body of [first, second])
      expect(JSON.parse(await body.rest())).toEqual({ data: { lookup: expected(ids) } });
    expect(service.calls).toBe(1);
  });

  it('ends the call of the service when its reader leaves', async () => {
    const ids = hashesOf(5);
    service.broken = 0;
    service.send = heldBefore(ids[60] ?? '', new Promise(() => undefined));
    const body = reading(await sender.send(asked(ids)));
    expect(await body.until(ids[55] ?? '')).toBe(true);
    expect(service.broken).toBe(0);
    await body.leave();
    await expect.poll(() => service.broken).toBe(1);
  });

  it('has an error for each that does not come when the connection of the service breaks', async () => {
    const ids = hashesOf(6);
    service.send = brokenBefore(ids[60] ?? '');
    const { data, errors } = await (await sender.send(asked(ids))).json();
    expect(data.lookup.slice(0, 60)).toEqual(expected(ids).slice(0, 60));
    expect(data.lookup.slice(60).every(({ protein }: { protein: unknown }) => protein === null)).toBe(true);
    expect(errors).toHaveLength(20);
    expect(errors[0]).toMatchObject({
      path: ['lookup', 60, 'protein'],
      extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    });
  });
});

it('has an error for each that does not come in time', async () => {
  const short = await service.gateway({ REQUEST_TIMEOUT_MS: '4000' });
  await seen(short.sender);
  const ids = hashesOf(7);
  service.send = heldBefore(ids[60] ?? '', new Promise(() => undefined));
  const { data, errors } = await (await short.sender.send(asked(ids))).json();
  expect(data.lookup.slice(0, 60)).toEqual(expected(ids).slice(0, 60));
  expect(errors).toHaveLength(20);
  expect(errors[0]).toMatchObject({ extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true } });
  await short.close();
});

describe('a body in several', () => {
  const quoted = (text: string): Body =>
    bodyOf(['"', lazyText({ size: text.length, bytes: () => Buffer.from(text) }), '"']);

  /** What comes of bodies over a socket. */
  async function sentOf(bodies: AsyncIterable<Body>): Promise<{ text: Promise<string> }> {
    const server = await listening(
      createServer(streamListener((connection) => streamOf(bodies, { write: (body) => body, connection }))),
    );
    const answer = await fetch(`http://127.0.0.1:${portOf(server)}`);
    const text = answer.text();
    text.catch(() => undefined);
    await text.catch(() => undefined);
    await closed(server);
    return { text };
  }

  it('comes whole, whatever their sizes and whenever they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(200_000), fc.boolean()), { maxLength: 12 }),
        async (parts) => {
          const texts = parts.map(([length], i) => String.fromCharCode(97 + i).repeat(length));
          async function* bodies() {
            for (const [i, [, isLate]] of parts.entries()) {
              if (isLate) await new Promise((resolve) => setImmediate(resolve));
              yield quoted(texts[i] ?? '');
            }
          }
          const { text } = await sentOf(bodies());
          expect(await text).toBe(texts.map((one) => `"${one}"`).join(''));
        },
      ),
      { numRuns: 30 },
    );
  });

  it('gives chunks that stay as they are, however long the writer holds them', async () => {
    const parts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(30_000));
    async function* bodies() {
      for (const part of parts) {
        await new Promise((resolve) => setImmediate(resolve));
        yield quoted(part);
      }
    }
    // Nothing of it waits to be sent, as while an adapter reads ahead.
    const connection = new ServerResponse(new IncomingMessage(new Socket()));
    const chunks: Uint8Array[] = [];
    for await (const chunk of streamOf(bodies(), { write: (body) => body, connection })) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(parts.map((one) => `"${one}"`).join(''));
    expect(chunks.length).toBeGreaterThan(1);
  });

  it('is never taken for whole when one of them fails', async () => {
    async function* bodies() {
      yield quoted('begun');
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw new Error('not to be had');
    }
    const { text } = await sentOf(bodies());
    await expect(text).rejects.toThrow();
  });
});
