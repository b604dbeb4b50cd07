// Lists that are given in parts (`@stream`), over a socket, from the second time on. Put together they say what a function call says, which
// waits for the whole, whatever comes, in whatever pieces, and however it ends.
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { createClient as createUrql, fetchExchange } from '@urql/core';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runs } from '../property-runs.ts';
import {
  asked,
  brokenBefore,
  cutAt,
  expected,
  gate,
  hashesOf,
  heldBefore,
  ITEM,
  inOrder,
  lists,
  openService,
  places,
  prepared,
  reading,
  type Service,
} from './structures-service.ts';

const MULTIPART = 'multipart/mixed;deferSpec=20220824';
const EVENTS = 'text/event-stream';
const FORMS = [MULTIPART, EVENTS];

const LOOKUP = 'lookup(ids: $ids)';
const queryOf = (stream: string) => `query Streamed($ids: [String!]!) { ${LOOKUP} ${stream} ${ITEM} }`;
const STREAMED = queryOf('@stream');
const WHOLE = queryOf('');

interface Part {
  readonly data?: Record<string, unknown[]>;
  readonly errors?: object[];
  readonly hasNext?: boolean;
  readonly incremental?: {
    readonly items: unknown[] | null;
    readonly path: (string | number)[];
    readonly label?: string;
    readonly errors?: object[];
  }[];
}

