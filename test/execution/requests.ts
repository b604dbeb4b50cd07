// The requests on which both ways into a gateway must agree: every example by GET and by POST,
// media types, refusals, conditional and foreign requests, and headers.
import { createHash } from 'node:crypto';
import { getOperationAST, parse } from 'graphql';
import { type Example, readExamples } from '../../src/http/pages/examples.ts';

/** The parts of a request, so that it can be sent more than once. */
export interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly host?: string;
}

export type Case = readonly [name: string, sent: Sent];

/** The ids that the examples ask for. */
export type Ids = Readonly<Record<'batchId' | 'taskId' | 'lookupId', string>>;

export const TOKEN = { authorization: 'Bearer two-paths' };
const JSON_TYPE = { 'content-type': 'application/json' };
const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const GRAPHQL = 'application/graphql-response+json';
const STREAM = 'text/event-stream';

export const CATALOGUE = '{ features(first: 10) { nodes { index label } } }';
const CARD = 'query Card($hash: ProteinHash!) { protein(hash: $hash) { hash name length ptm } }';

/** An operation by POST. */
export const post = (params: unknown, headers: Record<string, string> = {}): Sent => ({
  path: '/graphql',
  method: 'POST',
  headers: { ...JSON_TYPE, ...headers },
  body: typeof params === 'string' ? params : JSON.stringify(params),
});

/** An operation by GET. */
export const get = (params: Record<string, unknown>, headers: Record<string, string> = {}): Sent => {
  const search = Object.entries(params).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return { path: `/graphql?${new URLSearchParams(search)}`, headers };
};

/** The request itself. */
export const toRequest = ({ path, host = 'gateway.test', ...init }: Sent): Request =>
  new Request(`http://${host}${path}`, init);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const byHash = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });

/** Each example as it stands; mutations a second time, when there is nothing left to be done. */
function examples(ids: Ids): Case[] {
  return readExamples().flatMap(({ name, query, kind, variables }: Example): Case[] => {
    const names = Object.keys(JSON.parse(variables ?? '{}'));
    const given = Object.fromEntries(Object.entries(ids).filter(([id]) => names.includes(id)));
    // Only what was sent under a key is answered the same again.
    const operation = getOperationAST(parse(query));
    if (operation === null || name === '11-submit-fold' || name === '21-start-bulk-lookup') return [];
    const params = { query, variables: given };
    const accept = kind === 'subscription' ? { accept: STREAM } : {};
    const sent: Case[] = [[`${name} by POST`, post(params, { ...TOKEN, ...accept })]];
    if (kind !== 'mutation') sent.push([`${name} by GET`, get(params, { ...TOKEN, ...accept })]);
    if (kind === 'query') {
      sent.push([`${name} without a token`, post(params)]);
      sent.push([`${name} with its id`, post({ documentId: sha256(query), variables: given }, TOKEN)]);
    }
    if (kind === 'subscription') sent.push([`${name} as JSON`, post(params, TOKEN)]);
    return sent;
  });
}

/** Accept headers of clients, honest and not. */
export const ACCEPTED = [
  '*/*',
  'application/*',
  'application/json',
  GRAPHQL,
  `${GRAPHQL}, application/json`,
  `application/json;q=0.4, ${GRAPHQL};q=0.9`,
  `${GRAPHQL};q=0, */*;q=0.1`,
  ' Application/JSON ; Q=0.5 , text/html',
  STREAM,
  'multipart/mixed',
  'multipart/mixed;deferSpec=20220824,application/json',
  'text/html',
  'application/json;q=0',
  'application/json; charset=utf-16',
  '',
];

const mediaTypes = (): Case[] =>
  ACCEPTED.flatMap((accept): Case[] => [
    [`POST accepting "${accept}"`, post({ query: CATALOGUE }, { accept })],
    [`GET accepting "${accept}"`, get({ query: CATALOGUE }, { accept })],
  ]);

const SMALL = JSON.stringify({ query: CATALOGUE });

