// The table of failures by the faces of the gateway: each is told with its status, and counted with
// its code, drift with its place; the log names the cause once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Gateway } from '../../src/gateway.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { testLogger } from '../record.ts';
import { NO_REDIS, openRedisPlace, type RedisPlace } from '../store/redis-place.ts';
import { type Served, serve } from '../subscriptions/streams.ts';
import { until } from '../subscriptions/support.ts';
import {
  HASH,
  hangs,
  inTurn,
  openLyingPlace,
  openPlace,
  type Script,
  says,
  TOKEN,
} from '../upstream/liar.ts';

type Line = Readonly<Record<string, unknown>>;
const lines: Line[] = [];
const { liar, place } = await openLyingPlace(
  {},
  { pace: { first: 20, slowest: 40 }, log: testLogger((line) => lines.push(JSON.parse(line) as Line)) },
);
/** Refuses the second request of a caller, and what makes more than one call. */
const { place: strictPlace } = await openLyingPlace(
  { RATE_LIMIT_PER_MINUTE: '1', MAX_QUERY_COST: '1' },
  { log: testLogger((line) => lines.push(JSON.parse(line) as Line)) },
);
/** The gateways on their ports, for sockets. */
const served = new Map<Gateway, Served>();
beforeAll(async () => {
  for (const { gateway } of [place, strictPlace]) served.set(gateway, await serve(gateway));
});
afterAll(async () => {
  for (const one of served.values()) await one.close();
});

/** How a face is asked. */
interface Asked {
  readonly gateway: Gateway;
  readonly query: string;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** The failure as a client sees it; over a WebSocket without a status. */
interface Told {
  readonly status?: number;
  readonly retryAfter?: string | null;
  readonly text: string;
}

const signal = new AbortController().signal;
/** Asks for a batch: the answer fails as its List does. */
const BATCH = '{ batch(batchId: "b1") { status } }';
const USUAL: Asked = { gateway: place.gateway, query: BATCH, token: TOKEN, signal };

async function send({ gateway, token, signal }: Asked, path: string, init: RequestInit = {}): Promise<Told> {
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  const request = new Request(`http://gateway.test${path}`, { ...init, headers, signal });
  const response = await gateway.fetch(request);
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, text: await response.text() };
}
const postTo = (asked: Asked, path: string, body: unknown, accept: string): Promise<Told> =>
  send(asked, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
  });

const post = (path: string, body: unknown, accept: string) =>
  place.gateway.fetch(
    new Request(`http://gateway.test${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, accept },
      body: JSON.stringify(body),
    }),
  );
const read = (path: string) =>
  place.gateway.fetch(
    new Request(`http://gateway.test${path}`, { headers: { authorization: `Bearer ${TOKEN}` } }),
  );
const readText = async (answer: Promise<Response>): Promise<string> => (await answer).text();

/** Runs an operation over a connection of its own, which the signal closes. */
async function overSocket({ gateway, query, token, signal }: Asked): Promise<Told> {
  const client = createClient({
    url: String(served.get(gateway)?.url).replace(/^http/, 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
    retryAttempts: 0,
  });
  const leave = () => client.terminate();
  signal.addEventListener('abort', leave);
  try {
    for await (const answer of client.iterate({ query })) return { text: JSON.stringify(answer) };
    return { text: '' };
  } catch (errors) {
    return { text: JSON.stringify(errors) };
  } finally {
    signal.removeEventListener('abort', leave);
    await client.dispose();
  }
}

interface Face {
  /** GraphQL answers what was executed with 200, a file with the status of its failure. */
  readonly kind: 'graphql' | 'file';
  readonly ask: (asked: Asked) => Promise<Told>;
}

const MULTIPART = 'multipart/mixed, application/json';
const file = (path: string): Face => ({ kind: 'file', ask: (asked) => send(asked, path) });
const graphql = (accept: string): Face => ({
  kind: 'graphql',
  ask: (asked) => postTo(asked, '/graphql', { query: asked.query }, accept),
});
const tool = ({ query }: Asked) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'graphql', arguments: { query } },
});

