// How callers prove themselves to a gateway that holds the key: keys of its own, listed or in a
// file that changes, and tokens of an issuer; and that every way in asks for the same proof.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from 'graphql-ws';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import WebSocket from 'ws';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import type { Gateway } from '../../src/gateway.ts';
import { openApiKeys } from '../../src/http/access/api-keys.ts';
import { answersOf, type Served, serve, submit, subscribe } from '../subscriptions/streams.ts';
import { KNOWN, openGateway, run, until } from '../subscriptions/support.ts';
import { type Answer, openWorld } from '../support.ts';
import { AUDIENCE, ISSUER, type Issuer, openIssuer } from './issuer.ts';

const QUERY = '{ myBatches { totalCount } }';
const folder = mkdtempSync(join(tmpdir(), 'callers-'));
const file = join(folder, 'keys');
const clock = new ManualClock(Date.now());
let sandbox: Sandbox;
let issuer: Issuer;
let gateway: Gateway;
let served: Served;

beforeAll(async () => {
  writeFileSync(
    file,
    '# who may ask\nalice first-key-of-this-test\n\nalice second-key-of-this-test\nplain-key-of-this-test\n',
  );
  sandbox = await startSandbox({ size: 'small', clock, limits: { runningTasks: 3 } });
  issuer = await openIssuer();
  gateway = openGateway(sandbox.url, {
    UPSTREAM_API_KEY: 'upstream',
    GATEWAY_API_KEYS: 'listed-key-of-this-test, bob bobs-key-of-this-test',
    GATEWAY_API_KEYS_FILE: file,
    GATEWAY_JWKS_URL: issuer.url,
    GATEWAY_JWT_ISSUER: ISSUER,
    GATEWAY_JWT_AUDIENCE: AUDIENCE,
  });
  served = await serve(gateway);
});
afterAll(async () => {
  await served.close();
  await gateway.close();
  await issuer.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** Status and code of a query over HTTP. */
async function asked(token: string | undefined, to = served.url): Promise<[status: number, code: unknown]> {
  const response = await fetch(to, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(token) },
    body: JSON.stringify({ query: QUERY }),
  });
  const answer = (await response.json()) as Answer;
  return [response.status, answer.errors?.[0]?.extensions.code];
}

const REFUSED = [401, 'UNAUTHENTICATED'];
const WELCOME = [200, undefined];

