// Bodies: 1 MiB without credentials, MAX_BODY_BYTES with, announced or in chunks. Over real
// connections.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { type Served, serve } from '../subscriptions/streams.ts';
import { openGateway, until } from '../subscriptions/support.ts';

const KEY = 'right-key-of-this-test';
const QUERY = JSON.stringify({ query: '{ limits { maxItems } }' });
const MIB = 1024 * 1024;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ size: 'small' });
});
afterAll(() => sandbox.close());

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Sends a query that is padded to a size. @param token - credentials; none when absent */
function send(url: string, bytes: number, isAnnounced: boolean, token?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sending = request(url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        ...(isAnnounced ? { 'content-length': bytes } : {}),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    sending.on('error', reject).on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve({ status: response.statusCode ?? 0, text });
      sending.destroy();
    });
    const body = Buffer.from(QUERY.padEnd(bytes));
    for (let at = 0; at < body.length; at += 65_536) sending.write(body.subarray(at, at + 65_536));
    sending.end();
  });
}

async function withGateway(env: Record<string, string>, work: (served: Served) => Promise<void>) {
  const gateway = openGateway(sandbox.url, env);
  const served = await serve(gateway);
  try {
    await work(served);
    await until('none to be in flight', () => gateway.accessControl.loadShedder.inFlight === 0);
  } finally {
    await served.close();
    await gateway.close();
  }
}

describe.each([
  ['announced', true],
  ['in chunks', false],
])('a body %s', (_, isAnnounced) => {
  it('has 1 MiB without credentials, and 16 MiB with', () =>
    withGateway({}, async ({ url }) => {
      expect(await send(url, MIB, isAnnounced)).toMatchObject({ status: 200 });
      const refused = await send(url, MIB + 1, isAnnounced);
      expect(refused.status).toBe(413);
      expect(refused.text).toMatch(/larger than 1048576 bytes.*MAX_BODY_BYTES/);
      expect(await send(url, 16 * MIB, isAnnounced, 'any')).toMatchObject({ status: 200 });
      expect(await send(url, 16 * MIB + 1, isAnnounced, 'any')).toMatchObject({ status: 413 });
    }));

  it('has no more than MAX_BODY_BYTES for any caller', () =>
    withGateway({ MAX_BODY_BYTES: '100000' }, async ({ url }) => {
      expect(await send(url, 100_000, isAnnounced)).toMatchObject({ status: 200 });
      for (const token of [undefined, 'any'])
        expect(await send(url, 100_001, isAnnounced, token)).toMatchObject({ status: 413 });
    }));

  it('is not read without the credentials that the gateway asks for', () =>
    withGateway({ UPSTREAM_API_KEY: 'upstream', GATEWAY_API_KEYS: KEY }, async ({ url }) => {
      for (const token of [undefined, 'wrong-key-of-this-test'])
        expect(await send(url, 500_000, isAnnounced, token)).toMatchObject({ status: 401 });
      expect(await send(url, 2 * MIB, isAnnounced, KEY)).toMatchObject({ status: 200 });
    }));
});

it.each([
  ['objects', '{},', 'a list with more than 100000 members at `variables.x`'],
  ['brackets', '[', 'more than 100 deep inside each other at `variables.x[0]'],
  ['lists of objects', `[${'{},'.repeat(999)}{}],`, 'more than 500000 objects, lists and names'],
  ['lists of numbers', `[${'1,'.repeat(999)}1],`, 'more than 4500000 members of lists in all'],
])('a body of 12 MB of %s is refused before it is parsed', (_, part, reason) =>
  withGateway({}, async ({ url }) => {
    const body = `{"query":"{ limits { maxItems } }","variables":{"x":[${part.repeat(Math.ceil(12e6 / part.length))}`;
    const headers = { 'content-type': 'application/json', authorization: 'Bearer any' };
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(reason);
  }));

it('a body that came over no connection has the same limits', async () => {
  const gateway = openGateway(sandbox.url);
  const status = async (bytes: number, headers: Record<string, string> = {}) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: QUERY.padEnd(bytes),
    };
    return (await gateway.fetch(new Request('http://gateway.test/graphql', init))).status;
  };
  expect([await status(MIB), await status(MIB + 1)]).toEqual([200, 413]);
  const token = { authorization: 'Bearer any' };
  expect([await status(16 * MIB, token), await status(16 * MIB + 1, token)]).toEqual([200, 413]);
  await gateway.close();
});

it('bodies take a bounded amount of memory together, which is free again when their clients are gone', async () => {
  const gateway = openGateway(sandbox.url);
  const served = await serve(gateway);
  const bytes = 16 * MIB;
  const sending = Array.from({ length: 12 }, () => {
    const one = request(served.url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        'content-length': bytes,
        authorization: 'Bearer any',
      },
    });
    const status = new Promise<number>((resolve) => {
      one.on('error', () => resolve(0)).on('response', (response) => resolve(response.statusCode ?? 0));
    });
    one.write(Buffer.alloc(bytes - 1, 32));
    return { one, status };
  });
  const first = await Promise.race(sending.map(({ status }) => status));
  expect(first).toBe(503);
  for (const { one } of sending) one.destroy();
  // Eight fit together.
  for (let i = 0; i < 12; i += 1)
    expect(await send(served.url, 15 * MIB, true, 'any')).toMatchObject({ status: 200 });
  await served.close();
  await gateway.close();
});
