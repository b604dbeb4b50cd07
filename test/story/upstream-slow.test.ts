// When the upstream is slow, or the client does not wait for it: no connection is held for nothing, and who asks for little
// is served before who asks for much.
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import WebSocket from 'ws';
import { executionTurns } from '../../src/async/turn-clock.ts';
import { block } from '../cpu-time.ts';
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
  type Script,
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

describe('a client that leaves', () => {
  it.each([
    ['protein', `{ protein(hash: "${HASH}") { sequence } }`],
    ['bulk', `{ proteins(hashes: ["${HASH}", "${'a'.repeat(32)}"]) { sequence } }`],
    ['uniprot', '{ uniprotEntry(id: "P01308") { name } }'],
    ['cluster', `{ cluster(hash: "${HASH}") { members(first: 1) { totalCount } } }`],
    ['feature', '{ feature(index: 3) { summary } }'],
    ['similarity', '{ similarProteins(sequence: "MKTAYIAKQR") { queryHash } }'],
    ['list', '{ batch(batchId: "b1") { state } }'],
    ['status', '{ task(taskId: "b1-00000") { state } }'],
  ])('takes the upstream connection of %s with it', async (operation, query) => {
    liar.script(operation, hangs);
    const place = openPlace(liar.url);
    const server = await listen(place);
    const leave = server.begin(query);
    await expect.poll(() => liar.seen.length, { interval: 5 }).toBe(1);
    expect(place.gateway.upstream().api.inFlight).toBe(1);
    leave();
    await expect.poll(() => liar.closed, { interval: 5, timeout: 8000 }).toEqual([operation]);
    expect(place.gateway.upstream().api).toMatchObject({ inFlight: 0, queued: 0 });
    await server.close();
  });

  it.each([
    'completes it',
    'closes its socket',
  ])('takes the calls of a query over WebSocket with it when it %s', async (how) => {
    liar.script('similarity', hangs);
    const place = openPlace(liar.url);
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
    await expect.poll(() => liar.closed, { interval: 5, timeout: 8000 }).toEqual(['similarity']);
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
    // It was written down: whoever asks for the batches of this key finds it.
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
    // What was sent before is told all the same: who loses its id may pay for it again.
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

/** Takes all the time of executions in each turn of the event loop. @returns ends it */
function keepExecutionsBusy(): () => void {
  let isBusy = true;
  const takeTurn = () => {
    executionTurns.hasTime();
    block(10);
    if (isBusy) setImmediate(takeTurn);
  };
  takeTurn();
  const end = () => {
    isBusy = false;
  };
  onTestFinished(end);
  return end;
}

describe('a submission that waits for its turn at the service', () => {
  it('is not sent when its client has left, and its key is free', async () => {
    let release: () => void = () => undefined;
    liar.script('uniprot', (call) => {
      release = () => says(200, { protein_name: 'Insulin', sequence: 'MKV' })(call);
    });
    const submits = () => liar.seen.filter(({ operation }) => operation === 'submit').length;
    const place = openPlace(liar.url, { UPSTREAM_MAX_IN_FLIGHT: '1' });
    const server = await listen(place);
    const others = place.query('{ uniprotEntry(id: "P01308") { name } }');
    await expect.poll(() => liar.seen.length, { interval: 5 }).toBe(1);
    const SUBMIT =
      'mutation { submitFold(input: {idempotencyKey: "k", items: [{chains: [{protein: {sequence: "MKTAYIAKQR"}}]}]}) { __typename ... on FoldSubmitted { replayed } } }';
    const queued = () => place.gateway.upstream().api.queued;
    const leave = server.begin(SUBMIT);
    await expect.poll(queued, { interval: 5 }).toBe(1);
    // Also where the answers of many other requests are worked out.
    const rest = keepExecutionsBusy();
    leave();
    await expect.poll(server.ended, { interval: 5 }).toBe(1);
    release();
    await expect.poll(queued, { interval: 5 }).toBe(0);
    rest();
    await others;
    await place.gateway.submitted();
    expect(submits()).toBe(0);
    expect((await place.query(SUBMIT)).data).toEqual({
      submitFold: { __typename: 'FoldSubmitted', replayed: false },
    });
    expect(submits()).toBe(1);
    await server.close();
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
    const place = openPlace(liar.url, { UPSTREAM_PATIENCE: '0.05' });
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
      `{ uniprotEntry(id: "P01308") { name } node(id: "${btoa(`Protein:${HASH}`)}") { id } batch(batchId: "b1") { state } limits { maxItems } }`,
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

  it('serves a small question before the rest of a crowd of large ones', async () => {
    const order: string[] = [];
    const waiting: (() => void)[] = [];
    const held: Script = (call) => {
      order.push(call.request.headers.authorization ?? /"(\w)0/.exec(call.body)?.[1] ?? '');
      waiting.push(() => says(404, { detail: 'none' })(call));
    };
    liar.script('list', held);
    const place = openPlace(liar.url, { UPSTREAM_MAX_IN_FLIGHT: '2' });
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    const one = (id: string) => `${id}: batch(batchId: "${id}") { state }`;
    const crowd = Array.from({ length: 4 }, (_, request) =>
      place.query(
        `{ ${Array.from({ length: 5 }, (_, i) => one(`r${request}n${i}`)).join(' ')} }`,
        {},
        as('crowd'),
      ),
    );
    await expect.poll(() => place.gateway.upstream().api.queued, { interval: 5 }).toBe(18);
    const single = place.query(`{ ${one('single')} }`, {}, as('single'));
    await expect.poll(() => place.gateway.upstream().api.queued, { interval: 5 }).toBe(19);
    let singleDone = false;
    void single.then(() => {
      singleDone = true;
    });
    while (waiting.length > 0 || place.gateway.upstream().api.queued > 0) {
      waiting.shift()?.();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await Promise.all([...crowd, single]);
    expect(singleDone).toBe(true);
    // Two of the crowd were under way; of those that waited the single caller was the second at the latest.
    expect(order.indexOf('Bearer single')).toBeLessThanOrEqual(3);
    expect(order).toHaveLength(21);
    await place.gateway.close();
  });

  it('refuses what would wait behind too many others, and says when to come back', async () => {
    liar.script('list', hangs);
    const place = openPlace(liar.url, {
      UPSTREAM_MAX_IN_FLIGHT: '1',
      UPSTREAM_MAX_QUEUE: '2',
      REQUEST_TIMEOUT_MS: '1500',
    });
    const ids = hashes(5, 'b');
    const { errors } = await place.query(
      `{ ${ids.map((id) => `${id}: batch(batchId: "${id}") { state }`).join(' ')} }`,
    );
    const refused = errors?.filter(({ extensions }) => extensions.code === 'RATE_LIMITED') ?? [];
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({ extensions: { retryable: true, retryAfterSeconds: 1 } });
    expect(refused[0]?.message).toMatch(/not sent/);
    expect(liar.seen).toHaveLength(1);
    expect(place.gateway.upstream().api.refused.full).toBe(2);
    await place.gateway.close();
  });
});