const FACES = {
  JSON: graphql('application/json'),
  'an event stream': graphql('text/event-stream'),
  multipart: graphql(MULTIPART),
  'a deferred part': {
    kind: 'graphql',
    ask: (asked) =>
      postTo(asked, '/graphql', { query: `{ ... @defer ${asked.query} __typename }` }, MULTIPART),
  },
  'a socket': { kind: 'graphql', ask: overSocket },
  'a table': file('/batches/b1/scores.tsv'),
  'an archive': file('/batches/b1/results.zip'),
  'a structure of a task': file('/tasks/b1-00000/structure.cif'),
  'a result': file('/tasks/b1-00000/result.json'),
  'a structure of the Atlas': file(`/structures/${HASH}.pdb`),
  'a picture': file(`/thumbnails/${HASH}/plddt.png`),
  'an export': {
    kind: 'file',
    ask: (asked) => postTo(asked, '/export.tsv', { ids: [HASH], columns: ['ptm'] }, '*/*'),
  },
  'a tool': {
    kind: 'graphql',
    ask: (asked) => postTo(asked, '/mcp', tool(asked), 'application/json, text/event-stream'),
  },
} satisfies Readonly<Record<string, Face>>;
const ALL: readonly (readonly [string, Face])[] = Object.entries(FACES);

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** Sums of a counter by the value of a label. */
async function counts(
  name: string,
  label: string,
  { metrics }: Pick<Gateway, 'metrics'> = place.gateway,
): Promise<Record<string, number>> {
  const text = await metrics.text();
  const found = text.matchAll(new RegExp(`^foldatlas_${name}\\{.*?${label}="([^"]*)".*\\} (\\d+)$`, 'gm'));
  const totals: Record<string, number> = {};
  for (const [, value = '', count] of found) totals[value] = (totals[value] ?? 0) + Number(count);
  return totals;
}

const failureLines = () => lines.filter(({ message }) => message === 'upstream failed');

const SECRET = 'https://files.test/result.json?signature=abcdef';
const ODD = { data: { status: 'done', counts: { done: -1 }, items: [] }, protein_hash: 5 };
interface Failure {
  readonly script: Script;
  /** The status of a file that cannot be had for it. */
  readonly status: number;
  readonly isLogged: boolean;
}
const FAILURES: Readonly<Record<string, Failure>> = {
  UPSTREAM_DRIFT: { script: says(200, ODD), status: 502, isLogged: true },
  UPSTREAM_UNAVAILABLE: {
    script: says(500, { message: `broken at ${SECRET}` }),
    status: 503,
    isLogged: true,
  },
  UPSTREAM_TIMEOUT: { script: says(504, { message: 'no answer in time' }), status: 504, isLogged: true },
  FORBIDDEN: { script: says(403, { message: 'not allowed' }), status: 403, isLogged: false },
};

/** Collects the counters and log lines of a request. */
async function observe<T>(ask: () => Promise<T>, gateway: Gateway = place.gateway) {
  lines.length = 0;
  const [errors, drifts] = [
    await counts('errors_total', 'code', gateway),
    await counts('upstream_drifts_total', 'path', gateway),
  ];
  const text = await ask();
  await until('the end of the request', () => lines.some(({ message }) => message === 'request'));
  const after = await counts('errors_total', 'code', gateway);
  return {
    text,
    errors: Object.fromEntries(
      Object.entries(after).flatMap(([code, count]) => {
        const more = count - (errors[code] ?? 0);
        return more === 0 ? [] : [[code, more]];
      }),
    ),
    drifts: sum(await counts('upstream_drifts_total', 'path', gateway)) - sum(drifts),
  };
}

beforeEach(() => liar.reset());

describe.each(Object.entries(FAILURES))('a failure with the code %s', (code, failure) => {
  it.each(ALL)('is told, counted and logged once by %s', async (name, { kind, ask }) => {
    const { script, status, isLogged } = failure;
    for (const operation of ['list', 'status', 'protein', 'bulk', 'thumbnail'])
      liar.script(
        operation,
        operation === 'thumbnail' && code === 'UPSTREAM_DRIFT' ? says(200, 'x') : script,
      );
    const { text: told, errors, drifts } = await observe(() => ask(USUAL));
    expect(told.text.length).toBeGreaterThan(0);
    // The export has a row that says so.
    const isWhole = kind === 'graphql' || name === 'an export';
    expect(told.status).toBe(name === 'a socket' ? undefined : isWhole ? 200 : status);
    expect(errors).toEqual({ [code]: 1 });
    expect(drifts).toBe(code === 'UPSTREAM_DRIFT' ? 1 : 0);
    expect(failureLines()).toHaveLength(isLogged ? 1 : 0);
    if (!isLogged) return;
    const [line] = failureLines();
    const asked = lines.find(({ message }) => message === 'request');
    expect(line).toMatchObject({ level: 'warn', code, failures: 1, requestId: asked?.requestId });
    expect(line?.operation).toMatch(/^(list|status|protein|bulk|thumbnail)$/);
    expect(String(line?.reason).length).toBeGreaterThan(10);
    expect(JSON.stringify(lines)).not.toMatch(/files\.test|abcdef|token-of-a-caller/);
  });
});

