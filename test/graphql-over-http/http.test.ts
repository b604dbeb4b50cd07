// GraphQL over HTTP on a real port: the official audit, the draft on top of it, and what the reader
// of requests refuses, in the exact words.
import { createServer, request as rawRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, openWorld, type World } from '../support.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const SMALL = JSON.stringify({ query: '{ __typename }' });

let world: World;
let server: Server;
let url: string;
beforeAll(async () => {
  world = await openWorld({
    CORS_ORIGINS: 'https://app.example,http://localhost:5173',
    MAX_BODY_BYTES: '2000000',
  });
  server = createServer(world.gateway.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await world.close();
});

const post = (body: BodyInit | null, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body });

interface Refused {
  readonly status: number;
  readonly message: unknown;
  readonly code: unknown;
  readonly headers: Headers;
}

async function refused(response: Promise<Response>): Promise<Refused> {
  const { status, headers, ...rest } = await response.then(async (r) => ({
    status: r.status,
    headers: r.headers,
    text: await r.text(),
  }));
  expect(rest.text).not.toMatch(/node_modules|\n\s+at |"stack"/);
  const body: unknown = JSON.parse(rest.text);
  return {
    status,
    headers,
    message: at(body, 'errors.0.message'),
    code: at(body, 'errors.0.extensions.code'),
  };
}

describe('the official audit of GraphQL over HTTP', () => {
  const audits = serverAudits({ url: () => url, fetchFn: fetch });
  it.each(
    audits.map((audit) => [audit.id, audit.name, audit] as const),
  )('%s %s', async (_id, _name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : result.reason).toBe('ok');
  });
});

describe('the media type of an answer', () => {
  const GRAPHQL = 'application/graphql-response+json';
  it.each([
    ['nothing', '', 'application/json'],
    ['anything', '*/*', 'application/json'],
    ['any application', 'application/*', 'application/json'],
    ['what stands first of equals', `${GRAPHQL}, application/json`, GRAPHQL],
    ['what stands first of equals, the other way', `application/json, ${GRAPHQL}`, 'application/json'],
    ['what weighs more', `application/json;q=0.4, ${GRAPHQL};q=0.9`, GRAPHQL],
    ['what is named where weights are equal', `*/*, ${GRAPHQL}`, GRAPHQL],
    ['what is not forbidden', `${GRAPHQL};q=0, */*;q=0.1`, 'application/json'],
    ['not what the closest range forbids', 'application/json;q=0, application/*', GRAPHQL],
    ['upper case and spaces', ` Application/JSON ; Q=0.5 , text/html`, 'application/json'],
    ['Apollo Client 4', `${GRAPHQL},application/json;q=0.9`, GRAPHQL],
    [
      'urql',
      `${GRAPHQL}, application/graphql+json, application/json, text/event-stream, multipart/mixed`,
      GRAPHQL,
    ],
    ['graphql-sse', 'text/event-stream', 'text/event-stream'],
    ['a client of deferred parts', 'multipart/mixed;deferSpec=20220824,application/json', 'application/json'],
    ['only parts', 'multipart/mixed', 'multipart/mixed'],
  ])('is the one for %s', async (_, accept, expected) => {
    const response = await post(SMALL, accept === '' ? {} : { accept });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')?.split(';')[0]).toBe(expected);
    expect(response.headers.get('content-type')).toMatch(/charset=utf-8|boundary/);
    expect(await response.text()).toContain('{"data":{"__typename":"Query"}}');
  });

  it.each([
    'text/html',
    'application/xml;q=0.9, image/*',
    'application/json;q=0',
    'application/json; charset=utf-16',
  ])('is 406 for %s, before anything runs', async (accept) => {
    world.forget();
    const body = JSON.stringify({ query: '{ features(first: 1) { nodes { index } } }' });
    expect(await refused(post(body, { accept }))).toMatchObject({ status: 406, code: 'BAD_USER_INPUT' });
    expect(world.calls).toEqual([]);
  });

  it('is a stream for subscriptions, or 406 where none is accepted', async () => {
    const token = { authorization: 'Bearer streams' };
    const started = await world.query(
      'mutation { submitFold(input: { items: [{ chains: [{ protein: { sequence: "GIVEQCCTSI" } }] }] }) { ... on FoldSubmitted { batch { batchId } } } }',
      {},
      token,
    );
    const id = at(started.data, 'submitFold.batch.batchId');
    await world.query('mutation($id: ID!) { cancelBatch(batchId: $id) { __typename } }', { id }, token);
    const query = 'subscription($id: ID!) { batchProgress(batchId: $id) { __typename } }';
    const body = JSON.stringify({ query, variables: { id } });
    expect(await refused(post(body, { ...token, accept: 'application/json' }))).toMatchObject({
      status: 406,
      message: 'A subscription is a stream: accept text/event-stream or multipart/mixed.',
    });
    const types = await Promise.all(
      ['*/*', 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json'].map(
        async (accept) => {
          const response = await post(body, { ...token, accept });
          const text = await response.text();
          return [
            response.headers.get('content-type'),
            text.includes('"data"'),
            text.includes('{"payload":'),
          ];
        },
      ),
    );
    expect(types).toEqual([
      ['text/event-stream; charset=utf-8', true, false],
      ['multipart/mixed; boundary="-"; subscriptionSpec=1.0', true, true],
    ]);
  });
});