describe('the keys of the gateway', () => {
  it('are accepted, listed or in the file, alone or after a name', async () => {
    for (const key of [
      'listed-key-of-this-test',
      'bobs-key-of-this-test',
      'first-key-of-this-test',
      'second-key-of-this-test',
      'plain-key-of-this-test',
    ])
      expect(await asked(key), key).toEqual(WELCOME);
    for (const key of [
      undefined,
      'alice',
      'upstream',
      'listed-key-of-this-tes',
      'listed-key-of-this-test2',
      '#',
      '__proto__',
    ])
      expect(await asked(key), key).toEqual(REFUSED);
  });

  it('keep every answer out of shared caches', async () => {
    const origin = new URL(served.url).origin;
    const search = new URLSearchParams({ query: `{ protein(hash: "${KNOWN[0]}") { hash } }` });
    const paths = [
      `/structures/${KNOWN[0]}.pdb`,
      `/structures/${KNOWN[0]}.cif`,
      `/thumbnails/${KNOWN[0]}/plddt.png`,
      `/graphql?${search}`,
    ];
    for (const path of paths) {
      const answer = await fetch(origin + path, { headers: bearer('plain-key-of-this-test') });
      expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([
        path,
        200,
        expect.stringMatching(/^private, max-age=\d+/),
      ]);
      expect(answer.headers.get('vary'), path).toMatch(/authorization/);
    }
    for (const path of paths)
      expect((await fetch(origin + path)).headers.get('cache-control'), path).toMatch(/no-store/);
  });

  it('are asked for on every way in', async () => {
    const origin = new URL(served.url).origin;
    const hash = '0'.repeat(32);
    for (const path of [
      '/tasks/x/result.json',
      '/bulk/x/0.zip',
      `/structures/${hash}.pdb`,
      `/thumbnails/${hash}/plddt.png`,
    ]) {
      expect((await fetch(origin + path)).status, path).toBe(401);
      expect((await fetch(origin + path, { headers: bearer('guess') })).status, path).toBe(401);
      expect((await fetch(origin + path, { headers: bearer('plain-key-of-this-test') })).status, path).toBe(
        404,
      );
    }
    const list = (headers: Record<string, string> = {}) =>
      fetch(`${origin}/export.tsv`, { method: 'POST', body: hash, headers });
    expect((await list()).status).toBe(401);
    expect((await list(bearer('guess'))).status).toBe(401);
    expect((await list(bearer('plain-key-of-this-test'))).status).toBe(200);
    const watch = 'subscription { batchProgress(batchId: "x") { final } }';
    const stream = (token: string) =>
      subscribe(fetch, watch, {}, { url: served.url, headers: bearer(token) });
    expect((await stream('guess')).status).toBe(401);
    expect((await answersOf(await stream('plain-key-of-this-test')).next()).value).toMatchObject({
      errors: [{ extensions: { code: 'NOT_FOUND' } }],
    });
    const overSocket = async (params: Record<string, string>) => {
      const client: Client = createClient({
        url: served.url.replace('http', 'ws'),
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: params,
      });
      const result = await client
        .iterate({ query: QUERY })
        .next()
        .then(
          ({ value }): unknown => value,
          (event: unknown) => ({ code: Reflect.get(Object(event), 'code') }),
        );
      await client.dispose();
      return result;
    };
    expect(await overSocket({ token: 'plain-key-of-this-test' })).toEqual({
      data: { myBatches: { totalCount: 0 } },
    });
    expect(await overSocket({ token: 'guess' })).toEqual({ code: 4401 });
  });

  it('change with their file; a bad one changes nothing', async () => {
    writeFileSync(file, 'alice third-key-of-this-test\n');
    gateway.reload();
    expect(await asked('third-key-of-this-test')).toEqual(WELCOME);
    expect(await asked('first-key-of-this-test')).toEqual(REFUSED);
    for (const bad of [
      '',
      '# nothing\n',
      'three words here\n',
      'a same-key-of-this-test\nb same-key-of-this-test\n',
      'alice short\n',
    ]) {
      writeFileSync(file, bad);
      gateway.reload();
      expect(await asked('third-key-of-this-test'), bad).toEqual(WELCOME);
    }
    rmSync(file);
    gateway.reload();
    expect(await asked('third-key-of-this-test')).toEqual(WELCOME);
    expect(await asked('listed-key-of-this-test')).toEqual(WELCOME);
    writeFileSync(file, 'alice first-key-of-this-test\n');
    gateway.reload();
  });

  it('are read again without a signal, also when the file is replaced', async () => {
    const own = join(folder, 'watched');
    writeFileSync(own, 'old-key-of-this-test\n');
    const errors: string[] = [];
    const keys = openApiKeys({
      keys: [],
      file: own,
      reloadMs: 20,
      onError: (error) => errors.push(String(error)),
    });
    writeFileSync(own, 'first-key-of-this-test\nshort\n');
    await until('a short key to be told', () => errors.length > 0);
    expect(errors.pop()).toContain('line 2: this key has 5 character(s)');
    writeFileSync(own, 'new-key-of-this-test and more\n');
    await until('the fault to be told', () => errors.length > 0);
    expect(keys.find('old-key-of-this-test')).toEqual({ name: null, key: 'old-key-of-this-test' });
    expect(errors[0]).toContain('line 1');
    expect(errors.join()).not.toContain('new-key-of-this-test');
    rmSync(own);
    writeFileSync(own, 'carol new-key-of-this-test\n');
    await until('the new key', () => keys.find('new-key-of-this-test') !== undefined);
    expect(keys.find('old-key-of-this-test')).toBeUndefined();
    // The same fault after the file was good is told again.
    const told = errors.length;
    writeFileSync(own, 'new-key-of-this-test and more\n');
    await until('the fault to be told again', () => errors.length > told);
    expect(errors.at(-1)).toBe(errors[0]);
    keys.close();
  });
});