describe('a request that is refused', () => {
  const { gateway } = strictPlace;

  it.each(ALL)('is told and counted once by %s', async (name, { ask }) => {
    const asked = { ...USUAL, gateway, token: `refused ${name}`.replaceAll(' ', '-') };
    await ask(asked);
    const refused = async () => (await counts('requests_refused_total', 'reason', gateway)).rate ?? 0;
    const before = await refused();
    const { text: told, errors } = await observe(() => ask(asked), gateway);
    expect(told.status).toBe(name === 'a socket' ? undefined : 429);
    expect(told.text).toMatch(/You have made more than 1 requests in a minute/);
    expect(errors).toEqual({ RATE_LIMITED: 1 });
    expect((await refused()) - before).toBe(1);
  });

  it.each(
    ALL.filter(([name, { kind }]) => kind === 'graphql' || name === 'an export'),
  )('for its cost is told and counted once by %s', async (name, { kind, ask }) => {
    const query = '{ a: batch(batchId: "b1") { status } b: batch(batchId: "b2") { status } }';
    const asked = { ...USUAL, gateway, query, token: `cost ${name}`.replaceAll(' ', '-') };
    const { text: told, errors } = await observe(() => ask(asked), gateway);
    expect(told.status).toBe(name === 'a socket' ? undefined : kind === 'graphql' ? 200 : 400);
    expect(told.text).toMatch(/could cost \d+ upstream calls; 1 are allowed/);
    expect(errors).toEqual({ QUERY_TOO_EXPENSIVE: 1 });
    expect(failureLines()).toEqual([]);
  });
});

it.each(ALL)('nothing is counted or logged as a failure by %s when its client has left', async (_, {
  ask,
}) => {
  const operations = ['list', 'status', 'protein', 'bulk', 'thumbnail'];
  for (const operation of operations) liar.script(operation, hangs);
  const leaving = new AbortController();
  const { errors } = await observe(async () => {
    const asked = ask({ ...USUAL, signal: leaving.signal }).catch(() => undefined);
    await until('the service to be asked', () => liar.seen.length > 0);
    leaving.abort();
    await asked;
  });
  expect(errors).toEqual({});
  expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
});

