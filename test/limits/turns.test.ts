// Work on requests is spread over turns of the event loop, and shared out by address.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TurnClock } from '../../src/async/turn-clock.ts';
import { openRequestBodies, type RequestBodies } from '../../src/http/limits/buffered-bytes.ts';
import { createShares, openTurns } from '../../src/http/limits/load-shedding.ts';
import { block } from '../cpu-time.ts';
import { until } from '../subscriptions/support.ts';

it('begins what there is time for at once, and the rest in later turns, whose other work is done between', async () => {
  const turns = openTurns(5);
  let begun = 0;
  let others = 0;
  const other = setInterval(() => {
    others += 1;
  }, 1);
  for (let i = 0; i < 100; i += 1)
    turns.begin('a', () => {
      begun += 1;
      // What a request does by promises counts as well.
      void Promise.resolve().then(() => block(2));
      block(1);
    });
  expect(begun).toBeGreaterThanOrEqual(1);
  expect(begun).toBeLessThan(100);
  await until('all to be begun', () => begun === 100);
  clearInterval(other);
  expect(others).toBeGreaterThan(10);
});

it('takes those that wait in rotation over addresses', async () => {
  const turns = openTurns(5);
  const order: string[] = [];
  turns.begin('a', () => block(6));
  for (const address of [...'aaaaaaaabc']) turns.begin(address, () => void order.push(address));
  expect(order).toEqual([]);
  await until('all to be begun', () => order.length === 10);
  expect(order.join('')).toBe('abcaaaaaaa');
});

it('begins nothing while each turn brings a connection, for a while', async () => {
  const turns = openTurns(5, 60_000);
  let begun = 0;
  turns.accepted();
  turns.begin('a', () => {
    begun += 1;
  });
  for (let i = 0; i < 50; i += 1) {
    await nextTurn();
    turns.accepted();
  }
  expect(begun).toBe(0);
  await until('it to be begun', () => begun === 1);

  const impatient = openTurns(5, 0);
  for (let i = 0; i < 50; i += 1) {
    impatient.accepted();
    impatient.begin('a', () => {
      begun += 1;
    });
    await nextTurn();
  }
  expect(begun).toBeGreaterThan(20);
});

it('lets work that comes at once see the time that the others take', async () => {
  const clock = new TurnClock(5);
  let inTurn = 0;
  let most = 0;
  let done = 0;
  for (let i = 0; i < 40; i += 1)
    void Promise.resolve().then(async () => {
      await clock.turn();
      // What is made of an answer goes on in promises behind the turn.
      await Promise.resolve();
      if (inTurn === 0)
        setImmediate(() => {
          inTurn = 0;
        });
      inTurn += 1;
      most = Math.max(most, inTurn);
      block(3);
      done += 1;
    });
  await until('all to be done', () => done === 40);
  // Two fit in a turn; one turn ends and the next begins between two looks.
  expect(most).toBeLessThanOrEqual(4);
});

const bodiesWithoutTime = () =>
  openRequestBodies({
    maxBytes: 10_000_000,
    maxUnfinished: 0,
    timeoutMs: 60_000,
    buffered: createShares(0),
    turns: openTurns(0),
  });

it.each<[string, (bodies: RequestBodies, req: IncomingMessage, done: (length: number) => void) => void]>([
  ['a body', (bodies, req, done) => void bodies.read(req, 'a', (body) => done(body.length))],
  [
    'a body that is dropped',
    (bodies, req, done) => {
      let length = 0;
      req.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      req.on('end', () => done(length));
      bodies.discard(req, 'a');
    },
  ],
])('reads the next piece of %s in a later turn when this one has no time left', async (_, read) => {
  const bodies = bodiesWithoutTime();
  let inTurn = 0;
  let most = 0;
  const server = createServer((req, res) => {
    req.on('data', (chunk: Buffer) => {
      if (inTurn === 0)
        setImmediate(() => {
          inTurn = 0;
        });
      inTurn += chunk.length;
      most = Math.max(most, inTurn);
    });
    read(bodies, req, (length) => res.end(String(length)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sending = request({ port: (server.address() as AddressInfo).port, method: 'POST' });
  sending.end(Buffer.alloc(8_000_000));
  const [answer] = await once(sending, 'response');
  expect(String((await answer.toArray())[0])).toBe('8000000');
  // What libuv reads at once, twice.
  expect(most).toBeLessThanOrEqual(2 * 65_536);
  server.close();
});

it('does not wait for a turn with a body of which all has come', async () => {
  const bodies = openRequestBodies({
    maxBytes: 1000,
    maxUnfinished: 1,
    timeoutMs: 60_000,
    buffered: createShares(0),
    turns: { begin: () => undefined },
  });
  const server = createServer((req, res) => {
    bodies.read(req, 'a', (body) => res.end(String(body.length)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const count of [1, 2]) {
    const sending = request({ port, method: 'POST', headers: { 'content-length': '100' } });
    sending.end(Buffer.alloc(100));
    const [answer] = await once(sending, 'response');
    expect(String((await answer.toArray())[0]), String(count)).toBe('100');
  }
  expect(bodies.unfinished).toBe(0);
  server.close();
});