/** Requests whose body, type or method is wrong or only looks wrong. */
const BODIES: readonly Case[] = [
  ['an empty body', post('')],
  ['no body', { path: '/graphql', method: 'POST', headers: JSON_TYPE }],
  ['a byte order mark', post(`\uFEFF${SMALL}`)],
  ['spaces around', post(`\n ${SMALL} \r\n`)],
  ['broken JSON', post('{"query":')],
  ['JSON and more', post(`${SMALL}x`)],
  ['bytes that are no UTF-8', { ...post(''), body: Uint8Array.of(123, 34, 0xff, 34, 125) }],
  ['a list', post(`[${SMALL}]`)],
  ['null', post('null')],
  ['no query', post({})],
  ['an empty query', post({ query: '' })],
  ['a query that is a number', post({ query: 1 })],
  ['variables that are a list', post({ query: CATALOGUE, variables: [] })],
  ['null variables', post({ query: CATALOGUE, variables: null, operationName: null, extensions: null })],
  ['members that nobody knows', post({ query: CATALOGUE, id: 1 })],
  ['the same member twice', post(`{"query":"{ __typename }","query":${JSON.stringify(CATALOGUE)}}`)],
  ['another order of members', post({ variables: {}, query: CATALOGUE })],
  ['__proto__', post('{"query":"{__typename}","variables":{"a":{"__proto__":{}}}}')],
  ['half a surrogate', post('{"query":"{__typename}","variables":{"a":"\\ud800"}}')],
  ['a body that is too large', post({ query: CATALOGUE, more: 'x'.repeat(210_000) })],
  ['a query that is too long', post({ query: `${CATALOGUE} #${'x'.repeat(30_000)}` })],
  ['text/plain', post(SMALL, { 'content-type': 'text/plain' })],
  ['a form', post('query=x', { 'content-type': 'application/x-www-form-urlencoded' })],
  ['application/graphql', post(CATALOGUE, { 'content-type': 'application/graphql' })],
  ['a charset', post(SMALL, { 'content-type': 'application/json; charset="UTF-8"' })],
  ['UTF-16', post(SMALL, { 'content-type': 'application/json; charset=utf-16' })],
  ['another case of a type', post(SMALL, { 'content-type': 'Application/JSON' })],
  ['a compressed body', post(SMALL, { 'content-encoding': 'gzip' })],
  ['PUT', { ...post(SMALL), method: 'PUT' }],
  ['DELETE', { path: '/graphql', method: 'DELETE' }],
  ['HEAD', { ...get({ query: CATALOGUE }), method: 'HEAD' }],
  ['OPTIONS', { path: '/graphql', method: 'OPTIONS' }],
  ['a mutation by GET', get({ query: 'mutation { cancelBatch(batchId: "x") { __typename } }' })],
  ['GET without a query', { path: '/graphql' }],
  ['GET with broken variables', { path: '/graphql?query={__typename}&variables={' }],
  ['GET with broken escapes', { path: '/graphql?query=%7B__typename%7D&variables=%zz%ff' }],
  ['GET with empty parameters', { path: '/graphql?query=%7B__typename%7D&variables=&operationName=' }],
  ['GET with a plus', { path: '/graphql?query={+__typename+}' }],
  ['GET with two queries', { path: '/graphql?query={__typename}&query={a:__typename}' }],
  ['GET with a content type', get({ query: CATALOGUE }, JSON_TYPE)],
  ['a final slash', { ...post(SMALL), path: '/graphql/' }],
  ['POST with a search', { ...post(SMALL), path: '/graphql?query={__typename}' }],
  ['another path', { path: '/graphq' }],
  ['the path in upper case', { ...post(SMALL), path: '/GraphQL' }],
];

const NAMED = 'query A { a: __typename } query B { features(first: 1) { totalCount } }';

