// Webhooks at the end of a batch, to a receiver on loopback that checks signatures as any receiver
// would, over the sandbox.
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { sendWebhook } from '../../src/progress/webhook-request.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { recordCall, recorded, testLogger } from '../record.ts';
import { NO_REDIS, openRedisPlace } from '../store/redis-place.ts';
import { ask, until } from '../subscriptions/support.ts';
import { at } from '../support.ts';
import { protein, tiny } from './bench.ts';

const SECRETS = [randomBytes(32), randomBytes(24)] as const;
const WEBHOOK_SECRET = SECRETS.map((bytes) => `whsec_${bytes.toString('base64')}`).join(',');
const SUBMIT =
  'mutation($input: SubmitFoldInput!) { submitFold(input: $input) { __typename ... on FoldSubmitted { replayed batch { batchId } warnings { code } } ... on InvalidInput { issues { path code message } } } }';
const OWN_KEY = { UPSTREAM_API_KEY: 'the-key-of-the-gateway' };

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly path: string | undefined;
}

/** A receiver of webhooks. */
interface Receiver {
  readonly received: Received[];
  /** Statuses of its next answers; 204 when there are none left. */
  readonly answers: number[];
  readonly url: string;
  close(): Promise<unknown>;
}

async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers: number[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body, path: request.url });
      response.writeHead(answers.shift() ?? 204, { location: '/elsewhere' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    received,
    answers,
    url: `http://127.0.0.1:${address.port}/hook?key=of-the-receiver`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Whether a webhook has a signature for each secret. */
function isSigned({ headers, body }: Received): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = SECRETS.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  return headers['webhook-signature'] === expected.join(' ');
}

let sandbox: Sandbox;
let receiver: Receiver;
let calls: string[] = [];
let lines: string[] = [];
const gateways: Gateway[] = [];

function open(
  env: Record<string, string> = {},
  retryMs: readonly number[] = [20, 20, 20],
  firstPollMs = 20,
): Gateway {
  const config = readConfig({
    ...{ STORE_URL: 'memory:', WEBHOOK_HOSTS: '127.0.0.1,hooks.example.org,10.0.0.1', WEBHOOK_SECRET },
    ...env,
  });
  const gateway = recorded(
    createGateway({
      config,
      upstreamUrl: sandbox.url,
      log: testLogger((line) => lines.push(line)),
      sandbox: true,
      pace: { first: 20, slowest: 50 },
      webhookTimes: { firstPollMs, sweepMs: 50, timeoutMs: 5000, retryMs },
    }),
  );
  gateways.push(gateway);
  return gateway;
}

const submit = async (gateway: Gateway, input: Record<string, unknown>, token = 'token-of-a-caller') => {
  const { data, errors } = await ask(
    gateway,
    SUBMIT,
    { input: { notify: { url: receiver.url }, ...input } },
    { authorization: `Bearer ${token}` },
  );
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return at(data, 'submitFold');
};

/** Lets all tasks end upstream. */
const endTasks = async (): Promise<void> => {
  const body = JSON.stringify({ advance_ms: 3_600_000 });
  await fetch(`${sandbox.url}/control/clock`, { method: 'POST', body });
};

beforeEach(async () => {
  [calls, lines] = [[], []];
  receiver = await openReceiver();
  sandbox = await startSandbox({
    size: 'small',
    clock: new ManualClock(Date.now()),
    control: true,
    onRequest: (call) => {
      recordCall(call);
      calls.push(call.operation);
    },
  });
});
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
  await sandbox.close();
  await receiver.close();
});

/** Webhooks that have come, after time for one too many. */
async function receivedInTheEnd(): Promise<readonly Received[]> {
  await sleep(300);
  return receiver.received;
}

