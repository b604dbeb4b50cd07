// The response cache over a socket: identical requests in flight share one answer, and later ones
// get the stored one. Look-ups of all caches are counted: only an answer that is executed makes
// any.
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REFERENCE_PROTEINS } from '../../sandbox/src/atlas/reference-proteins.ts';
import { createHttpServer } from '../../src/http/server/http-server.ts';
import { fault } from '../subscriptions/support.ts';
import { at, openWorld, type World } from '../support.ts';

const INSULIN = '12e9c9e4e2835c302e8ba615115edda3';
const HBA = '6077c452d1dc6151040b2b179e2294c7';
const HBB = '209d686939d0b8d1ea089368150140e2';
const MYOGLOBIN = 'b840eb6446f9f188023424af40675a36';
const ABSENT = '00000000000000000000000000000000';
/** Hashes that no other test of this file asks for. */
const OTHERS = REFERENCE_PROTEINS.map(({ md5 }) => md5).filter(
  (hash) => ![INSULIN, HBA, HBB, MYOGLOBIN].includes(hash),
);
let world: World;
let url: string;
let close: () => Promise<void>;
const lines: string[] = [];

beforeAll(async () => {
  world = await openWorld({ CACHE_RECORDS_SECONDS: '3600' }, { control: true }, (line) => lines.push(line));
  const server = createHttpServer(world.gateway);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
});
afterAll(async () => {
  await close();
  await world.close();
});

const CARD = 'query Card($hash: ProteinHash!) { protein(hash: $hash) { hash ptm cluster { size } } }';
const FRESHNESS = 'query Fresh($hash: ProteinHash!) { protein(hash: $hash) { provenance { fromCache } } }';

