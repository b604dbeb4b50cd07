// All data of a caller follow one change of GATEWAY_SECRET, and a second one: one row for
// each thing, with what a caller who was away all the time sees then.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../sandbox/src/clock.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { protein } from '../folding/bench.ts';
import { recorded, testLogger } from '../record.ts';
import { ask, until } from '../subscriptions/support.ts';
import { at } from '../support.ts';

const SECRETS = ['the first secret of all', 'the second secret of all', 'the third secret of all'] as const;
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 'w').toString('base64')}`;
const CALLER = { authorization: 'Bearer token-of-a-caller' };

describe('after two changes of the secret, a caller who was away', () => {
  let folder: string;
  let sandbox: Sandbox;
  let gateway: Gateway;
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    request.resume();
    response.writeHead(204).end();
  });
  let notifyUrl = '';

  const start = async (secret: string, previous: readonly string[]): Promise<void> => {
    const config = readConfig({
      STORE_URL: `sqlite:${folder}/gateway.db`,
      GATEWAY_SECRET: secret,
      GATEWAY_SECRET_PREVIOUS: previous.join(', '),
      WEBHOOK_HOSTS: '127.0.0.1',
      WEBHOOK_SECRET,
    });
    gateway = recorded(
      createGateway({
        config,
        upstreamUrl: sandbox.url,
        log: testLogger(),
        sandbox: true,
        pace: { first: 20, slowest: 50 },
        webhookTimes: { firstPollMs: 20, sweepMs: 50, timeoutMs: 5000, retryMs: [20] },
      }),
    );
    await gateway.ready();
  };
  const query = async (text: string, variables: Record<string, unknown> = {}): Promise<unknown> => {
    const { data, errors } = await ask(gateway, text, variables, CALLER);
    expect(errors).toBeUndefined();
    return data;
  };
  const submit = (key: string) =>
    query(
      `mutation($input: SubmitFoldInput!) { submitFold(input: $input) { __typename
        ... on FoldSubmitted { replayed batch { batchId label tasks(first: 1) { nodes { taskId name } } } } } }`,
      {
        input: {
          label: 'of the first secret',
          items: [{ ...protein('GIVEQCCTSICSLYQLENYCN'), name: 'insulin' }],
          idempotencyKey: key,
          notify: { url: notifyUrl },
        },
      },
    );

  beforeEach(async () => {
    received.length = 0;
    folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    sandbox = await startSandbox({ size: 'small', clock: new ManualClock(Date.now()), control: true });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const address = receiver.address();
    notifyUrl =
      typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}/hook` : '';
    await start(SECRETS[0], []);
  });
  afterEach(async () => {
    await gateway.close();
    await sandbox.close();
    await new Promise((resolve) => receiver.close(resolve));
    rmSync(folder, { recursive: true });
  });

  it('finds its key, its batch with label and names, its lists, its earlier input and its look-up, and is notified', async () => {
    const first = at(await submit('paid once'), 'submitFold');
    const batchId = String(at(first, 'batch.batchId'));
    const hash = 'dce185115814e428b8b8ea0d11127dbc';
    const started = await query(
      `mutation { startBulkLookup(input: { hashes: ["${hash}"] }) { __typename ... on BulkLookup { lookupId } } }`,
    );
    const lookupId = at(started, 'startBulkLookup.lookupId');
    expect(lookupId).toEqual(expect.any(String));
    for (const [secret, previous] of [
      [SECRETS[1], [SECRETS[0]]],
      [SECRETS[2], [SECRETS[1], SECRETS[0], SECRETS[2]]],
    ] as const) {
      await gateway.close();
      await start(secret, previous);
    }
    const input = {
      label: 'another label',
      items: [{ ...protein('GIVEQCCTSICSLYQLENYCN'), name: 'insulin' }],
    };
    const table: readonly (readonly [what: string, query: string, path: string, expected: unknown])[] = [
      ['myBatches', '{ myBatches { totalCount nodes { batchId label } } }', 'myBatches.totalCount', 1],
      ['label', `{ batch(batchId: "${batchId}") { label } }`, 'batch.label', 'of the first secret'],
      [
        'names of tasks',
        `{ batch(batchId: "${batchId}") { tasks(first: 1) { nodes { name } } } }`,
        'batch.tasks.nodes.0.name',
        'insulin',
      ],
      [
        'bulk look-up',
        `{ bulkLookup(lookupId: "${lookupId}") { lookupId } }`,
        'bulkLookup.lookupId',
        lookupId,
      ],
    ];
    for (const [what, text, path, expected] of table)
      expect([what, at(await query(text), path)]).toEqual([what, expected]);
    const check = 'query($input: SubmitFoldInput!) { checkFold(input: $input) { warnings { code } } }';
    expect(JSON.stringify(await query(check, { input }))).toContain('ALREADY_SUBMITTED');
    expect(at(await submit('paid once'), 'submitFold')).toMatchObject({ replayed: true, batch: { batchId } });
    await fetch(`${sandbox.url}/control/clock`, {
      method: 'POST',
      body: JSON.stringify({ advance_ms: 3_600_000 }),
    });
    await until('the webhook', () => received.length > 0);
    expect(new Set(received).size).toBe(1);
  });
});