describe.skipIf(NO_REDIS)('a store that is away', () => {
  const GATEWAYS = {
    /** Each request asks the store, because data of its caller may stand under a former name. */
    moving: { GATEWAY_SECRET_PREVIOUS: 'a secret of last month, long enough' },
    /** Each request for a batch asks the store whose it is. */
    sharing: { UPSTREAM_API_KEY: 'key-of-the-gateway', GATEWAY_API_KEYS: TOKEN },
    /** Requests ask for what only the store knows. */
    plain: {},
  } as const;
  const opened = new Map<string, Gateway>();
  const findGateway = (name: keyof typeof GATEWAYS): Gateway => {
    const found = opened.get(name);
    if (found === undefined) throw new Error(name);
    return found;
  };
  let redis: RedisPlace;
  const AWAY = 'The store of the gateway does not answer at present. Try again in a moment.';
  const storeLines = () => lines.filter(({ message }) => String(message).startsWith('store: '));

  beforeAll(async () => {
    redis = await openRedisPlace();
    for (const [name, env] of Object.entries(GATEWAYS)) {
      const { gateway } = openPlace(
        liar.url,
        { LEDGER_URL: redis.url, GATEWAY_SECRET: 'a secret that replicas share', ...env },
        { log: testLogger((line) => lines.push(JSON.parse(line) as Line)) },
      );
      await gateway.ready();
      opened.set(name, gateway);
      served.set(gateway, await serve(gateway));
    }
    await redis.kill();
    return async () => {
      for (const gateway of opened.values()) {
        await served.get(gateway)?.close();
        served.delete(gateway);
        await gateway.close();
      }
      await redis.remove();
    };
  });

  async function expectAway(
    gateway: Gateway,
    name: string,
    { kind, ask }: Face,
    query: string,
    isExecuted: boolean,
  ): Promise<void> {
    liar.script('list', says(200, { data: { ...DONE, items: [ITEM] } }));
    const failures = async () => (await counts('store_errors_total', 'store', gateway)).ledger ?? 0;
    const before = await failures();
    const { text: told, errors } = await observe(() => ask({ ...USUAL, gateway, query }), gateway);
    expect(told.text).toContain(AWAY);
    // A tool answers 200 with its failure.
    const isWhole = kind === 'graphql' && (isExecuted || name === 'a tool');
    expect(told.status).toBe(name === 'a socket' ? undefined : isWhole ? 200 : 503);
    if (told.status === 503) expect(told.retryAfter).toBe('5');
    expect(errors).toEqual({ UPSTREAM_UNAVAILABLE: 1 });
    expect((await failures()) - before).toBe(1);
    // It is no failure of the service, nor one that nothing is known of.
    expect(failureLines()).toEqual([]);
    expect(lines.filter(({ message }) => message === 'masked error')).toEqual([]);
  }

  it.each(ALL)('is told and counted once by %s where a caller may have a former name', (name, face) =>
    expectAway(findGateway('moving'), name, face, BATCH, false));

  const OF_BATCHES = ALL.filter(
    ([name]) => !['a structure of the Atlas', 'a picture', 'an export'].includes(name),
  );

  it.each(OF_BATCHES)('is told and counted once by %s where callers share a key', (name, face) =>
    expectAway(findGateway('sharing'), name, face, BATCH, true));

  const OF_STORE: readonly (readonly [string, Face])[] = [
    ...ALL.filter(([name, { kind }]) => kind === 'graphql' || ['a table', 'an archive'].includes(name)),
    ['a part of a bulk look-up', file('/bulk/abcdef/0.zip')],
  ];

  it.each(OF_STORE)('is told and counted once by %s of what only the store knows', (name, face) =>
    expectAway(findGateway('plain'), name, face, '{ batch(batchId: "b1") { label } }', true));

  it.each([
    'a structure of the Atlas',
    'a picture',
    'an export',
  ] as const)('does not matter to %s without a former secret', async (name) => {
    const gateway = findGateway('plain');
    const { text: told, errors } = await observe(() => FACES[name].ask({ ...USUAL, gateway }), gateway);
    expect(told.text).not.toContain(AWAY);
    expect(errors.UPSTREAM_UNAVAILABLE).toBeUndefined();
    expect(storeLines()).toEqual([]);
  });

  it('is logged with its reason by the first of all requests of a minute', async () => {
    const { gateway } = openPlace(
      liar.url,
      { LEDGER_URL: redis.url, GATEWAY_SECRET: 'a secret that replicas share' },
      { log: testLogger((line) => lines.push(JSON.parse(line) as Line)) },
    );
    liar.script('list', says(200, { data: DONE }));
    const query = '{ a: batch(batchId: "b1") { label } b: batch(batchId: "b2") { label } }';
    const { errors } = await observe(() => FACES.JSON.ask({ ...USUAL, gateway, query }), gateway);
    expect(errors).toEqual({ UPSTREAM_UNAVAILABLE: 2 });
    const asked = lines.find(({ message }) => message === 'request');
    expect(storeLines().filter(({ message }) => message === 'store: ledger')).toMatchObject([
      {
        level: 'error',
        requestId: asked?.requestId,
        error: expect.stringMatching(/127\.0\.0\.1.*ECONNREFUSED/),
      },
    ]);
    await observe(() => FACES['a table'].ask({ ...USUAL, gateway }), gateway);
    expect(storeLines()).toEqual([]);
    await gateway.close();
  });
});

