// When the upstream is slow, or the client does not wait for it: no connection is held for nothing,
// and no caller keeps others from the service.
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import WebSocket from 'ws';
import { serve } from '../subscriptions/streams.ts';
import { at } from '../support.ts';
import {
  HASH,
  hangs,
  inTurn,
  type Liar,
  openLiar,
  openPlace,
  type Place,
  SEQUENCE,
  says,
  TOKEN,
} from '../upstream/liar.ts';

let liar: Liar;
beforeAll(async () => {
  liar = await openLiar();
});
afterAll(() => liar.close());
beforeEach(() => liar.reset());

const hashes = (count: number, digit: string): string[] =>
  Array.from({ length: count }, (_, i) => digit + String(i).padStart(31, '0'));

/** The gateway as a server, so that a client can really leave. */
async function listen(place: Place) {
  const server = createServer(place.gateway.listener);
  let ended = 0;
  server.on('request', (_, response) => response.once('close', () => (ended += 1)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** Sends a query and gives a way to leave before its answer. */
    begin(query: string) {
      const sent = ask({
        port,
        host: '127.0.0.1',
        path: '/graphql',
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      });
      sent.on('error', () => undefined);
      sent.end(JSON.stringify({ query }));
      return () => sent.destroy();
    },
    /** How many were answered, or have left. */
    ended: () => ended,
    async close() {
      server.closeAllConnections();
      server.close();
      await place.gateway.close();
    },
  };
}

/** No time limit ends a call while a test waits for its client to be missed. */
const PATIENT = { UPSTREAM_TIMEOUT_FACTOR: '10', REQUEST_TIMEOUT_MS: '110000' };

describe('a client that leaves', () => {
  it.each([
    ['protein', `{ protein(hash: "${HASH}") { ptm } }`],
    ['bulk', `{ proteins(hashes: ["${HASH}", "${'a'.repeat(32)}"]) { sequence } }`],
    ['uniprot', '{ uniprotEntry(id: "P01308") { name } }'],
    ['cluster', `{ cluster(hash: "${HASH}") { members(first: 1) { totalCount } } }`],
    ['feature', '{ feature(index: 3) { summary } }'],
    ['similarity', '{ similarProteins(sequence: "MKTAYIAKQR") { queryHash } }'],
    ['list', '{ batch(batchId: "b1") { status } }'],
    ['status', '{ task(taskId: "b1-00000") { status } }'],
  ])('takes the upstream connection of %s with it', async (operation, query) => {
    liar.script(operation, hangs);
    const place = openPlace(liar.url, PATIENT);
    const server = await listen(place);
    const leave = server.begin(query);
    await expect.poll(() => liar.seen.length, { interval: 5 }).toBe(1);
    expect(place.gateway.upstream().api.inFlight).toBe(1);
    leave();
    await expect.poll(() => liar.closed, { interval: 5 }).toEqual([operation]);
    expect(place.gateway.upstream().api).toMatchObject({ inFlight: 0, queued: 0 });
    await server.close();
  });

  it.each([
    'completes it',
    'closes its socket',
  ])('takes the calls of a query over WebSocket with it when it %s', async (how) => {
    liar.script('similarity', hangs);
    const place = openPlace(liar.url, PATIENT);
    const served = await serve(place.gateway);
    const client = createClient({
      url: served.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      lazy: false,
      retryAttempts: 0,
    });
    const told = vi.fn();
    const query = '{ similarProteins(sequence: "MKTAYIAKQR") { queryHash } }';
    const complete = client.subscribe({ query }, { next: told, error: told, complete: () => undefined });
    await expect.poll(() => liar.seen.length, { interval: 5 }).toBe(1);
    if (how === 'completes it') complete();
    else client.terminate();
    await expect.poll(() => liar.closed, { interval: 5 }).toEqual(['similarity']);
    expect(place.gateway.upstream().api).toMatchObject({ inFlight: 0, queued: 0 });
    if (how === 'completes it') {
      const other = client.iterate({ query: '{ limits { maxItems } }' });
      expect((await other.next()).value).toMatchObject({ data: { limits: { maxItems: 2000 } } });
      expect(told).not.toHaveBeenCalled();
    }
    expect(await place.gateway.metrics.text()).not.toMatch(/foldatlas_errors_total\{[^}]*\} [1-9]/);
    await client.dispose();
    await served.close();
    await place.gateway.close();
  });

  it('leaves a read that another request waits for too', async () => {
    let release: () => void = () => undefined;
    liar.script('uniprot', (call) => {
      release = () => says(200, { protein_name: 'Insulin', sequence: 'MKV' })(call);
    });
    const place = openPlace(liar.url);
    const server = await listen(place);
    const leave = server.begin('{ uniprotEntry(id: "P01308") { name } }');
    await expect.poll(() => liar.seen.length, { interval: 5 }).toBe(1);
    const stays = place.query('{ uniprotEntry(id: "P01308") { name } }');
    await new Promise((resolve) => setImmediate(resolve));
    leave();
    await expect.poll(() => server !== undefined && liar.closed.length).toBe(0);
    release();
    expect(await stays).toEqual({ data: { uniprotEntry: { name: 'Insulin' } } });
    expect(liar.seen).toHaveLength(1);
    await server.close();
  });

  it('does not take back a submission that is on its way', async () => {
    let release: () => void = () => undefined;
    liar.script('submit', (call) => {
      release = () => says(200, { status: 'success', data: { batch_id: 'b9', task_id: 'b9-00000' } })(call);
    });
    const place = openPlace(liar.url);
    const server = await listen(place);
    const leave = server.begin(
      'mutation { submitFold(input: {label: "left", items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) { __typename } }',
    );
    await expect.poll(() => liar.seen.length, { interval: 5 }).toBe(1);
    leave();
    await expect.poll(() => liar.closed).toEqual([]);
    release();
    // It was recorded: a query for the batches of this key finds it.
    await expect
      .poll(async () =>
        at((await place.query('{ myBatches { nodes { batchId label } } }')).data, 'myBatches.nodes.0'),
      )
      .toEqual({ batchId: 'b9', label: 'left' });
    expect(liar.seen.filter(({ operation }) => operation === 'submit')).toHaveLength(1);
    await server.close();
  });
});