/** Requests with a wrong or unusual document or variables. */
const DOCUMENTS: readonly Case[] = [
  ['a syntax error', post({ query: '{ features( }' })],
  ['an unknown field', post({ query: '{ features(first: 1) { nodes { colour } } }' })],
  ['an unknown argument', post({ query: '{ features(colour: 1) { totalCount } }' })],
  ['an unknown type', post({ query: 'query($a: Colour) { __typename }' })],
  ['a missing variable', post({ query: CARD })],
  ['a variable of a wrong type', post({ query: CARD, variables: { hash: 1 } })],
  ['a variable that is no hash', post({ query: CARD, variables: { hash: 'x' } })],
  ['a null variable', post({ query: CARD, variables: { hash: null } })],
  ['a variable too many', post({ query: CARD, variables: { hash: INSULIN, more: 1 } })],
  ['a hash in upper case', post({ query: CARD, variables: { hash: INSULIN.toUpperCase() } })],
  ['a hash that no Atlas holds', post({ query: CARD, variables: { hash: '0'.repeat(32) } })],
  ['the same by GET', get({ query: CARD, variables: { hash: '0'.repeat(32) } })],
  ['a chosen operation', post({ query: NAMED, operationName: 'B' })],
  ['the other operation', post({ query: NAMED, operationName: 'A' })],
  ['no chosen operation', post({ query: NAMED })],
  ['an unknown operation', post({ query: NAMED, operationName: 'C' })],
  ['an unlikely list', post({ query: '{ features(first: 100000) { totalCount } }' })],
  ['a negative list', post({ query: '{ features(first: -1) { totalCount } }' })],
  ['a wrong cursor', post({ query: '{ features(first: 1, after: "x") { totalCount } }' })],
  [
    'too many aliases',
    post({ query: `{ ${Array.from({ length: 200 }, (_, i) => `a${i}: __typename`).join(' ')} }` }),
  ],
  [
    'what costs too much',
    post({
      query: `{ ${Array.from({ length: 20 }, (_, i) => `a${i}: cluster(hash: "${INSULIN}") { members(first: 500) { nodes { similar { hits { score } } } } }`).join(' ')} }`,
    }),
  ],
  [
    'a fragment',
    post({
      query:
        'fragment F on Feature { index label } { feature(index: 1) { ...F ... on Feature { category } } }',
    }),
  ],
  [
    'skipped fields',
    post({
      query: 'query($s: Boolean!) { feature(index: 1) { index @skip(if: $s) label @include(if: $s) } }',
      variables: { s: true },
    }),
  ],
  [
    'the same, shown',
    post({
      query: 'query($s: Boolean!) { feature(index: 1) { index @skip(if: $s) label @include(if: $s) } }',
      variables: { s: false },
    }),
  ],
  [
    'introspection',
    post({ query: '{ __schema { queryType { name } } __type(name: "Protein") { fields { name } } }' }),
  ],
  [
    'entities',
    post({
      query:
        'query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Protein { hash length } } }',
      variables: {
        r: [
          { __typename: 'Protein', hash: INSULIN },
          { __typename: 'Protein', hash: '0'.repeat(32) },
          { __typename: 'Colour' },
        ],
      },
    }),
  ],
  ['the subgraph', post({ query: '{ _service { sdl } }' })],
  [
    'two of a oneOf',
    post({
      query: 'query($i: SubmitFoldInput!) { checkFold(input: $i) { ok } }',
      variables: { i: { items: [{ chains: [{ protein: { sequence: 'GG' }, rna: { sequence: 'GG' } }] }] } },
    }),
  ],
  [
    'a look-up of anything',
    post({
      query:
        '{ lookup(ids: ["P01308", "\u{1F9EC}", "x", ""]) { requested protein { name } problem { __typename message } } }',
    }),
  ],
  ['what needs a token', post({ query: '{ myBatches(first: 1) { totalCount } }' })],
  [
    'what needs a token, with public data',
    post({ query: '{ feature(index: 1) { label } myBatches(first: 1) { totalCount } }' }),
  ],
  [
    'a batch of nobody',
    post({ query: '{ batch(batchId: "00000000-0000-4000-8000-000000000000") { status } }' }, TOKEN),
  ],
  [
    'a subscription of nobody',
    post({ query: 'subscription { batchProgress(batchId: "x") { final } }' }, { ...TOKEN, accept: STREAM }),
  ],
  ['stated limits', post({ query: '{ limits { maxItems maxTasks } }' })],
];

const DEFERRED = `query($hash: ProteinHash!) { protein(hash: $hash) { hash ... @defer(label: "more") { name similar(first: 2) { hits { score } } } } }`;

/** All that it finds of a few stands in its first part. */
const LISTED =
  'query Listed($ids: [String!]!) { lookup(ids: $ids) @stream(initialCount: 4, label: "rest") { requested protein { hash } problem { __typename } } }';

/** Answers in parts, listed and registered operations. */
const PARTS: readonly Case[] = [
  ...['multipart/mixed', STREAM, 'application/json', GRAPHQL].map(
    (accept): Case => [
      `@defer accepting ${accept}`,
      post({ query: DEFERRED, variables: { hash: INSULIN } }, { accept }),
    ],
  ),
  [
    '@defer switched off',
    post(
      { query: DEFERRED.replace('label: "more"', 'if: false'), variables: { hash: INSULIN } },
      { accept: 'multipart/mixed' },
    ),
  ],
  [
    '@stream',
    post(
      { query: '{ features(first: 3) { nodes @stream(initialCount: 1) { index } } }' },
      { accept: 'multipart/mixed' },
    ),
  ],
  ...['multipart/mixed', STREAM, 'multipart/mixed;deferSpec=20220824,application/json', GRAPHQL].flatMap(
    (accept): Case[] =>
      [
        { ids: [] },
        { ids: ['P01308'] },
        { ids: ['P01308', 'nonsense', INSULIN] },
        {},
        { ids: 7 },
        { ids: Array(5001).fill('x') },
      ].map((variables, i) => [
        `a list in parts, ${i}, accepting ${accept}`,
        post({ query: LISTED, variables }, { accept, origin: 'https://app.example' }),
      ]),
  ),
  [
    'a list in parts by a wrong name',
    post({ query: LISTED, variables: { ids: [] }, operationName: 'Other' }, { accept: 'multipart/mixed' }),
  ],
  ['a list in parts by GET', get({ query: LISTED, variables: { ids: [] } }, { accept: 'multipart/mixed' })],
  ['a hash that nobody registered', post({ extensions: byHash('{ a: __typename }') })],
  ['a registration', post({ query: CATALOGUE, extensions: byHash(CATALOGUE) })],
  ['what was registered', post({ extensions: byHash(CATALOGUE) })],
  ['what was registered, by GET', get({ extensions: byHash(CATALOGUE) })],
  ['a wrong registration', post({ query: CARD, extensions: byHash(CATALOGUE) })],
  [
    'another version of it',
    post({ query: CARD, extensions: { persistedQuery: { version: 2, sha256Hash: 'x' } } }),
  ],
  ['an id that nobody listed', post({ documentId: sha256('x') })],
];