async function ask(query: string, variables: Record<string, unknown>, signal: AbortSignal | null = null) {
  const response = await fetch(url, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as { data?: unknown; errors?: unknown };
}

/**
 * Look-ups in all caches so far: an answer that is executed makes some, a shared or stored one
 * none.
 */
async function countLookUps(): Promise<number> {
  const text = await world.gateway.metrics.text();
  const counts = [...text.matchAll(/^foldatlas_cache_(?:hits|misses)_total\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe('answers to public questions', () => {
  it('are worked out once for all who ask at the same time, and kept', async () => {
    expect((await ask(CARD, { hash: MYOGLOBIN })).errors).toBeUndefined();
    const one = await countLookUps();
    await ask(CARD, { hash: HBA });
    const each = (await countLookUps()) - one;
    expect(each).toBeGreaterThan(0);

    await fault(world.sandboxUrl, { operation: 'bulk', delay_ms: 400, times: 1 });
    world.forget();
    const before = await countLookUps();
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(CARD, { hash: INSULIN })));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(at(answers[0], 'data.protein.hash')).toBe(INSULIN);
    expect(world.counts()).toEqual({ bulk: 1, protein: 1 });
    expect((await countLookUps()) - before).toBe(each);
    expect(await ask(CARD, { hash: INSULIN })).toEqual(answers[0]);
    expect((await countLookUps()) - before).toBe(each);
  });

  it('are worked out anew for a header that is not known, and for other bytes', async () => {
    const writeBody = (query: string, ignored = '') =>
      JSON.stringify({ query, variables: { hash: HBA }, ignored });
    const post = (body: BodyInit, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body,
      });
    const lookUpsFor = async (
      query: string,
      headers: Record<string, string> = {},
      ignored = '',
    ): Promise<number> => {
      const before = await countLookUps();
      const response = await post(writeBody(query, ignored), headers);
      expect(await response.json()).toMatchObject({ data: { protein: { hash: HBA } } });
      return (await countLookUps()) - before;
    };
    const query = `${CARD} # stored`;
    expect(await lookUpsFor(query)).toBeGreaterThan(0);
    expect(await lookUpsFor(query)).toBe(0);
    // The rest of a caller's limit stands in each answer that no cache may store.
    expect((await post(writeBody(query))).headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
    expect(await lookUpsFor(query, { authorization: 'Bearer somebody', 'user-agent': 'other' })).toBe(0);
    expect(await lookUpsFor(query, { 'x-forwarded-port': '443', 'cf-ray': '1' })).toBe(0);
    expect(await lookUpsFor(query, { 'x-whatever': '1' })).toBeGreaterThan(0);
    expect(await lookUpsFor(query, { 'x-forward': '1' })).toBeGreaterThan(0);
    expect(await lookUpsFor(`${query} `)).toBeGreaterThan(0);
    // Bytes that are no text are no other text.
    const unreadable = `${CARD} # \ufffd`;
    expect(await lookUpsFor(unreadable)).toBeGreaterThan(0);
    const bytes = Buffer.from(writeBody(unreadable).replace('\ufffd', '\xff'), 'latin1');
    expect((await post(bytes)).status).toBe(400);
    // A long question would take the place of many answers.
    for (let i = 0; i < 2; i += 1)
      expect(await lookUpsFor(`${CARD} # long`, {}, 'x'.repeat(270_000))).toBeGreaterThan(0);
  });

  it('are not shared when they failed', async () => {
    await fault(world.sandboxUrl, { operation: 'bulk', status: 500, times: 3 });
    const failed = await ask(CARD, { hash: ABSENT });
    expect(at(failed, 'errors.0.extensions.code')).toBe('UPSTREAM_UNAVAILABLE');
    await fetch(`${world.sandboxUrl}/control/faults`, { method: 'DELETE' });
    expect(await ask(CARD, { hash: ABSENT })).toEqual({ data: { protein: null } });
  });

  it('are never kept when they tell whether they were', async () => {
    for (const fromCache of [false, true, true])
      expect(await ask(FRESHNESS, { hash: HBB })).toEqual({
        data: { protein: { provenance: { fromCache } } },
      });
  });
});

describe('files', () => {
  const PICTURE = `/thumbnails/${INSULIN}/plddt.png`;
  const STRUCTURE = `/structures/${INSULIN}.pdb?plddt=unit`;
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(new URL(path, url), { headers });
    const { status, headers: given } = response;
    return { status, headers: given, text: await response.text() };
  };
  const readHeaders = ({ headers }: { headers: Headers }, ...without: string[]) =>
    [...headers].filter(([name]) => !['date', 'x-request-id', 'traceresponse', ...without].includes(name));

  it.each([
    [PICTURE, 'PNG', 'public, max-age=31536000, immutable'],
    [STRUCTURE, 'ATOM  ', 'public, max-age=3600'],
  ])('such as %s are made once, and not sent at all to a client that has them', async (path, text, caching) => {
    const first = await read(path);
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, caching]);
    expect(first.text).toContain(text);
    const made = await countLookUps();
    const again = await read(path);
    expect(again.text).toBe(first.text);
    expect(readHeaders(again)).toEqual(readHeaders(first));
    const etag = String(first.headers.get('etag'));
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    const known = await read(path, { 'if-none-match': etag });
    expect([known.status, known.text]).toEqual([304, '']);
    expect(readHeaders(known)).toEqual(readHeaders(first, 'content-length'));
    expect(await countLookUps()).toBe(made);
    expect((await read(path, { 'x-whatever': '1' })).text).toBe(first.text);
    expect(await countLookUps()).toBeGreaterThan(made);
  });

  it('are stored also when the first client has them already', async () => {
    const path = `/thumbnails/${HBA}/pct-characterized.png`;
    const { headers, text } = await read(path, { 'x-whatever': '1' });
    const known = await read(path, { 'if-none-match': String(headers.get('etag')) });
    expect([known.status, known.text]).toEqual([304, '']);
    const made = await countLookUps();
    const whole = await read(path);
    expect([whole.status, whole.text]).toEqual([200, text]);
    expect(readHeaders(whole)).toEqual(readHeaders({ headers }));
    expect(await countLookUps()).toBe(made);
  });

  it('are looked for each time while they are not there', async () => {
    for (const path of [`/thumbnails/${ABSENT}/plddt.png`, `/structures/${ABSENT}.pdb`]) {
      world.forget();
      expect((await read(path)).status).toBe(404);
      const once = world.calls.length;
      expect(once).toBeGreaterThan(0);
      expect((await read(path)).status).toBe(404);
      expect(world.calls.length).toBe(2 * once);
    }
  });
});