describe('a submission that is not on its way yet', () => {
  const submission = (label: string) =>
    `${label}: submitFold(input: {label: "${label}", items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) {
      __typename ... on FoldSubmitted { batch { batchId } } ... on Refused { reason retryable } }`;

  it('is not sent when its client has left, or its time is up', async () => {
    let release: () => void = () => undefined;
    liar.script('submit', (call) => {
      release = () => says(200, { status: 'success', data: { batch_id: 'b9', task_id: 'b9-00000' } })(call);
    });
    const submits = () => liar.seen.filter(({ operation }) => operation === 'submit').length;
    const place = openPlace(liar.url, { REQUEST_TIMEOUT_MS: '2500' });
    const server = await listen(place);
    const leave = server.begin(`mutation { ${submission('one')} ${submission('two')} }`);
    await expect.poll(submits, { interval: 5 }).toBe(1);
    leave();
    await expect.poll(server.ended).toBe(1);
    release();
    const MINE = '{ myBatches { nodes { label } } }';
    await expect
      .poll(async () => at((await place.query(MINE)).data, 'myBatches.nodes'))
      .toEqual([{ label: 'one' }]);
    await sleep(100);
    expect(submits()).toBe(1);

    const late = place.query(`mutation { ${submission('three')} ${submission('four')} }`);
    await expect.poll(submits, { interval: 5 }).toBe(2);
    await sleep(2600);
    release();
    // The batch that was sent before is still named: a caller without its id may pay for it again.
    expect(await late).toEqual({
      data: {
        three: { __typename: 'FoldSubmitted', batch: { batchId: 'b9' } },
        four: { __typename: 'Refused', reason: 'UNREACHABLE', retryable: true },
      },
    });
    expect(submits()).toBe(2);
    await server.close();
  });
});

/** Distinct searches, each a call that the script of `similarity` decides about. */
const searches = (place: Place, count: number, headers: (i: number) => Record<string, string>) =>
  Array.from({ length: count }, (_, i) => {
    const sequence = `MK${'A'.repeat(i)}V`;
    return place.query(`{ similarProteins(sequence: "${sequence}") { queryHash } }`, {}, headers(i));
  });

describe('a caller whose reads are slow', () => {
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const SUBMIT =
    'mutation { submitFold(input: {items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) { __typename } }';
  const READ = `{ protein(hash: "${HASH}") { sequence } }`;

  it('leaves places to others, and no submission waits behind its reads', async () => {
    liar.script('similarity', hangs);
    const place = openPlace(liar.url, { REQUEST_TIMEOUT_MS: '4000' });
    const state = () => place.gateway.upstream().api;
    const slow = searches(place, 100, () => as('greedy'));
    await expect.poll(() => state().queued, { interval: 5 }).toBe(68);
    expect(state().inFlight).toBe(32);
    for (const headers of [as('another'), { authorization: '' }])
      expect(at((await place.query(READ, {}, headers)).data, 'protein.sequence')).toBe(SEQUENCE);
    for (const token of ['another', 'greedy'])
      expect((await place.query(SUBMIT, {}, as(token))).data).toEqual({
        submitFold: { __typename: 'FoldSubmitted' },
      });
    expect(state()).toMatchObject({ inFlight: 32, queued: 68 });
    for (const { errors } of await Promise.all(slow))
      expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_TIMEOUT');
    await expect.poll(state).toMatchObject({ inFlight: 0, queued: 0 });
    await place.gateway.close();
  });

  it('is its address without a token', async () => {
    liar.script('similarity', hangs);
    const place = openPlace(liar.url, { UPSTREAM_MAX_IN_FLIGHT: '8', TRUST_PROXY: '1' });
    const served = await serve(place.gateway);
    const state = () => place.gateway.upstream().api;
    const query = (address: string, text: string, signal: AbortSignal | null = null) =>
      fetch(served.url, {
        method: 'POST',
        signal,
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ query: text }),
      });
    const leaving = new AbortController();
    const SEARCH = '{ similarProteins(sequence: "MKTAYIAKQR") { queryHash } }';
    const slow = Array.from({ length: 8 }, (_, i) =>
      query('192.0.2.1', SEARCH.replace('MK', `MK${'A'.repeat(i)}`), leaving.signal),
    );
    await expect.poll(state, { interval: 5 }).toMatchObject({ inFlight: 4, queued: 4 });
    const answer = await query('198.51.100.1', READ);
    expect(at(await answer.json(), 'data.protein.sequence')).toBe(SEQUENCE);
    leaving.abort();
    await Promise.allSettled(slow);
    await expect.poll(state, { interval: 5 }).toMatchObject({ inFlight: 0, queued: 0 });
    await served.close();
    await place.gateway.close();
  });
});

