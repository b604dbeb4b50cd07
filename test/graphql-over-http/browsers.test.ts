// Pages of other sites: requests with the header sets that browsers and clients really send, CORS,
// and the headers for browsers in every answer.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config.ts';
import { corsHeaders } from '../../src/http/server/response-headers.ts';
import { at, openWorld, type World } from '../support.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ CORS_ORIGINS: 'https://app.example,http://localhost:5173' });
});
afterAll(() => world.close());

const QUERY = new URLSearchParams({ query: '{ __typename }' });
const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  world.gateway.fetch(new Request(`http://gateway.test${path}`, init));
const get = (headers: Record<string, string>) => ask(`/graphql?${QUERY}`, { headers });

describe('requests by GET', () => {
  it.each<[string, Record<string, string>]>([
    ['curl', { accept: '*/*' }],
    [
      'urql from a listed page',
      {
        accept: 'application/graphql-response+json, application/json',
        origin: 'https://app.example',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
      },
    ],
    [
      'urql from our own page',
      {
        accept: 'application/graphql-response+json, application/json',
        'sec-fetch-site': 'same-origin',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
      },
    ],
    [
      'EventSource of our own page',
      {
        accept: 'text/event-stream',
        'cache-control': 'no-cache',
        'sec-fetch-site': 'same-origin',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
      },
    ],
    [
      'EventSource of a listed page',
      {
        accept: 'text/event-stream',
        origin: 'https://app.example',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
      },
    ],
    [
      'Apollo Client with useGETForQueries',
      {
        accept: 'application/graphql-response+json,application/json;q=0.9',
        origin: 'https://app.example',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'cors',
      },
    ],
    [
      'somebody who types the address',
      {
        accept: 'application/json',
        'sec-fetch-site': 'none',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
        'sec-fetch-user': '?1',
      },
    ],
  ])('are answered when they are of %s', async (_, headers) => {
    const response = await get(headers);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('{"data":{"__typename":"Query"}}');
  });

  it.each<[string, Record<string, string>]>([
    [
      'an image',
      {
        accept: 'image/avif,image/webp,*/*;q=0.8',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'no-cors',
        'sec-fetch-dest': 'image',
      },
    ],
    [
      'a script tag',
      {
        accept: '*/*',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'no-cors',
        'sec-fetch-dest': 'script',
      },
    ],
    [
      'a frame',
      {
        accept: 'application/json, */*',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'iframe',
      },
    ],
    [
      'a script that CORS_ORIGINS does not list',
      {
        accept: 'application/json',
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
      },
    ],
    [
      'a script of a sandboxed frame',
      {
        accept: '*/*',
        origin: 'null',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
      },
    ],
    [
      'a link',
      {
        accept: 'application/xml;q=0.9,*/*;q=0.8',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
    ],
  ])('are 403 when a foreign page makes them by %s', async (_, headers) => {
    const response = await get(headers);
    const body: unknown = await response.json();
    expect([response.status, at(body, 'errors.0.extensions.code')]).toEqual([403, 'FORBIDDEN']);
    expect(at(body, 'errors.0.message')).toMatch(/Send a POST .*content-type.*CORS_ORIGINS/);
    expect(body).not.toHaveProperty('data');
  });
});

describe('requests by POST', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
  ])('never run a mutation when a foreign form sends them as %s', async (type) => {
    world.forget();
    const body = JSON.stringify({ query: 'mutation { cancelBatch(batchId: "x") { __typename } }' });
    const response = await ask('/graphql', {
      method: 'POST',
      headers: { origin: 'https://evil.example', ...(type === '' ? {} : { 'content-type': type }) },
      body: type === '' ? new TextEncoder().encode(body) : body,
    });
    expect([response.status, world.calls]).toEqual([415, []]);
  });
});