/** The log line of a request without its ids and times. */
async function readLog(path: string, init: RequestInit): Promise<Record<string, unknown>> {
  const all = () => lines.map((line): Record<string, unknown> => JSON.parse(line));
  const logged = () => all().filter(({ message }) => message === 'request');
  lines.length = 0;
  await (await fetch(new URL(path, url), init)).arrayBuffer();
  await expect.poll(() => logged().length).toBe(1);
  const { method, route, status, operation, name, principal } = logged()[0] ?? {};
  return { method, route, status, operation, name, principal };
}

it('a kept answer is logged as it was when it was worked out', async () => {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer key-of-a-caller' };
  const body = JSON.stringify({ query: CARD, variables: { hash: OTHERS[2] } });
  const [picture, card] = [
    [`/thumbnails/${OTHERS[2]}/plddt.png`, { headers }],
    ['/graphql', { method: 'POST', headers, body }],
  ] as const;
  for (const [path, init] of [picture, card]) {
    const first = await readLog(path, init);
    const made = await countLookUps();
    expect(await readLog(path, init)).toEqual(first);
    expect(await countLookUps()).toBe(made);
  }
  const principal = expect.stringMatching(/^[\w-]{8}$/);
  expect(await readLog(...card)).toMatchObject({ operation: 'query', name: 'Card', principal });
});

describe('requests that wait for the same response', () => {
  it('are executed once, also when the client of the first leaves', async () => {
    const question = 'query Left($hash: ProteinHash!) { protein(hash: $hash) { hash header } }';
    await fault(world.sandboxUrl, { operation: 'protein', delay_ms: 1500, times: 1 });
    world.forget();
    const before = await countLookUps();
    const first = new AbortController();
    const leaving = ask(question, { hash: OTHERS[1] }, first.signal);
    await expect.poll(() => world.counts().protein).toBe(1);
    const executed = (await countLookUps()) - before;
    const second = new AbortController();
    const gone = ask(question, { hash: OTHERS[1] }, second.signal);
    const others = Array.from({ length: 31 }, () => ask(question, { hash: OTHERS[1] }));
    await expect.poll(() => world.gateway.telemetry.inFlight()).toBe(33);
    // One that waits and leaves disturbs none, and nor does the one for which it is executed.
    second.abort();
    await expect(gone).rejects.toThrow();
    first.abort();
    await expect(leaving).rejects.toThrow();
    const answers = await Promise.all(others);
    expect((await countLookUps()) - before).toBe(executed);
    expect(world.counts().protein).toBe(1);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ data: { protein: { hash: OTHERS[1] } } });
  });

  it('stop asking the service when the last client has left', async () => {
    const question = 'query AllLeft($hash: ProteinHash!) { protein(hash: $hash) { hash header } }';
    await fault(world.sandboxUrl, { operation: 'protein', delay_ms: 100_000, times: 1 });
    world.forget();
    const clients = Array.from({ length: 3 }, () => new AbortController());
    const asked = clients.map(({ signal }) => ask(question, { hash: OTHERS[0] }, signal));
    await expect.poll(() => world.counts().protein).toBe(1);
    await expect.poll(() => world.gateway.telemetry.inFlight()).toBe(3);
    for (const client of clients) client.abort();
    for (const answer of asked) await expect(answer).rejects.toThrow();
    await expect.poll(() => world.gateway.upstream().api.inFlight).toBe(0);
    expect(world.counts().protein).toBe(1);
  });
});