describe('a submission that waits for another one of its key', () => {
  it('says that it is not known yet when its time is up, and hides no other', async () => {
    let release: () => void = () => undefined;
    liar.script('submit', (call) => {
      release = () => says(200, { status: 'success', data: { batch_id: 'b9', task_id: 'b9-00000' } })(call);
    });
    const place = openPlace(liar.url, { REQUEST_TIMEOUT_MS: '1500' });
    const SUBMIT =
      'submitFold(input: {idempotencyKey: "k", items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) { __typename ... on Problem { hint } }';
    const first = place.query(`mutation { ${SUBMIT} }`);
    await expect.poll(() => liar.seen.length, { interval: 5 }).toBe(1);
    const BAD = 'bad: submitFold(input: {items: []}) { __typename }';
    expect((await place.query(`mutation { ${BAD} ${SUBMIT} }`)).data).toEqual({
      bad: { __typename: 'InvalidInput' },
      submitFold: {
        __typename: 'OutcomeUnknown',
        hint: expect.stringMatching(/Send exactly the same again/),
      },
    });
    release();
    expect((await first).data).toEqual({ submitFold: { __typename: 'FoldSubmitted' } });
    await place.gateway.close();
  });
});

describe('an upstream that is slow', () => {
  it('ends with the limit of its operation, not with the patience of the caller', async () => {
    liar.script('uniprot', hangs);
    liar.script('protein', inTurn(hangs, says(200, { protein_hash: HASH, sequence: SEQUENCE })));
    // Small reads then have half a second for each try.
    const place = openPlace(liar.url, { UPSTREAM_TIMEOUT_FACTOR: '0.05' });
    const { data, errors } = await place.query(
      `{ uniprotEntry(id: "P01308") { name } protein(hash: "${HASH}") { sequence } }`,
    );
    expect(errors).toMatchObject([
      { path: ['uniprotEntry'], extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true } },
    ]);
    expect(liar.seen.filter(({ operation }) => operation === 'uniprot')).toHaveLength(3);
    expect(at(data, 'protein.sequence')).toBe(SEQUENCE);
    await place.gateway.close();
  });

  it('ends with the deadline of the request, wherever the call is', async () => {
    liar.script('uniprot', hangs);
    liar.script('protein', hangs);
    liar.script('list', hangs);
    const place = openPlace(liar.url, { REQUEST_TIMEOUT_MS: '300', UPSTREAM_MAX_IN_FLIGHT: '1' });
    const { data, errors } = await place.query(
      `{ uniprotEntry(id: "P01308") { name } node(id: "${btoa(`Protein:${HASH}`)}") { id } batch(batchId: "b1") { status } limits { maxItems } }`,
    );
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(Array(3).fill('UPSTREAM_TIMEOUT'));
    expect(at(data, 'limits.maxItems')).toBe(2000);
    await place.gateway.close();
  });

  it.each([
    ['status', '/tasks/b1-00000/structure.cif'],
    ['list', '/batches/b1/scores.tsv'],
    ['protein', `/structures/${HASH}.pdb`],
    ['thumbnail', `/thumbnails/${HASH}/plddt.png`],
  ])('ends a file that waits for %s with the deadline of the request: 504, no fault of the gateway', async (operation, path) => {
    liar.script(operation, hangs);
    const place = openPlace(liar.url, { REQUEST_TIMEOUT_MS: '300' });
    const answer = await place.get(path);
    expect([answer.status, await answer.text()]).toEqual([504, expect.stringContaining('took longer')]);
    await place.gateway.close();
  });

  it('refuses what would wait behind too many others, and says when to come back', async () => {
    liar.script('list', hangs);
    const place = openPlace(
      liar.url,
      {
        UPSTREAM_MAX_IN_FLIGHT: '1',
        REQUEST_TIMEOUT_MS: '1500',
      },
      { limits: { upstreamQueue: 2 } },
    );
    const ids = hashes(5, 'b');
    const { errors } = await place.query(
      `{ ${ids.map((id) => `${id}: batch(batchId: "${id}") { status }`).join(' ')} }`,
    );
    const refused = errors?.filter(({ extensions }) => extensions.code === 'RATE_LIMITED') ?? [];
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({ extensions: { retryable: true, retryAfterSeconds: 1 } });
    expect(refused[0]?.message).toMatch(/not sent/);
    expect(liar.seen).toHaveLength(1);
    await place.gateway.close();
  });
});