describe('a webhook', () => {
  it('is sent once, signed, when every task has ended, with ids and counts', async () => {
    const gateway = open();
    const input = { items: tiny(3), idempotencyKey: 'once' };
    const first = await submit(gateway, input);
    expect(calls).toEqual(['submit']);
    expect(await receivedInTheEnd()).toEqual([]);
    await endTasks();
    await until('the webhook', () => receiver.received.length > 0);
    const [webhook] = receiver.received;
    expect(webhook && isSigned(webhook)).toBe(true);
    expect(Math.abs(Number(webhook?.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
    expect(JSON.parse(webhook?.body ?? '')).toEqual({
      type: 'batch.ended',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        batchId: at(first, 'batch.batchId'),
        status: 'DONE',
        counts: { total: 3, queued: 0, inProgress: 0, done: 3, failed: 0, cancelled: 0 },
        resultsExpireAt: expect.stringMatching(/Z$/),
      },
    });
    expect(JSON.stringify(webhook)).not.toContain('token-of-a-caller');
    expect(await receivedInTheEnd()).toHaveLength(1);
  });

  it('goes where the first submission said, and a replay that names another address is told', async () => {
    const gateway = open();
    const input = { items: tiny(3), idempotencyKey: 'once' };
    const first = await submit(gateway, input);
    const another = { ...input, notify: { url: `${receiver.url}&again` } };
    const warned = { ...Object(first), replayed: true, warnings: [{ code: 'NOTIFY_NOT_CHANGED' }] };
    // It is no part of the input.
    expect(await submit(gateway, another)).toEqual(warned);
    expect(await submit(gateway, input)).toEqual({ ...Object(first), replayed: true });
    expect(await submit(gateway, { ...input, notify: null })).toEqual({ ...Object(first), replayed: true });
    await endTasks();
    await until('the webhook', () => receiver.received.length > 0);
    expect((await receivedInTheEnd()).map(({ path }) => path)).toEqual(['/hook?key=of-the-receiver']);
    // It was sent, and is not sent again.
    expect(await submit(gateway, input)).toEqual(warned);
    const silent = { items: tiny(2), idempotencyKey: 'silent' };
    await submit(gateway, { ...silent, notify: null });
    expect(await submit(gateway, silent)).toMatchObject({ warnings: [{ code: 'NOTIFY_NOT_CHANGED' }] });
    expect(await receivedInTheEnd()).toHaveLength(1);
  });

  it('is sent again until it is accepted, with the same id and body, and no redirect is followed', async () => {
    receiver.answers.push(500, 302, 200);
    const gateway = open();
    await submit(gateway, { items: tiny(1) });
    await endTasks();
    await until('the last try', () => receiver.received.length === 3);
    const all = await receivedInTheEnd();
    expect(all.map(({ path }) => path)).toEqual(Array(3).fill('/hook?key=of-the-receiver'));
    expect(new Set(all.map(({ headers, body }) => headers['webhook-id'] + body)).size).toBe(1);
    expect(all.every(isSigned)).toBe(true);
    const metrics = await gateway.metrics.text();
    expect(metrics).toContain('foldatlas_webhooks_total{outcome="retried"} 2');
    expect(metrics).toContain('foldatlas_webhooks_total{outcome="delivered"} 1');
    const logged = lines.filter((line) => line.includes('"webhook"'));
    expect(logged).toHaveLength(3);
    expect(logged.join('')).toMatch(/"host":"127\.0\.0\.1:\d+"/);
    expect(logged.join('')).not.toContain('of-the-receiver');
  });

  it('is given up after the last try, and at once where the receiver is gone for good', async () => {
    receiver.answers.push(500, 500, 500, 500);
    const gateway = open({}, [20]);
    await submit(gateway, { items: tiny(1) });
    await endTasks();
    await until('both tries', () => receiver.received.length === 2);
    expect(await receivedInTheEnd()).toHaveLength(2);
    receiver.answers.splice(0, 2, 410);
    await submit(gateway, { items: [protein('MKVL')] });
    await endTasks();
    await until('the third', () => receiver.received.length === 3);
    expect(await receivedInTheEnd()).toHaveLength(3);
    expect(await gateway.metrics.text()).toContain('foldatlas_webhooks_total{outcome="failed"} 2');
  });

  it('leads to no address that is not public', async () => {
    const connections = openServiceConnections((_, __, done) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]),
    );
    const { signal } = new AbortController();
    const message = { id: 'msg_1', url: 'https://hooks.example.org/', body: '{}' };
    const options = { connections, secrets: [], timeoutMs: 5000, signal };
    expect(await sendWebhook(message, options)).toEqual({
      ...{ kind: 'failed', isFinal: false },
      reason: 'ENOTPUBLIC',
    });
    await connections.close();
  });
});