/** The parts of an answer. A multipart answer that is none fails. */
function partsOf(text: string, form: string): Part[] {
  if (form === EVENTS) {
    expect(text).toMatch(/event: complete\ndata:\n\n$/);
    return [...text.matchAll(/^event: next\ndata: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Part);
  }
  const [before, ...parts] = text.split('\r\n---');
  expect(before).toBe('');
  expect(parts.pop()).toBe('--\r\n');
  return parts.map((part) => {
    const [head, json = ''] = part.split('\r\n\r\n');
    expect(head).toBe('\r\nContent-Type: application/json; charset=utf-8');
    return JSON.parse(json) as Part;
  });
}

/** Puts parts together as clients do. */
function joined(parts: readonly Part[]) {
  const list: unknown[] = [...(parts[0]?.data?.lookup ?? [])];
  const errors: object[] = [];
  for (const [i, part] of parts.entries()) {
    expect(part.hasNext).toBe(i < parts.length - 1);
    errors.push(...(part.errors ?? []));
    for (const { items, path, errors: more = [] } of part.incremental ?? []) {
      expect(path).toEqual(['lookup', list.length]);
      expect(items).not.toBeNull();
      expect(items?.length).toBeLessThanOrEqual(16);
      list.push(...(items ?? []));
      errors.push(...more);
    }
  }
  return { data: { lookup: list }, errors };
}

let service: Service;
let own: Awaited<ReturnType<Service['gateway']>>;

/** Asks once for nothing in particular: a query goes the short way when it has been seen. */
async function seen(by: typeof own, ...queries: readonly string[]): Promise<void> {
  for (const query of queries)
    await (await by.sender.send(asked(hashesOf(0), query, { accept: MULTIPART }))).text();
}
const ask = (ids: readonly string[], query = STREAMED, accept = MULTIPART) =>
  own.sender.send(asked(ids, query, { accept }));
const partsFor = async (ids: readonly string[], query = STREAMED, form = MULTIPART): Promise<Part[]> =>
  partsOf(await (await ask(ids, query, form)).text(), form);

beforeAll(async () => {
  service = await openService();
  own = await service.gateway();
  await seen(own, STREAMED);
});
afterAll(async () => {
  await own.close();
  await service.close();
});
beforeEach(() => service.reset());

describe('a list in parts', () => {
  it.each(FORMS)('begins before the last of it is there, and costs one call: %s', async (form) => {
    const ids = hashesOf(form === EVENTS ? 1 : 2);
    const { opened, open } = gate();
    service.send = heldBefore(ids[50] ?? '', opened);
    const answer = await ask(ids, STREAMED, form);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain(form.split(';')[0]);
    expect(answer.headers.get('vary')).toBe('accept');
    const body = reading(answer);
    expect(await body.until(`${ids[49]}`)).toBe(true);
    open();
    const parts = partsOf(await body.rest(), form);
    expect(parts[0]).toEqual({ data: { lookup: [] }, hasNext: true });
    expect(joined(parts)).toEqual({ data: { lookup: expected(ids) }, errors: [] });
    expect(service.calls).toBe(1);
    const logged = () => service.lines.filter((line) => line.includes('"message":"request"'));
    await expect.poll(() => logged().length).toBe(1);
    expect(JSON.parse(logged()[0] ?? '')).toMatchObject({
      status: 200,
      upstreamCalls: 1,
    });
  });

  it('says what a function call says in one piece, whatever is asked for and in whatever pieces it comes', {
    timeout: 300_000,
  }, async () => {
    let run = 500;
    let failed = 0;
    const stream = fc.constantFrom('@stream', '@stream(initialCount: 1)', '@stream(initialCount: 20)');
    for (const form of FORMS)
      await fc.assert(
        fc.asyncProperty(lists, places, stream, async (list, cuts, how) => {
          run += 1;
          const ids = prepared(service, list, run);
          service.send = cutAt(cuts);
          const query = queryOf(how);
          await seen(own, query);
          const text = await (await ask(ids, query, form)).text();
          const whole = await (
            await own.gateway.fetch(asked(ids, query, { accept: 'application/json' }))
          ).json();
          const parts = partsOf(text, form);
          const [first] = parts;
          const count = how === '@stream' ? 0 : Number(/\d+/.exec(how)?.[0]);
          expect(first?.data?.lookup).toHaveLength(Math.min(count, ids.length));
          // With no more than the first part has, there is one.
          const ours =
            parts.length === 1 && first?.hasNext === undefined
              ? { data: first?.data, errors: first?.errors }
              : joined(parts);
          expect(ours.data).toEqual(whole.data);
          expect(inOrder(ours.errors)).toEqual(inOrder(whole.errors));
          if (whole.errors !== undefined) failed += 1;
        }),
        { numRuns: runs(15) },
      );
    expect(failed).toBeGreaterThan(20);
  });

  it('says in which part something failed, in the words of a whole answer', async () => {
    const ids = hashesOf(3);
    service.damaged = new Set([ids[7] ?? '']);
    const parts = await partsFor(ids);
    const entries = parts.flatMap(({ incremental = [] }) => incremental);
    const withErrors = entries.filter(({ errors }) => errors !== undefined);
    expect(withErrors).toHaveLength(1);
    expect(withErrors[0]?.errors).toMatchObject([
      { path: ['lookup', 7, 'protein'], extensions: { code: 'UPSTREAM_DRIFT', retryable: false } },
    ]);
    const [, at] = withErrors[0]?.path ?? [];
    expect(withErrors[0]?.items?.[7 - Number(at)]).toEqual({
      requested: ids[7],
      problem: null,
      protein: null,
    });
    expect(JSON.stringify(parts)).not.toMatch(/127\.0\.0\.1|stack|node_modules/);
  });

  it('has a label, an alias, and no part behind what has no more', async () => {
    const query = queryOf('@stream(initialCount: 1, label: "rest")').replace(LOOKUP, `lookup: ${LOOKUP}`);
    await seen(own, query);
    const ids = hashesOf(4).slice(0, 3);
    const parts = await partsFor(ids, query);
    expect(parts.flatMap(({ incremental = [] }) => incremental).every(({ label }) => label === 'rest')).toBe(
      true,
    );
    expect(joined(parts).data.lookup).toEqual(expected(ids));
    const none = await partsFor([], STREAMED);
    expect(none).toEqual([{ data: { lookup: [] }, hasNext: true }, { hasNext: false }]);
    const few = queryOf('@stream(initialCount: 5)');
    await seen(own, few);
    expect(await partsFor(ids, few)).toEqual([{ data: { lookup: expected(ids) } }]);
  });

  it('is refused as by a function call, in the form that the client takes', async () => {
    for (const accept of [...FORMS, `${MULTIPART},application/json`, 'application/json']) {
      for (const variables of [{}, { ids: [1, {}] }, { ids: Array(5001).fill('P01308') }]) {
        const request = () =>
          new Request('http://gateway.test/graphql', {
            method: 'POST',
            headers: { 'content-type': 'application/json', accept },
            body: JSON.stringify({ query: STREAMED, variables }),
          });
        const [ours, theirs] = [await own.sender.send(request()), await own.gateway.fetch(request())];
        expect(ours.status).toBe(theirs.status);
        expect(ours.headers.get('content-type')).toBe(theirs.headers.get('content-type'));
        expect(await ours.text()).toBe(await theirs.text());
      }
    }
    expect(service.calls).toBe(0);
  });

  it('is whole for who takes no parts, and where it is switched off', async () => {
    const ids = hashesOf(5);
    const whole = { data: { lookup: expected(ids) } };
    expect(await (await ask(ids, STREAMED, 'application/json')).json()).toEqual(whole);
    for (const off of [
      queryOf('@stream(if: false)'),
      queryOf('@stream(if: $on)').replace('($ids', '($on: Boolean = false, $ids'),
    ])
      for (let time = 0; time < 2; time += 1) expect(await partsFor(ids, off)).toEqual([whole]);
  });

  it('ends the call of the service when its reader leaves', async () => {
    const ids = hashesOf(6);
    service.send = heldBefore(ids[60] ?? '', new Promise(() => undefined));
    const body = reading(await ask(ids));
    expect(await body.until(ids[55] ?? '')).toBe(true);
    expect(service.broken).toBe(0);
    await body.leave();
    await expect.poll(() => service.broken).toBe(1);
  });

  it('has an error for each that does not come when the connection of the service breaks', async () => {
    const ids = hashesOf(7);
    service.send = brokenBefore(ids[60] ?? '');
    const { data, errors } = joined(await partsFor(ids));
    expect(data.lookup.slice(0, 60)).toEqual(expected(ids).slice(0, 60));
    expect(errors).toHaveLength(20);
    expect(errors[0]).toMatchObject({
      path: ['lookup', 60, 'protein'],
      extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
    });
  });
});

it('gives a sign of life while nothing comes, and an error for each that does not come in time', async () => {
  const short = await service.gateway({ REQUEST_TIMEOUT_MS: '1500' }, 100);
  await seen(short, STREAMED);
  const ids = hashesOf(8);
  service.send = heldBefore(ids[60] ?? '', new Promise(() => undefined));
  const text = await (await short.sender.send(asked(ids, STREAMED, { accept: EVENTS }))).text();
  expect(text.split('\n\n').filter((line) => line === ':').length).toBeGreaterThan(4);
  const { data, errors } = joined(partsOf(text, EVENTS));
  expect(data.lookup.slice(0, 60)).toEqual(expected(ids).slice(0, 60));
  expect(errors).toHaveLength(20);
  expect(errors[0]).toMatchObject({ extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true } });
  await short.close();
});