describe('a request', () => {
  const NAMED = { query: 'query A { a: __typename } query B { b: __typename @include(if: true) }' };
  it.each<[string, () => Promise<Response>, string]>([
    [
      'may have members that nobody knows',
      () => post(JSON.stringify({ query: '{ __typename }', id: 1, foo: {} })),
      '{"data":{"__typename":"Query"}}',
    ],
    ['may begin with a byte order mark', () => post(`\uFEFF${SMALL}`), '{"data":{"__typename":"Query"}}'],
    [
      'may name its charset',
      () => post(SMALL, { 'content-type': 'application/json; charset="UTF-8"' }),
      '{"data":{"__typename":"Query"}}',
    ],
    [
      'may hold nulls',
      () =>
        post(
          JSON.stringify({ query: '{ __typename }', variables: null, operationName: null, extensions: null }),
        ),
      '{"data":{"__typename":"Query"}}',
    ],
    [
      'chooses an operation',
      () => post(JSON.stringify({ ...NAMED, operationName: 'B' })),
      '{"data":{"b":"Query"}}',
    ],
    [
      'may be a GET with variables',
      () =>
        fetch(
          `${url}?${new URLSearchParams({ query: 'query($s: Boolean!) { __typename @skip(if: $s) a: __typename }', variables: '{"s":true}' })}`,
        ),
      '{"data":{"a":"Query"}}',
    ],
    [
      'may be a GET with empty parameters',
      () => fetch(`${url}?query=%7B__typename%7D&variables=&operationName=&extensions=`),
      '{"data":{"__typename":"Query"}}',
    ],
  ])('%s', async (_, send, text) => {
    const response = await send();
    expect(await response.text()).toBe(text);
    expect(response.status).toBe(200);
  });

  it.each<[string, number, RegExp, () => Promise<Response>]>([
    ['an empty body', 400, /^The body is not valid JSON\.$/, () => post('')],
    ['no body', 400, /^The body is not valid JSON\.$/, () => post(null)],
    ['malformed JSON', 400, /^The body is not valid JSON\.$/, () => post('{"query":')],
    ['JSON with a comma too many', 400, /^The body is not valid JSON\.$/, () => post('{"query":"{ a }",}')],
    [
      'bytes that are no UTF-8',
      400,
      /^The body is not UTF-8, but perhaps Latin-1 .* Save or send it as UTF-8\.$/,
      () => post(new Uint8Array([123, 34, 0xff, 34, 125])),
    ],
    ['a list of operations', 400, /^A request is one JSON object/, () => post(`[${SMALL},${SMALL}]`)],
    ['an empty list', 400, /^A request is one JSON object/, () => post('[]')],
    ['null', 400, /^A request is one JSON object/, () => post('null')],
    ['a string', 400, /^A request is one JSON object/, () => post('"x"')],
    ['no query', 400, /^The request names no operation/, () => post('{}')],
    ['a query that is a number', 400, /^Expected "query" param to be a string/, () => post('{"query":1}')],
    [
      'variables that are a list',
      400,
      /^Expected "variables" param to be empty or an object/,
      () => post('{"query":"{a}","variables":[]}'),
    ],
    [
      'extensions that are a string',
      400,
      /^Expected "extensions" param to be empty or an object/,
      () => post('{"query":"{a}","extensions":"x"}'),
    ],
    ['an operationName that is an object', 400, /./, () => post('{"query":"{a}","operationName":{}}')],
    ...['query A { a: __typename } query B { b: __typename }', 'fragment A on Query { __typename }'].map(
      (query): [string, number, RegExp, () => Promise<Response>] => [
        `no operation to choose in ${query}`,
        400,
        /^`operationName` must name an operation of the document; without it, .* exactly one\.$/,
        () => post(JSON.stringify({ query })),
      ],
    ),
    [
      'more than two million bytes',
      413,
      /^The body is larger than 1048576 bytes.*MAX_BODY_BYTES/,
      () => post('x'.repeat(2_000_001)),
    ],
    [
      'variables of a GET that are no JSON',
      400,
      /^The parameter `variables` is not valid JSON\.$/,
      () => fetch(`${url}?query={__typename}&variables={`),
    ],
    [
      'broken URL encoding',
      400,
      /^The parameter `variables` is not valid JSON\.$/,
      () => fetch(`${url}?query=%7B__typename%7D&variables=%zz%ff`),
    ],
    [
      'no content type',
      415,
      /content-type: application\/json/,
      () => fetch(url, { method: 'POST', body: new TextEncoder().encode(SMALL) }),
    ],
    [
      'text/plain',
      415,
      /content-type: application\/json/,
      () => post(SMALL, { 'content-type': 'text/plain' }),
    ],
    [
      'a form',
      415,
      /content-type: application\/json/,
      () => post('query=%7B__typename%7D', { 'content-type': 'application/x-www-form-urlencoded' }),
    ],
    [
      'a multipart form',
      415,
      /content-type: application\/json/,
      () => post('--x\r\n', { 'content-type': 'multipart/form-data; boundary=x' }),
    ],
    [
      'application/graphql',
      415,
      /content-type: application\/json/,
      () => post('{__typename}', { 'content-type': 'application/graphql' }),
    ],
    [
      'JSON hidden behind another type',
      415,
      /content-type: application\/json/,
      () => post(SMALL, { 'content-type': 'text/plain, application/json' }),
    ],
    [
      'UTF-16',
      415,
      /in UTF-8; no other charset/,
      () => post(SMALL, { 'content-type': 'application/json; charset=utf-16' }),
    ],
    ['a compressed body', 415, /without content-encoding/, () => post(SMALL, { 'content-encoding': 'gzip' })],
    [
      'PUT',
      405,
      /^Send requests to this address by GET or POST\.$/,
      () => fetch(url, { method: 'PUT', headers: JSON_TYPE, body: SMALL }),
    ],
    [
      'DELETE',
      405,
      /^Send requests to this address by GET or POST\.$/,
      () => fetch(url, { method: 'DELETE' }),
    ],
  ])('is refused with %s: %i', async (_, status, message, send) => {
    const answer = await refused(send());
    expect(answer).toMatchObject({ status, message: expect.stringMatching(message), code: 'BAD_USER_INPUT' });
    if (status === 405) expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    if (status === 415 && String(answer.message).includes('content-type:'))
      expect(answer.headers.get('accept-post')).toBe('application/json');
  });

  it('is no mutation when it is a GET, even named among others', async () => {
    world.forget();
    const query = 'query Q { __typename } mutation M { cancelBatch(batchId: "x") { __typename } }';
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const answer = await refused(
        fetch(`${url}?${new URLSearchParams({ query, operationName: 'M' })}`, { headers: { accept } }),
      );
      expect(answer).toMatchObject({ status: 405, code: 'BAD_USER_INPUT' });
      expect(answer.message).toBe(
        'Send a mutation by POST, as JSON with `content-type: application/json`. GET runs queries.',
      );
      expect(answer.headers.get('allow')).toBe('POST');
    }
    expect(world.calls).toEqual([]);
  });

  it.each([
    ['a query', '?query=%7B__typename%7D', 'application/json', 200],
    ['a cacheable query', '?query=%7Blimits%7BmaxTasks%7D%7D', 'application/json', 200],
    ['a mutation', '?query=mutation%7BcancelBatch(batchId%3A%22x%22)%7B__typename%7D%7D', '*/*', 405],
    ['nothing', '', '*/*', 400],
    ['GraphiQL', '', 'text/html', 200],
  ])('is answered for HEAD as for GET, without the body: %s', async (_, search, accept, status) => {
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(url + search, { method, headers: { accept } })),
    );
    const text = await get?.text();
    expect([get?.status, head?.status, await head?.text()]).toEqual([status, status, '']);
    for (const name of ['content-type', 'etag', 'cache-control', 'allow', 'vary'])
      expect(head?.headers.get(name), name).toBe(get?.headers.get(name));
    if (accept !== 'text/html')
      expect(head?.headers.get('content-length')).toBe(String(Buffer.byteLength(text ?? '')));
  });

  it('ends the subscription of a HEAD at once', async () => {
    const query = 'subscription { batchProgress(batchId: "x") { __typename } }';
    const head = await fetch(`${url}?${new URLSearchParams({ query })}`, {
      method: 'HEAD',
      headers: { accept: 'text/event-stream' },
    });
    expect([head.status, head.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
  });

  it('says what may be asked for OPTIONS', async () => {
    const options = await fetch(url, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
  });

  it('may name its whole address in the request line, which then names the host', async () => {
    const { port, host } = new URL(url);
    const sendTo = (path: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const headers = { host: 'elsewhere.example' };
        rawRequest({ port, host: '127.0.0.1', path, headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          answer.on('end', () => resolve(`${answer.statusCode} ${text}`));
        })
          .on('error', reject)
          .end();
      });
    expect(await sendTo(`http://${host}/graphql?query=%7B__typename%7D`)).toBe(
      '200 {"data":{"__typename":"Query"}}',
    );
    expect(await sendTo(`HTTP://${host}/health`)).toMatch(/^200 /);
    // The front page names the address under which it was asked.
    expect(await sendTo(`http://${host}`)).toContain(`http://${host}/graphql`);
    expect(await sendTo('http://[/')).toMatch(/^400 /);
  });

  it.each([
    ['missing', {}],
    ['null', { hash: null }],
    ['malformed', { hash: 'xyz' }],
    ['of another type', { hash: 3 }],
  ])('has one status for variables that are %s', async (_, variables) => {
    const statuses = async (query: string) => {
      const body = JSON.stringify({ query, variables });
      const answers = ['application/json', 'application/graphql-response+json'].map((accept) =>
        refused(post(body, { accept })),
      );
      return (await Promise.all(answers)).map(({ status, code }) => [status, code]);
    };
    const expected = [
      [200, 'BAD_USER_INPUT'],
      [400, 'BAD_USER_INPUT'],
    ];
    expect(await statuses('query($hash: ProteinHash!) { protein(hash: $hash) { hash } }')).toEqual(expected);
    const deferred = 'query($hash: ProteinHash!) { protein(hash: $hash) { ... @defer { name } } }';
    expect(await statuses(deferred)).toEqual(expected);
  });

  it.each([
    ['text/html', true],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['application/json, text/html;q=0.5', false],
    ['application/json;q=0.5, text/html', true],
    ['*/*, text/html;q=0', false],
    ['*/*', false],
  ])('is answered with a page for accept %s: %s', async (accept, isPage) => {
    for (const address of [url, new URL('/', url)]) {
      const preferred = accept.replace(
        'application/json',
        address === url ? 'application/json' : 'text/plain',
      );
      const response = await fetch(address, { headers: { accept: preferred } });
      await response.body?.cancel();
      expect(response.headers.get('content-type')?.startsWith('text/html')).toBe(isPage);
    }
  });

  it('is refused with a length that is none, and with addresses that are none, without a stack trace', async () => {
    const { port } = new URL(url);
    const sendRaw = (path: string, headers: Record<string, string>): Promise<[number | undefined, string]> =>
      new Promise((resolve, reject) => {
        const sent = rawRequest({ port, host: '127.0.0.1', path, headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          answer.on('end', () => resolve([answer.statusCode, text]));
        });
        sent.on('error', reject);
        sent.end();
      });
    for (const [path, headers] of [
      ['/graphql?query={__typename}', { host: 'a b' }],
      ['/graphql?query={__typename}', { host: '[' }],
      ['//', {}],
      ['/graphql/%zz', {}],
      ['/%', {}],
      ['/structures/%zz.pdb', {}],
    ] as const) {
      const [status, text] = await sendRaw(path, { ...headers });
      expect([status, text].join(' '), path).not.toMatch(/node_modules|\n\s+at /);
      expect(status, `${path} ${JSON.stringify(headers)}`).toBeLessThan(500);
    }
  });
});