describe('a database whose tables are gone', () => {
  it.each(
    ALL.filter(([name, { kind }]) => kind === 'graphql' || ['a table', 'an archive'].includes(name)),
  )('is told, counted and logged as the operator needs it by %s', async (name, { kind, ask }) => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
    const { gateway } = openPlace(
      liar.url,
      { LEDGER_URL: `sqlite:${join(folder, 'gateway.db')}` },
      { log: testLogger((line) => lines.push(JSON.parse(line) as Line)) },
    );
    served.set(gateway, await serve(gateway));
    await gateway.ready();
    const other = openSqlite(join(folder, 'gateway.db'));
    other.exec('DROP TABLE entry');
    other.close();
    liar.script('list', says(200, { data: { ...DONE, items: [ITEM] } }));
    const query = '{ batch(batchId: "b1") { label } }';
    const { text: told, errors } = await observe(() => ask({ ...USUAL, gateway, query }), gateway);
    expect(told.text).toContain('The store of the gateway cannot be used');
    expect(told.status).toBe(name === 'a socket' ? undefined : kind === 'graphql' ? 200 : 503);
    expect(errors).toEqual({ UPSTREAM_UNAVAILABLE: 1 });
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'store: ledger', error: expect.stringContaining('no such table: entry') },
    ]);
    await served.get(gateway)?.close();
    served.delete(gateway);
    await gateway.close();
    rmSync(folder, { recursive: true });
  });
});

const DONE = { status: 'done', counts: { done: 1 }, cursor: null };
const ITEM = { task_id: 'b1-00000', status: 'done', response_available: true };

describe('a failure that a client is told of in data', () => {
  it('is logged by an archive that has the other results', async () => {
    liar.script('list', says(200, { data: { ...DONE, items: [ITEM] } }));
    liar.script('status', says(200, { data: { status: 'done', response: '{"no": "result"}' } }));
    const { text, drifts } = await observe(() => FACES['an archive'].ask(USUAL));
    expect(text.text).toContain('manifest.json');
    expect(failureLines()).toMatchObject([{ code: 'UPSTREAM_DRIFT', operation: 'download' }]);
    expect(drifts).toBe(1);
  });

  it('is logged by a table', async () => {
    liar.script('list', says(200, { data: { ...DONE, items: [ITEM] } }));
    liar.script('status', says(200, { data: { status: 'done' } }));
    const { drifts } = await observe(() => FACES['a table'].ask(USUAL));
    expect(failureLines()).toMatchObject([{ operation: 'status', path: '$.response' }]);
    expect(drifts).toBe(1);
  });

  it('is logged where an item of a list cannot be read', async () => {
    const items = [ITEM, { task_id: 'b1-00001', status: 5 }];
    liar.script('list', says(200, { data: { ...DONE, counts: { done: 2 }, items } }));
    const query = '{ batch(batchId: "b1") { tasks { nodes { taskId error { code } } } } }';
    await observe(() => readText(post('/graphql', { query }, 'application/json')));
    expect(failureLines()).toMatchObject([{ operation: 'list', path: '$.items.1.status' }]);
  });

  it('is logged by a submission and a cancellation', async () => {
    const item = '{ chains: [{ protein: { sequence: "MALWMRLLPL" } }] }';
    for (const [mutation, operation, script] of [
      [`submitFold(input: { items: [${item}] })`, 'submit', says(200, { data: { batch_id: 5 } })],
      [`submitFold(input: { items: [${item}] })`, 'submit', says(500, { message: 'it is broken' })],
      ['cancelBatch(batchId: "b1")', 'cancel', says(404, 'a page')],
    ] as const) {
      liar.script(operation, script);
      const query = `mutation { ${mutation} { __typename } }`;
      const { text } = await observe(() => readText(post('/graphql', { query }, 'application/json')));
      expect(text).toMatch(/OutcomeUnknown|Refused/);
      expect(failureLines()).toMatchObject([{ operation, failures: 1 }]);
    }
  });
});

it('logs one line for a table of which every row fails', async () => {
  liar.script('uniprot', says(200, { accession: 5 }));
  const ids = Array.from({ length: 200 }, (_, i) => `P${10_000 + i}`);
  const { errors } = await observe(() => readText(post('/export.tsv', { ids }, '*/*')));
  expect(errors).toEqual({ UPSTREAM_DRIFT: 200 });
  expect(failureLines()).toHaveLength(1);
});

it('counts and logs a download that breaks off, and cuts the connection', async () => {
  liar.script('list', says(200, { data: { ...DONE, items: [ITEM] } }));
  liar.script('status', says(200, { data: { status: 'done', response: '/files/result.json' } }));
  liar.script('file', ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"begun": ', () => response.destroy());
  });
  const { text, errors } = await observe(() =>
    readText(read('/tasks/b1-00000/result.json')).catch(() => 'it broke off'),
  );
  expect(text).toBe('it broke off');
  expect(errors).toEqual({ UPSTREAM_UNAVAILABLE: 1 });
  expect(failureLines()).toMatchObject([{ operation: 'download', code: 'UPSTREAM_UNAVAILABLE' }]);
});