describe('an address that may not be notified', () => {
  const faults: readonly (readonly [url: string, message: RegExp])[] = [
    ['https://elsewhere.example.org/', /has a host or port that this gateway does not call/],
    ['https://hooks.example.org:22/', /has a host or port that this gateway does not call/],
    ['http://hooks.example.org/', /does not begin with https/],
    ['https://10.0.0.1/', /is not a public address/],
    ['https://user:secret@hooks.example.org/', /has a user or a password/],
    ['ftp://hooks.example.org/', /does not begin with https/],
    ['hooks.example.org', /is no URL/],
    [`https://hooks.example.org/${'x'.repeat(2048)}`, /has more than 2048 characters/],
  ];

  it('is a mistake in the input, before anything is sent', async () => {
    const gateway = open();
    for (const [url, message] of faults) {
      const issues = [{ path: 'notify.url', code: 'NOTIFY_URL', message: expect.stringMatching(message) }];
      expect(await submit(gateway, { items: tiny(1), notify: { url } })).toEqual({
        __typename: 'InvalidInput',
        issues,
      });
      const check =
        'query($input: SubmitFoldInput!) { checkFold(input: $input) { ok issues { path code } } }';
      const { data } = await ask(gateway, check, { input: { items: tiny(1), notify: { url } } });
      expect(data).toEqual({
        checkFold: { ok: false, issues: [{ path: 'notify.url', code: 'NOTIFY_URL' }] },
      });
    }
    expect(calls).toEqual([]);
  });

  it('is any where the operator lists none', async () => {
    const gateway = open({ WEBHOOK_HOSTS: '', WEBHOOK_SECRET: '' });
    expect(await submit(gateway, { items: tiny(1) })).toEqual({
      __typename: 'InvalidInput',
      issues: [{ path: 'notify', code: 'NOTIFY_OFF', message: expect.any(String) }],
    });
    expect(calls).toEqual([]);
  });

  it('is the 101st that a caller waits for, also of many that are submitted at once', async () => {
    const gateway = open({}, [], 600_000);
    const inputs = Array.from({ length: 120 }, (_, i) => ({
      items: tiny(1),
      label: `number ${i}`,
      idempotencyKey: i % 2 === 0 ? null : `key ${i}`,
    }));
    const answers = await Promise.all(inputs.map((input) => submit(gateway, input)));
    const isRefused = answers.map((answer) => at(answer, 'issues.0.code') === 'TOO_MANY');
    expect(isRefused.filter(Boolean)).toHaveLength(20);
    expect(calls.filter((call) => call === 'submit')).toHaveLength(100);
    const check = 'query($input: SubmitFoldInput!) { checkFold(input: $input) { ok issues { code } } }';
    const input = { items: tiny(1), notify: { url: receiver.url } };
    const caller = { authorization: 'Bearer token-of-a-caller' };
    expect((await ask(gateway, check, { input }, caller)).data).toEqual({
      checkFold: { ok: false, issues: [{ code: 'TOO_MANY' }] },
    });
    // A key that was refused is not spent, and one that was not is replayed.
    for (const refused of [true, false]) {
      const some = inputs.find(
        ({ idempotencyKey }, i) => idempotencyKey !== null && isRefused[i] === refused,
      );
      const again = await submit(gateway, { ...some, ...(refused ? { notify: null } : {}) });
      expect(again).toMatchObject({ replayed: !refused });
    }
    expect(at(await submit(gateway, { items: tiny(1) }, 'another-caller'), 'batch.batchId')).toBeTruthy();
  });
});