describe('tokens of an issuer', () => {
  it('are accepted with an asymmetric signature', async () => {
    for (const alg of ['ES256', 'RS256', 'EdDSA'])
      expect(await asked(await issuer.sign('ann', {}, alg)), alg).toEqual(WELCOME);
    expect(issuer.fetches).toBe(1);
  });

  it('are refused with any other fault', async () => {
    const now = Math.floor(Date.now() / 1000);
    const good = { iss: ISSUER, aud: AUDIENCE, sub: 'eve', exp: now + 300 };
    const publicText = new TextEncoder().encode(JSON.stringify(issuer.publicKey('RS256')));
    const [head = '', , signature = ''] = (await issuer.sign('ann')).split('.');
    const forged = Buffer.from(JSON.stringify({ ...good, sub: 'root' })).toString('base64url');
    const tokens: Record<string, string> = {
      'no signature': new UnsecuredJWT(good).encode(),
      'a public key as a secret': await new SignJWT(good)
        .setProtectedHeader({ alg: 'HS256', kid: 'RS256' })
        .sign(publicText),
      'another algorithm': await issuer.sign('eve', {}, 'PS256'),
      'other claims under a good signature': `${head}.${forged}.${signature}`,
      expired: await issuer.sign('eve', { exp: now - 60 }),
      'not yet good': await issuer.sign('eve', { nbf: now + 120 }),
      'no end': await issuer.sign('eve', { exp: undefined }),
      nobody: await issuer.sign('', {}),
      'another issuer': await issuer.sign('eve', { iss: 'https://evil.example/' }),
      'another audience': await issuer.sign('eve', { aud: 'elsewhere' }),
      'no audience': await issuer.sign('eve', { aud: undefined }),
      'no token': 'a.b.c',
    };
    for (const [what, token] of Object.entries(tokens)) expect(await asked(token), what).toEqual(REFUSED);
    expect(await asked(await issuer.sign('eve', { exp: now - 10 }))).toEqual(WELCOME);
  });

  it('are limited by address when they are wrong, and lock no caller out', async () => {
    const other = await openIssuer();
    const own = openGateway(
      sandbox.url,
      {
        UPSTREAM_API_KEY: 'upstream',
        GATEWAY_JWKS_URL: other.url,
        GATEWAY_JWT_ISSUER: ISSUER,
        GATEWAY_JWT_AUDIENCE: AUDIENCE,
      },
      undefined,
      undefined,
      undefined,
      { authFailuresPerMinute: 3 },
    );
    const there = await serve(own);
    const wrong = [
      await other.sign('eve', { exp: 1 }),
      await other.sign('eve', { aud: 'elsewhere' }),
      await issuer.sign('eve'),
    ];
    const statuses: number[] = [];
    for (const token of [...wrong, ...wrong]) statuses.push((await asked(token, there.url))[0]);
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    expect(await asked(await other.sign('ann'), there.url)).toEqual(WELCOME);
    expect(other.fetches).toBe(1);
    await there.close();
    await own.close();
    await other.close();
  });

  it('are refused with the reason in the log; the answer says when one has expired', async () => {
    const lines: string[] = [];
    const world = await openWorld(
      {
        UPSTREAM_API_KEY: 'upstream',
        GATEWAY_JWKS_URL: issuer.url,
        GATEWAY_JWT_ISSUER: ISSUER,
        GATEWAY_JWT_AUDIENCE: AUDIENCE,
      },
      {},
      (line) => lines.push(line),
    );
    const other = await openIssuer();
    const refused: Record<string, string> = {
      ERR_JWT_EXPIRED: await issuer.sign('eve', { exp: 1 }),
      'ERR_JWT_CLAIM_VALIDATION_FAILED aud': await issuer.sign('eve', { aud: 'elsewhere' }),
      'ERR_JWT_CLAIM_VALIDATION_FAILED iss': await issuer.sign('eve', { iss: 'https://evil.example/' }),
      ERR_JWS_SIGNATURE_VERIFICATION_FAILED: await other.sign('eve'),
      ERR_JWS_INVALID: 'no.token.atall',
    };
    for (const [reason, token] of Object.entries(refused)) {
      lines.length = 0;
      const { errors } = await world.query(QUERY, {}, bearer(token));
      expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
      expect(/expired/.test(errors?.[0]?.message ?? ''), reason).toBe(reason === 'ERR_JWT_EXPIRED');
      const told = lines.map((line): unknown => JSON.parse(line));
      expect(told).toContainEqual(expect.objectContaining({ reason, message: 'a token was refused' }));
      expect(lines.join()).not.toContain(token);
    }
    await other.close();
    await world.close();
  });

  it('end the streams that they opened when they expire', async () => {
    const pace = { first: 150, slowest: 150 };
    const own = openGateway(
      sandbox.url,
      {
        UPSTREAM_API_KEY: 'upstream',
        GATEWAY_JWKS_URL: issuer.url,
        GATEWAY_JWT_ISSUER: ISSUER,
        GATEWAY_JWT_AUDIENCE: AUDIENCE,
      },
      pace,
    );
    const id = await submit(own, 60, bearer(await issuer.sign('ann')));
    // Clocks may differ by 30 seconds.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const exp = Math.floor(Date.now() / 1000) - 24;
    const token = await issuer.sign('ann', { exp });
    const watch = 'subscription($id: ID!) { batchProgress(batchId: $id) { batch { counts { done } } } }';
    const open = (by: string) =>
      subscribe((request) => own.fetch(request), watch, { id }, { headers: bearer(by) });
    const lasting = answersOf(await open(await issuer.sign('ann')));
    const answers = [];
    const running = run(clock, 3);
    onTestFinished(running.stop);
    for await (const answer of answersOf(await open(token))) {
      answers.push(answer);
      if (answers.length === 1) vi.setSystemTime((exp + 29) * 1000);
      if (answers.length === 3) vi.setSystemTime((exp + 30) * 1000);
    }
    running.stop();
    expect(answers.length).toBeGreaterThan(3);
    expect(answers[0]?.data).toMatchObject({ batchProgress: { batch: { counts: { done: 0 } } } });
    expect(answers.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    expect(answers.slice(0, -1).every(({ errors }) => errors === undefined)).toBe(true);
    expect((await lasting.next()).value).toMatchObject({ data: { batchProgress: {} } });
    await lasting.return(undefined);
    await own.close();
  });

  it('are UNAUTHENTICATED with the next operation, and 4401, when they expire while their socket is open', async () => {
    // Clocks may differ by 30 seconds.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const exp = Math.floor(Date.now() / 1000) - 27;
    const token = await issuer.sign('ann', { exp });
    const socket = new WebSocket(served.url.replace('http', 'ws'), 'graphql-transport-ws');
    const messages: Record<string, unknown>[] = [];
    socket.on('message', (data) => messages.push(JSON.parse(String(data)) as Record<string, unknown>));
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    const query = (id: string) =>
      socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query: QUERY } }));
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { token } })));
    await until('the acknowledgement', () => messages.length === 1);
    vi.setSystemTime((exp + 29) * 1000);
    query('before');
    await until('the answer', () => messages.length === 3);
    vi.setSystemTime((exp + 30) * 1000);
    query('after');
    expect(await closed).toBe(4401);
    expect(messages).toEqual([
      { type: 'connection_ack' },
      { type: 'next', id: 'before', payload: { data: { myBatches: { totalCount: 0 } } } },
      { type: 'complete', id: 'before' },
      {
        type: 'error',
        id: 'after',
        payload: [
          expect.objectContaining({ extensions: expect.objectContaining({ code: 'UNAUTHENTICATED' }) }),
        ],
      },
    ]);
  });

  it('are answered 503 while the keys of the issuer cannot be fetched; the keys of the gateway still work', async () => {
    const down = await openIssuer();
    down.fail(true);
    const own = openGateway(sandbox.url, {
      UPSTREAM_API_KEY: 'upstream',
      GATEWAY_API_KEYS: 'listed-key-of-this-test',
      GATEWAY_JWKS_URL: down.url,
      GATEWAY_JWT_ISSUER: ISSUER,
      GATEWAY_JWT_AUDIENCE: AUDIENCE,
    });
    const there = await serve(own);
    const token = await down.sign('ann');
    expect(await asked(token, there.url)).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect(await asked('listed-key-of-this-test', there.url)).toEqual(WELCOME);
    const file = await fetch(`${new URL(there.url).origin}/tasks/x/result.json`, { headers: bearer(token) });
    expect(file.status).toBe(503);
    expect(file.headers.get('retry-after')).toBe('5');
    down.fail(false);
    await until('the keys to be asked for again', async () => (await asked(token, there.url))[0] === 200);
    await there.close();
    await own.close();
    await down.close();
  });

  it('stay out of the log with the address of their keys when the keys cannot be fetched', async () => {
    const down = await openIssuer();
    down.fail(true);
    const token = await down.sign('ann');
    for (const jwks of [`${down.url}?key=secret-of-the-jwks`, 'http://127.0.0.1:1/secret-of-the-jwks']) {
      const lines: string[] = [];
      const world = await openWorld(
        {
          UPSTREAM_API_KEY: 'upstream-secret-of-this-test',
          GATEWAY_JWKS_URL: jwks,
          GATEWAY_JWT_ISSUER: ISSUER,
          GATEWAY_JWT_AUDIENCE: AUDIENCE,
        },
        {},
        (line) => lines.push(line),
      );
      const { errors } = await world.query(QUERY, {}, bearer(token));
      expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
      const seen = lines.join('\n') + JSON.stringify(errors);
      expect(seen).toContain('tokens cannot be checked');
      for (const secret of ['secret-of-the-jwks', 'upstream-secret', token, token.split('.')[2] ?? token])
        expect(seen).not.toContain(secret);
      await world.close();
    }
    await down.close();
  });
});