describe('a subscription', () => {
  const watch = (id: string) => `subscription { batchProgress(batchId: "${id}") { final } }`;
  const overEvents = (id: string, signal: AbortSignal): Promise<Response> =>
    place.gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        signal,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${TOKEN}`,
          accept: 'text/event-stream',
        },
        body: JSON.stringify({ query: watch(id) }),
      }),
    );

  it('ends with a failure that is permanent, which is counted once', async () => {
    for (const [id, script, code] of [
      ['refused', FAILURES.FORBIDDEN?.script, 'FORBIDDEN'],
      ['changed', says(200, ODD), 'UPSTREAM_DRIFT'],
    ] as const) {
      if (script !== undefined) liar.script('list', script);
      const { text, errors } = await observe(async () =>
        (await overEvents(id, new AbortController().signal)).text(),
      );
      expect(text).toContain(code);
      expect(text).toContain('event: complete');
      expect(errors).toEqual({ [code]: 1 });
      expect(failureLines()).toHaveLength(code === 'FORBIDDEN' ? 0 : 1);
    }
  });

  it('says a failure that may pass once, goes on, and ends when the batch does', async () => {
    liar.script('list', says(503, { message: 'in maintenance' }));
    const { text, errors } = await observe(async () => {
      const response = await overEvents('passing', new AbortController().signal);
      const polled = () => liar.seen.filter(({ operation }) => operation === 'list').length;
      // Three polls of three tries are reported, and further ones are the same failure.
      await until('further polls', () => polled() >= 15);
      liar.script('list', says(200, { data: DONE }));
      return response.text();
    });
    expect(text.match(/UPSTREAM_UNAVAILABLE/g)).toHaveLength(1);
    expect(text).toContain('"final":true');
    expect(errors).toEqual({ UPSTREAM_UNAVAILABLE: 1 });
    expect(failureLines()).toHaveLength(1);
  });

  it('counts and logs its failure once over a socket', async () => {
    liar.script('list', says(200, ODD));
    const { text, errors } = await observe(() => overSocket({ ...USUAL, query: watch('socket') }));
    expect(text.text).toContain('UPSTREAM_DRIFT');
    expect(errors).toEqual({ UPSTREAM_DRIFT: 1 });
    expect(failureLines()).toHaveLength(1);
  });
});

it('refuses parameters that an address does not have, and says which it has', async () => {
  for (const [path, known] of [
    ['/batches/b1/scores.tsv?first=5', '`orderBy`'],
    ['/batches/b1/results.zip?first=5', '`best`, `orderBy`'],
    ['/tasks/b1-00000/structure.cif?pae=1&first=5', '`pae`'],
    ['/structures/12e9c9e4e2835c302e8ba615115edda3.pdb?Plddt=unit', '`plddt`'],
    ['/thumbnails/12e9c9e4e2835c302e8ba615115edda3/plddt.png?size=9', 'none'],
    ['/bulk/x/0.zip?a', 'none'],
  ] as const) {
    const answer = await read(path);
    expect(answer.status, path).toBe(400);
    expect(await answer.text()).toMatch(
      new RegExp(`^There is no parameter .* here. This address takes ${known}\\.\n$`),
    );
  }
  const exported = await post('/export.tsv?columns=hash&first=2', { ids: ['P01308'] }, '*/*');
  expect(await exported.text()).toContain('takes `columns`');
  expect(liar.seen).toEqual([]);
  expect((await read('/health?probe=1')).status).toBe(200);
});

it('counts what an export cannot look up', async () => {
  liar.script('bulk', says(200, { odd: true }));
  liar.script('protein', inTurn(says(200, { protein_hash: 5 })));
  const before = await counts('errors_total', 'code');
  const answer = await post('/export.tsv', { ids: ['12e9c9e4e2835c302e8ba615115edda3'] }, '*/*');
  expect(await answer.text()).toMatch(/UNAVAILABLE|changed/);
  const after = await counts('errors_total', 'code');
  expect(after.UPSTREAM_DRIFT ?? 0).toBeGreaterThan(before.UPSTREAM_DRIFT ?? 0);
});