describe('after a restart, a webhook', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const stored = () => ({ STORE_URL: `sqlite:${folder}/gateway.db` });
  const stop = async () => gateways.pop()?.close();

  it('is sent with the key of the gateway, without another request', async () => {
    await submit(open({ ...stored(), ...OWN_KEY }), { items: tiny(1) });
    await stop();
    await endTasks();
    expect(receiver.received).toEqual([]);
    open({ ...stored(), ...OWN_KEY });
    await until('the webhook', () => receiver.received.length > 0);
    expect(await receivedInTheEnd()).toHaveLength(1);
    await stop();
    open({ ...stored(), ...OWN_KEY });
    expect(await receivedInTheEnd()).toHaveLength(1);
  });

  it('is sent when its caller comes back, whose token the store never had', async () => {
    await submit(open(stored()), { items: tiny(1) });
    await stop();
    await endTasks();
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(files.join('')).toContain('of-the-receiver');
    expect(files.join('')).not.toContain('token-of-a-caller');
    const gateway = open(stored());
    const read = async (token: string) =>
      ask(gateway, '{ myBatches { totalCount } }', {}, { authorization: `Bearer ${token}` });
    await read('another-caller');
    expect(await receivedInTheEnd()).toEqual([]);
    await read('token-of-a-caller');
    await until('the webhook', () => receiver.received.length > 0);
    expect(await receivedInTheEnd()).toHaveLength(1);
  });

  const read = (gateway: Gateway, token = 'token-of-a-caller') =>
    ask(gateway, '{ myBatches { totalCount } }', {}, { authorization: `Bearer ${token}` });

  it('is sent when its caller comes back before the gateway has looked for webhooks', async () => {
    await submit(open(stored()), { items: tiny(1) });
    await stop();
    await endTasks();
    const gateway = open(stored());
    await Promise.all([read(gateway), read(gateway), read(gateway)]);
    await until('the webhook', () => receiver.received.length > 0);
    expect(await receivedInTheEnd()).toHaveLength(1);
  });

  it('is sent when its caller has come while another process had its lease, without another request', async () => {
    const first = open(stored());
    await submit(first, { items: tiny(1) });
    const second = open(stored());
    await read(second);
    await sleep(100);
    gateways.splice(gateways.indexOf(first), 1);
    await first.close();
    await endTasks();
    await until('the webhook', () => receiver.received.length > 0);
    expect(await receivedInTheEnd()).toHaveLength(1);
  });

  it('is tried again as it is where it failed, without another poll', async () => {
    receiver.answers.push(500);
    await submit(open({ ...stored(), ...OWN_KEY }, [600_000]), { items: tiny(1) });
    await endTasks();
    await until('the first try', () => receiver.received.length === 1);
    await until('its report', () => lines.some((line) => line.includes('"retried"')));
    await sleep(50);
    await stop();
    calls = [];
    open({ ...stored(), ...OWN_KEY });
    expect(await receivedInTheEnd()).toHaveLength(1);
    expect(calls).toEqual([]);
  });
});

describe.skipIf(NO_REDIS)('replicas that share a Redis', () => {
  it('send a webhook once, and go on for each other', async () => {
    const place = await openRedisPlace();
    const env = { ...OWN_KEY, STORE_URL: place.url, GATEWAY_SECRET: 'one secret that all replicas share' };
    const [one, two] = [open(env), open(env)];
    await submit(one, { items: tiny(1) });
    await submit(two, { items: tiny(2) });
    await sleep(200);
    await one.close();
    gateways.splice(gateways.indexOf(one), 1);
    await endTasks();
    await until('both webhooks', () => receiver.received.length >= 2);
    const all = await receivedInTheEnd();
    const totals = all.map(({ body }) => at(JSON.parse(body), 'data.counts.total'));
    expect(totals.toSorted()).toEqual([1, 2]);
    await two.close();
    gateways.length = 0;
    await place.remove();
  });
});