describe('CORS', () => {
  const preflight = (origin: string, path = '/graphql') =>
    ask(path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
  const readCors = (response: Response): string[] =>
    [...response.headers.keys()].filter((name) => name.startsWith('access-control-'));

  it.each([
    'https://app.example',
    'http://localhost:5173',
  ])('opens answers and files to %s', async (origin) => {
    for (const path of [`/graphql?${QUERY}`, '/structures/none.pdb', '/nowhere']) {
      const response = await ask(path, { headers: { origin } });
      expect(response.headers.get('access-control-allow-origin')).toBe(origin);
      const exposed = response.headers.get('access-control-expose-headers')?.split(', ') ?? [];
      for (const name of response.headers.keys())
        if (/^(x-request-id|x-sandbox|etag|traceresponse|ratelimit-.*)$/.test(name))
          expect(exposed).toContain(name);
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
      expect(response.headers.get('vary')).toContain('origin');
    }
    const asked = await preflight(origin);
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    expect(asked.headers.get('access-control-allow-headers')).toBe('authorization,content-type');
    expect(asked.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST');
    expect(asked.headers.get('access-control-max-age')).toBe('7200');
    expect(asked.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it.each([
    'https://evil.example',
    'https://app.example.evil.example',
    'https://app.example:8443',
    'http://app.example',
    'HTTPS://APP.EXAMPLE',
    'null',
  ])('stays closed to %s', async (origin) => {
    for (const response of [
      await preflight(origin),
      await ask(`/graphql?${QUERY}`, { headers: { origin } }),
    ]) {
      expect(readCors(response)).toEqual([]);
      expect(response.headers.get('vary')).toContain('origin');
    }
  });

  it('never opens to null, and is not closed by a star', () => {
    expect(corsHeaders('null', ['*', 'null'])).toEqual({});
    expect(corsHeaders('https://any.example', ['*'])['access-control-allow-origin']).toBe('*');
    expect(corsHeaders('https://any.example', [])).toEqual({});
  });

  it('takes exact origins only, and no star while the gateway lends its key', () => {
    for (const origins of [
      'https://app.example/',
      'app.example',
      'null',
      'https://*.example',
      'https://a.example,x',
    ])
      expect(() => readConfig({ CORS_ORIGINS: origins }), origins).toThrow(ConfigError);
    expect(() => readConfig({ CORS_ORIGINS: '*', UPSTREAM_API_KEY: 'key' })).toThrow(/CORS_ORIGINS: with \*/);
    expect(readConfig({ CORS_ORIGINS: '*' }).CORS_ORIGINS).toEqual(['*']);
  });
});

describe('what browsers are told', () => {
  const TOLD = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  };
  it.each([
    [`/graphql?${QUERY}`, 200, 'same-origin'],
    ['/graphql?query={', 200, 'same-origin'],
    ['/graphql', 400, 'same-origin'],
    ['/nowhere', 404, 'same-origin'],
    ['/structures/12e9c9e4e2835c302e8ba615115edda3.pdb', 200, 'same-origin'],
    ['/thumbnails/12e9c9e4e2835c302e8ba615115edda3/plddt.png', 200, 'cross-origin'],
  ])('holds every policy for %s', async (path, status, policy) => {
    const response = await ask(path);
    const headers = Object.fromEntries(response.headers);
    expect(response.status).toBe(status);
    expect(headers).toMatchObject({
      ...TOLD,
      'cross-origin-resource-policy': policy,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
  });

  it('lets just the inline scripts of pages run that are their own', async () => {
    const response = await ask('/graphql', { headers: { accept: 'text/html' } });
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(Object.fromEntries(response.headers)).toMatchObject(TOLD);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-[^']+'/);
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    const html = await response.text();
    const script = /<script[^>]*>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    expect(policy).toContain(`'sha256-${hash}'`);
  });

  describe('where CORS_ORIGINS is not set', () => {
    const readable = async (env: Record<string, string>, origin: string) => {
      const lines: string[] = [];
      const own = await openWorld(env, {}, (line) => lines.push(line));
      const request = () => new Request(`http://localhost/graphql?${QUERY}`, { headers: { origin } });
      const [response] = [await own.gateway.fetch(request()), await own.gateway.fetch(request())];
      await own.close();
      return {
        allowed: response.headers.get('access-control-allow-origin'),
        warnings: lines.filter((line) => line.includes('CORS_ORIGINS')),
      };
    };

    it.each([
      'http://localhost:5173',
      'http://127.0.0.1:8080',
      'http://[::1]:3000',
    ])('pages of this machine, such as %s, read answers over the embedded sandbox', async (origin) => {
      expect(await readable({}, origin)).toEqual({ allowed: origin, warnings: [] });
    });

    it.each([
      ['another machine', {}, 'http://localhost.evil.example'],
      ['this machine, over a service', { UPSTREAM_URL: 'http://127.0.0.1:9' }, 'http://localhost:5173'],
      [
        'this machine, from a published gateway',
        { PUBLIC_URL: 'http://fold.example' },
        'http://localhost:5173',
      ],
    ])('pages of %s do not, and the log says once what to set', async (_, env, origin) => {
      const { allowed, warnings } = await readable(env, origin);
      expect(allowed).toBeNull();
      expect(warnings).toHaveLength(1);
      expect(JSON.parse(warnings[0] ?? '')).toMatchObject({ level: 'warn', origin });
    });

    it('are opened by `loopback` over a service as well', async () => {
      const env = { UPSTREAM_URL: 'http://127.0.0.1:9', CORS_ORIGINS: 'loopback' };
      expect((await readable(env, 'http://localhost:5173')).allowed).toBe('http://localhost:5173');
    });
  });
});