it('is one list to clients of others, item by item', async () => {
  const query = queryOf('@stream(initialCount: 1)');
  await seen(own, query);
  const ids = hashesOf(9);
  const { opened, open } = gate();
  service.send = heldBefore(ids[60] ?? '', opened);
  const counts: number[] = [];
  const urql = createUrql({ url: own.url, exchanges: [fetchExchange], preferGetMethod: false });
  const whole = await new Promise<unknown>((resolve, reject) => {
    urql.query(query, { ids }).subscribe(({ data, error, hasNext }) => {
      if (error !== undefined) return reject(error);
      counts.push(data.lookup.length);
      if (data.lookup.length >= 60) open();
      if (hasNext !== true) resolve(data.lookup);
    });
  });
  expect(whole).toMatchObject(expected(ids));
  expect(counts[0]).toBe(1);
  expect(counts.length).toBeGreaterThan(4);
  const apollo = new ApolloClient({
    link: new HttpLink({ uri: own.url }),
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
  });
  const { data } = await apollo.query({ query: gql(query), variables: { ids: hashesOf(10) } });
  expect(data).toMatchObject({ lookup: expected(hashesOf(10)) });
  apollo.stop();
});

it('says the same from what is kept', async () => {
  const kept = await service.gateway({ CACHE_RECORDS_SECONDS: '600' });
  const ids = hashesOf(11);
  for (let time = 0; time < 3; time += 1) {
    const text = await (await kept.sender.send(asked(ids, STREAMED, { accept: MULTIPART }))).text();
    expect(joined(partsOf(text, MULTIPART)).data.lookup).toEqual(expected(ids));
  }
  expect(service.calls).toBeLessThan(3);
  const whole = await (await kept.sender.send(asked(ids, WHOLE))).json();
  expect(whole.data.lookup).toEqual(expected(ids));
  await kept.close();
});