/** Headers of a request. Each of them may change an answer, or must not. */
export const HEADERS: readonly (readonly [string, Record<string, string>])[] = [
  ['nothing else', {}],
  ['a report', { 'x-upstream-report': '1' }],
  ['no report', { 'x-upstream-report': '0' }],
  ['an id', { 'x-request-id': 'given-request-id' }],
  ['an unusable id', { 'x-request-id': 'a b' }],
  ['a trace', { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }],
  ['a broken trace', { traceparent: '00-xyz' }],
  ['a listed origin', { origin: 'https://app.example' }],
  ['a foreign origin', { origin: 'https://evil.example' }],
  ['no origin', { origin: 'null' }],
  ['a page of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
  ['a token', TOKEN],
  ['another token', { authorization: 'Bearer somebody-else' }],
  ['a token that is none', { authorization: 'Basic eDp5' }],
  ['an empty token', { authorization: '' }],
  ['a cookie', { cookie: 'a=b' }],
  ['no cache', { 'cache-control': 'no-cache' }],
  [
    'a proxy',
    { 'x-forwarded-for': '203.0.113.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'else.test' },
  ],
  ['any etag', { 'if-none-match': '*' }],
  ['a wrong etag', { 'if-none-match': '"x"' }],
  ['a time', { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }],
  ['a range', { range: 'bytes=0-9' }],
  ['compression', { 'accept-encoding': 'gzip, br' }],
];

const headers = (): Case[] =>
  HEADERS.flatMap(([name, given]): Case[] => [
    [`POST with ${name}`, post({ query: CATALOGUE }, given)],
    [`GET with ${name}`, get({ query: CATALOGUE }, given)],
  ]);

const preflight = (origin: string, method: string): Sent => ({
  path: '/graphql',
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'content-type,x-request-id',
  },
});

/** Other names of the gateway, preflights, and what is no GraphQL. */
const OTHERS: readonly Case[] = [
  ['a preflight', preflight('https://app.example', 'POST')],
  ['a foreign preflight', preflight('https://evil.example', 'POST')],
  ['a strange preflight', preflight('https://app.example', 'DELETE')],
  ...['gateway.test', 'other.test:8080', 'localhost'].flatMap((host): Case[] => [
    [
      `links of ${host} by GET`,
      {
        ...get({ query: '{ protein(hash: "12e9c9e4e2835c302e8ba615115edda3") { thumbnail { url } } }' }),
        host,
      },
    ],
    [
      `links of ${host} by POST`,
      {
        ...post({ query: '{ protein(hash: "12e9c9e4e2835c302e8ba615115edda3") { thumbnail { url } } }' }),
        host,
      },
    ],
  ]),
  ['health', { path: '/health' }],
  ['health by HEAD', { path: '/health', method: 'HEAD' }],
  ['the schema', { path: '/schema.graphql' }],
  ['a thumbnail', { path: `/thumbnails/${INSULIN}/plddt.png` }],
  ['a thumbnail that is none', { path: `/thumbnails/${INSULIN}/colour.png` }],
  ['a structure', { path: `/structures/${INSULIN}.pdb` }],
  ['nothing', { path: '/nothing' }],
];

/** All of them. @param etag - of the answer to {@link CATALOGUE} by GET */
export const requests = (ids: Ids, etag: string): Case[] => [
  ...examples(ids),
  ...mediaTypes(),
  ...BODIES,
  ...DOCUMENTS,
  ...PARTS,
  ...headers(),
  ...[etag, `W/${etag}`, `"x", ${etag}`, etag.slice(1, -1)].flatMap((tag): Case[] => [
    [`GET of who has ${tag.slice(0, 4)}`, get({ query: CATALOGUE }, { 'if-none-match': tag })],
    [`POST of who has ${tag.slice(0, 4)}`, post({ query: CATALOGUE }, { 'if-none-match': tag })],
  ]),
  ...OTHERS,
];
