// The smaller clients: graphql-request, graphql-sse, graphql-ws over a server that goes away and
// comes back, and curl.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ClientError, GraphQLClient } from 'graphql-request';
import { createClient as createSse } from 'graphql-sse';
import { createClient as createWs } from 'graphql-ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { until } from '../../subscriptions/support.ts';
import { at } from '../../support.ts';
import { FOLD, INSULIN, openPlace, type Place, SUBMIT, TOKEN, WATCH } from './place.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place.close());
beforeEach(() => place.world.forget());

/** @returns the id of a new batch */
async function submit(): Promise<string> {
  const data = await new GraphQLClient(place.url, { headers: TOKEN }).request(SUBMIT, FOLD);
  return String(at(data, 'submitFold.batch.batchId'));
}
const control = (path: string, body: object) =>
  fetch(`${place.world.sandboxUrl}/control/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('graphql-request', () => {
  it('reads, submits, and throws what was refused with its code', async () => {
    const client = new GraphQLClient(place.url, { headers: TOKEN });
    const card = await client.request('query ($hash: ProteinHash!) { protein(hash: $hash) { name } }', {
      hash: INSULIN,
    });
    expect(card).toEqual({ protein: { name: 'Insulin' } });
    expect(await submit()).toMatch(/^[\w-]{36}$/);
    expect(place.world.counts()).toEqual({ protein: 1, submit: 1 });
    const failed: unknown = await client.request('{ nothing }').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ClientError);
    expect(failed).toMatchObject({ response: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] } });
  });

  it('submits again what failed, mended, and pays once however often it is sent', async () => {
    const client = new GraphQLClient(place.url, { headers: TOKEN });
    const item = (name: string, sequence: string) => ({ name, chains: [{ protein: { sequence } }] });
    // Too many tokens for the service, and so documented to fail.
    const input = { items: [item('fine', 'GIVEQCCTSIC'), item('large', 'MQIFVK'.repeat(350))] };
    const batchId = String(at(await client.request(SUBMIT, { input }), 'submitFold.batch.batchId'));
    const sse = createSse({ url: place.url, headers: TOKEN });
    for await (const _ of sse.iterate({ query: WATCH, variables: { id: batchId } }));
    sse.dispose();
    const FAILED =
      'query ($id: ID!) { batch(batchId: $id) { tasks(statuses: [FAILED, CANCELLED]) { nodes { inputIndex } } } }';
    const failed = at(await client.request(FAILED, { id: batchId }), 'batch.tasks.nodes') as {
      inputIndex: number;
    }[];
    expect(failed).toEqual([{ inputIndex: 1 }]);
    const mend = (large: unknown) => ({ ...(large as object), chains: item('', 'MQIFVK').chains });
    const items = failed.map(({ inputIndex }) => mend(input.items[inputIndex]));
    const again = { items, idempotencyKey: `${batchId} again` };
    const answer = await client.request(SUBMIT, { input: again });
    expect(await client.request(SUBMIT, { input: again })).toEqual(answer);
    expect(at(answer, 'submitFold')).toMatchObject({
      __typename: 'FoldSubmitted',
      batch: { counts: { total: 1 } },
    });
    expect(place.world.counts().submit).toBe(2);
  });

  it('keeps the rest of an answer of which a part failed, with errorPolicy all', async () => {
    const client = new GraphQLClient(place.url, { errorPolicy: 'all' });
    const { data, errors } = await client.rawRequest(
      '{ limits { maxItems } batch(batchId: "00000000-0000-4000-8000-000000000000") { batchId } }',
    );
    expect(data).toEqual({ limits: { maxItems: 2000 }, batch: null });
    expect(errors?.map(({ path, extensions }) => [path, extensions?.code])).toEqual([
      [['batch'], 'UNAUTHENTICATED'],
    ]);
  });
});

describe('graphql-sse', () => {
  it('watches a batch to its last event, and reads queries as well', async () => {
    const client = createSse({ url: place.url, headers: TOKEN });
    const id = await submit();
    let last: unknown;
    for await (const event of client.iterate({ query: WATCH, variables: { id } })) last = event;
    expect(last).toMatchObject({ data: { batchProgress: { final: true, batch: { counts: { done: 1 } } } } });
    const read = await client.iterate({ query: '{ limits { maxTasks } }' }).next();
    expect(read.value).toEqual({ data: { limits: { maxTasks: 2000 } } });
    client.dispose();
  });

  it('is told what is wrong as an answer with a code', async () => {
    const client = createSse({ url: place.url, retryAttempts: 0 });
    const wrong: unknown = await client
      .iterate({ query: WATCH, variables: { id: 'x' } })
      .next()
      .catch((error: unknown) => error);
    expect(JSON.stringify(wrong)).toMatch(/"code":"UNAUTHENTICATED"/);
    client.dispose();
  });
});

describe('graphql-ws', () => {
  it('goes on by itself when the gateway goes away and comes back', async () => {
    await control('queue', { hold: true });
    const id = await submit();
    let connected = 0;
    const client = createWs({
      url: place.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: TOKEN,
      retryAttempts: 20,
      retryWait: () => new Promise((resolve) => setTimeout(resolve, 50)),
      shouldRetry: () => true,
      on: {
        connected: () => {
          connected += 1;
        },
      },
    });
    const events: unknown[] = [];
    let ended = false;
    // As examples/browser/websocket.html does: a stream that completes before its last event is
    // opened again.
    const watch = (): void => {
      client.subscribe<Record<string, unknown>>(
        { query: WATCH, variables: { id } },
        {
          next: ({ data }) => void events.push(data),
          error: (error) => void events.push(error),
          complete: () => {
            if (at(events.at(-1), 'batchProgress.final') === true) ended = true;
            else watch();
          },
        },
      );
    };
    watch();
    await until('the first state', () => events.length === 1);
    await place.restart();
    await until('the state after it came back', () => events.length === 2);
    expect(connected).toBe(2);
    expect(events.map((event) => at(event, 'batchProgress.batch.counts.done'))).toEqual([0, 0]);
    await control('queue', { hold: false });
    await until('the end', () => ended);
    expect(at(events.at(-1), 'batchProgress.batch.counts.done')).toBe(1);
    await client.dispose();
  });
});

const run = promisify(execFile);

describe('curl', () => {
  const curl = async (args: readonly string[]) => {
    const { stdout } = await run('curl', ['-sS', ...args]);
    return stdout;
  };

  it('reads by POST and by GET, and sees status and code of a refusal', async () => {
    const body = JSON.stringify({ query: `{ protein(hash: "${INSULIN}") { name } }` });
    const posted = await curl([place.url, '-H', 'content-type: application/json', '-d', body]);
    expect(JSON.parse(posted)).toEqual({ data: { protein: { name: 'Insulin' } } });
    const got = await curl(['-G', place.url, '--data-urlencode', 'query={ limits { maxItems } }']);
    expect(JSON.parse(got)).toEqual({ data: { limits: { maxItems: 2000 } } });
    const refused = await curl([
      place.url,
      '-w',
      '\n%{http_code}',
      '-H',
      'content-type: application/json',
      '-H',
      'accept: application/graphql-response+json',
      '-d',
      '{"query":"{ nothing }"}',
    ]);
    const [answer = '', status] = refused.split('\n');
    expect([status, at(JSON.parse(answer), 'errors.0.extensions.code')]).toEqual(['400', 'BAD_USER_INPUT']);
  });

  it('shows a batch event by event', async () => {
    const id = await submit();
    const events = await curl([
      '-N',
      place.url,
      '-H',
      `authorization: ${TOKEN.authorization}`,
      '-H',
      'content-type: application/json',
      '-H',
      'accept: text/event-stream',
      '-d',
      JSON.stringify({ query: WATCH, variables: { id } }),
    ]);
    expect(events).toMatch(/^event: next\ndata: .*"final":true/m);
    expect(events.trimEnd().split('\n').at(-2)).toBe('event: complete');
  });
});