describe('a gateway that holds the key for this machine', () => {
  it('answers requests for its own names only, so that no other site can point its name here', async () => {
    const own = openGateway(sandbox.url, { UPSTREAM_API_KEY: 'upstream' });
    const there = await serve(own, [], { keyForLoopback: true });
    const { port } = new URL(there.url);
    const ask = (host: string, path: string, headers: Record<string, string> = {}) =>
      new Promise<[status: number, text: string]>((resolve, reject) => {
        const asking = request({ port, host: '127.0.0.1', path, headers: { host, ...headers } });
        asking.on('response', async (answer) => {
          resolve([answer.statusCode ?? 0, Buffer.concat(await answer.toArray()).toString()]);
        });
        asking.on('upgrade', (_, socket) => {
          socket.destroy();
          resolve([101, '']);
        });
        asking.on('error', reject);
        asking.end();
      });
    const status = async (...asked: Parameters<typeof ask>) => (await ask(...asked))[0];
    const upgrade = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'MDEyMzQ1Njc4OTAxMjM0NQ==',
      'sec-websocket-protocol': 'graphql-transport-ws',
    };
    const get = `/graphql?query=${encodeURIComponent(QUERY)}`;
    for (const host of [`localhost:${port}`, '127.0.0.1', `[::1]:${port}`, 'LOCALHOST', '127.0.0.2'])
      expect([host, await status(host, get), await status(host, '/graphql', upgrade)]).toEqual([
        host,
        200,
        101,
      ]);
    const advice = /To serve others, set GATEWAY_API_KEYS or GATEWAY_JWKS_URL/;
    // An answer that the cache holds by now is refused as well.
    const search = new URLSearchParams({ query: `{ protein(hash: "${KNOWN[0]}") { hash } }` });
    for (let time = 0; time < 2; time += 1) expect(await status('localhost', `/graphql?${search}`)).toBe(200);
    for (const name of [
      'Forwarded',
      'X-Forwarded-For',
      'X-Forwarded-Proto',
      'X-Real-IP',
      'Via',
      'CF-Connecting-IP',
      'True-Client-IP',
    ]) {
      const forwarded = { [name]: '127.0.0.1' };
      for (const path of [get, `/graphql?${search}`, '/tasks/x/result.json'])
        expect(await ask('localhost', path, forwarded), `${name} ${path}`).toEqual([
          403,
          expect.stringMatching(advice),
        ]);
      expect(await ask('localhost', '/graphql', { ...upgrade, ...forwarded }), name).toEqual([
        403,
        expect.stringMatching(advice),
      ]);
    }
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '127.0.0.1.nip.io',
      '127.evil.example',
    ]) {
      expect([host, await status(host, get), await status(host, '/tasks/x/result.json')]).toEqual([
        host,
        403,
        403,
      ]);
      expect(await status(host, '/graphql', { ...upgrade, origin: `http://${host}` }), host).toBe(403);
    }
    await there.close();
    await own.close();
  });
});
