// submitFold through GraphQL: every ending, idempotency in every weather, and how many requests go
// upstream.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openSqlite } from '../../src/store/sqlite.ts';
import { at, listAt } from '../support.ts';
import { reached } from '../transport.ts';
import { openLiar, openPlace, says } from '../upstream/liar.ts';
import { type Bench, INSULIN_A, INSULIN_B, openBench, protein } from './bench.ts';

const SUBMIT = `mutation($input: SubmitFoldInput!) {
  submitFold(input: $input) {
    __typename
    ... on FoldSubmitted { replayed message warnings { code path } batch { batchId label status counts { total queued } queueDeadline resultsExpireAt } }
    ... on Problem { message hint } ... on Refused { upstreamRequestId } ... on OutcomeUnknown { upstreamRequestId }
    ... on InvalidInput { issues { path code message hint } }
    ... on Refused { reason retryable retryAfterSeconds }
    ... on OutcomeUnknown { idempotencyKey }
    ... on IdempotencyConflict { existingBatch { batchId } }
  }
}`;

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());
beforeEach(() => bench.forget());
afterEach(() => fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' }));

const send = async (input: Record<string, unknown>, key?: string) => {
  const { data, errors } = await bench.ask(SUBMIT, { input }, key);
  expect(errors).toBeUndefined();
  return at(data, 'submitFold');
};
const submitted = says(200, { data: { message: 'queued', batch_id: 'b1', total_items: 1 } });
let number = 0;
const newKey = () => `key-${number++}`;

describe('a submission', () => {
  it('is one request, whatever is selected on the new batch', async () => {
    const input = { label: 'screen', repeat: 3, items: [protein(INSULIN_A, 'a'), protein(INSULIN_B, 'b')] };
    const tasks =
      'resultsExpireAt done: tasks(statuses: [DONE]) { nodes { name } } tasks(statuses: [QUEUED]) { nodes { name } }';
    const { data } = await bench.ask(SUBMIT.replace('resultsExpireAt', tasks), { input });
    const ending = at(data, 'submitFold');
    expect(at(ending, 'batch.done.nodes')).toEqual([]);
    expect(at(ending, 'batch.tasks.nodes')).toEqual(['a', 'b', 'a', 'b', 'a', 'b'].map((name) => ({ name })));
    expect(ending).toMatchObject({
      __typename: 'FoldSubmitted',
      replayed: false,
      message: expect.stringContaining('6'),
      batch: { label: 'screen', status: 'IN_PROGRESS', counts: { total: 6, queued: 6 } },
    });
    expect(bench.counts()).toEqual({ submit: 1 });
    const day = 24 * 3_600_000;
    const deadline = Date.parse(String(at(ending, 'batch.queueDeadline')));
    expect(Date.parse(String(at(ending, 'batch.resultsExpireAt'))) - deadline).toBe(30 * day);
    expect(Math.abs(deadline - bench.clock.now() - day)).toBeLessThan(60_000);
  });

  it('is named by checkFold of the same input, also under another label', async () => {
    const check = async (input: Record<string, unknown>): Promise<unknown> => {
      const query =
        'query($input: SubmitFoldInput!) { checkFold(input: $input) { warnings { code message } } }';
      return at((await bench.ask(query, { input })).data, 'checkFold.warnings');
    };
    const items = [protein('GIVEQCCTSICSLYQLEHYCN', 'once')];
    expect(await check({ items, label: 'first' })).toEqual([]);
    const batchId = at(await send({ items, label: 'first' }), 'batch.batchId');
    const warning = {
      code: 'ALREADY_SUBMITTED',
      message: expect.stringContaining(`is batch ${String(batchId)}`),
    };
    for (const label of ['first', 'second', null]) expect(await check({ items, label })).toEqual([warning]);
    expect(await check({ items, label: 'second', repeat: 2 })).toEqual([]);
    expect(await check({ items: [protein('GIVEQCCTSICSLYQLEHYCA', 'once')] })).toEqual([]);
  });

  it('is named by checkFold under another key only, because its own key pays nothing again', async () => {
    const query = 'query($input: SubmitFoldInput!) { checkFold(input: $input) { warnings { code } } }';
    const check = async (idempotencyKey: string, label: string) => {
      const asked = { items: [protein('GIVEQCCTSICSLYQLEKYCN')], label, idempotencyKey };
      return listAt((await bench.ask(query, { input: asked })).data, 'checkFold.warnings').map((one) =>
        at(one, 'code'),
      );
    };
    const [own, other] = [newKey(), newKey()];
    await send({ items: [protein('GIVEQCCTSICSLYQLEKYCN')], label: 'first', idempotencyKey: own });
    expect(await check(own, 'first')).toEqual([]);
    expect(await check(other, 'first')).toEqual(['ALREADY_SUBMITTED']);
    expect(await check(own, 'second')).toEqual(['ALREADY_SUBMITTED']);
  });

  it('shows its tasks without a call, and pages on from there', async () => {
    const items = ['GIV', 'EQC', 'CTS', 'ICS'].map((sequence, i) => protein(sequence, `n${i}`));
    const { data } = await bench.ask(
      'mutation($input: SubmitFoldInput!) { submitFold(input: $input) { ... on FoldSubmitted { batch { batchId tasks(first: 2) { totalCount nodes { taskId index name status } pageInfo { hasNextPage endCursor } } none: tasks(statuses: [DONE]) { totalCount nodes { taskId } } } } } }',
      { input: { items } },
    );
    expect(bench.counts()).toEqual({ submit: 1 });
    const batchId = at(data, 'submitFold.batch.batchId');
    expect(at(data, 'submitFold.batch')).toMatchObject({
      tasks: {
        totalCount: 4,
        nodes: [0, 1].map((index) => ({
          taskId: `${batchId}-0000${index}`,
          index,
          name: `n${index}`,
          status: 'QUEUED',
        })),
        pageInfo: { hasNextPage: true },
      },
      none: { totalCount: 0, nodes: [] },
    });
    const after = at(data, 'submitFold.batch.tasks.pageInfo.endCursor');
    const { data: rest } = await bench.ask(
      'query($id: ID!, $after: String) { batch(batchId: $id) { tasks(first: 2, after: $after) { nodes { name } pageInfo { hasNextPage } } } }',
      { id: batchId, after },
    );
    expect(at(rest, 'batch.tasks')).toEqual({
      nodes: [{ name: 'n2' }, { name: 'n3' }],
      pageInfo: { hasNextPage: false },
    });
  });

  it('is not sent with faults, and says all of them', async () => {
    const ending = await send({ repeat: 2001, items: [protein('GIV1'), { chains: [] }] });
    expect(at(ending, '__typename')).toBe('InvalidInput');
    expect(listAt(ending, 'issues').map((issue) => `${at(issue, 'path')} ${at(issue, 'code')}`)).toEqual([
      'repeat REPEAT_OUT_OF_RANGE',
      'items.0.chains.0.protein.sequence BAD_LETTER',
      'items.1.chains EMPTY_LIST',
    ]);
    expect(bench.counts()).toEqual({});
  });

  it('is measured with faults all the same, as far as a number goes', async () => {
    const { data } = await bench.ask(
      'query($input: SubmitFoldInput!) { checkFold(input: $input) { ok taskCount } }',
      { input: { repeat: 2 ** 31 - 1, items: [protein('GIV'), protein('GIVE')] } },
    );
    expect(data).toEqual({ checkFold: { ok: false, taskCount: 2 ** 31 - 1 } });
  });

  it('says what is likely not meant', async () => {
    const ending = await send({ items: [protein(INSULIN_A), protein(INSULIN_A)] });
    expect(at(ending, 'warnings')).toEqual([{ code: 'IDENTICAL_ITEM', path: 'items.1' }]);
  });
});

describe('a refusal', () => {
  const item = { items: [protein(INSULIN_A)] };
  const fated: [string, string, object][] = [
    ['an invalid key', 'sandbox-revoked', { reason: 'UNAUTHENTICATED', retryable: false }],
    ['a key without the model', 'sandbox-unconfigured', { reason: 'MODEL_UNAVAILABLE', retryable: false }],
    [
      'too many requests',
      'sandbox-rate-limited',
      { reason: 'RATE_LIMIT', retryable: true, retryAfterSeconds: 60 },
    ],
    [
      'no credits',
      'sandbox-no-credits',
      { reason: 'CREDITS', retryable: true, retryAfterSeconds: expect.any(Number) },
    ],
  ];
  it.each(fated)('for %s', async (_, key, expected) => {
    const ending = await send(item, key);
    expect(ending).toMatchObject({
      __typename: 'Refused',
      ...expected,
      upstreamRequestId: expect.any(String),
    });
    expect(bench.counts()).toEqual({ submit: 1 });
  });

  const statuses: [number, string, string, boolean][] = [
    [400, 'endpoint is wrong', 'INVALID_REQUEST', false],
    [402, 'Payment required', 'CREDITS', false],
    [403, 'flagged by the safety filter', 'FORBIDDEN', false],
    [413, 'too large', 'INVALID_REQUEST', false],
    [429, 'Refused.', 'RATE_LIMIT_OR_CREDITS', true],
    [429, 'Too many requests', 'RATE_LIMIT', true],
    [429, 'You have exceeded your daily credit limit', 'CREDITS', false],
  ];
  it.each(statuses)('by HTTP %i %j', async (status, message, reason, retryable) => {
    await bench.fault({
      operation: 'submit',
      status,
      body: { status: 'error', message, request_id: 'req_x' },
    });
    const ending = await send(item);
    expect(ending).toMatchObject({
      __typename: 'Refused',
      reason,
      retryable,
      message,
      upstreamRequestId: 'req_x',
    });
    expect(bench.counts()).toEqual({ submit: 1 });
  });

  it('says after HTTP 413 that fewer items are to be sent', async () => {
    await bench.fault({ operation: 'submit', status: 413, body: { status: 'error', message: 'too large' } });
    expect(await send(item)).toMatchObject({ hint: expect.stringContaining('Submit fewer items at once') });
  });

  it('is a refusal, too, without a key at all', async () => {
    const { data } = await bench.query(SUBMIT, { input: item });
    expect(at(data, 'submitFold')).toMatchObject({ __typename: 'Refused', reason: 'UNAUTHENTICATED' });
  });

  it('frees the idempotency key', async () => {
    const input = { ...item, idempotencyKey: newKey() };
    await bench.fault({ operation: 'submit', status: 429, body: { message: 'Too many requests' } });
    expect(at(await send(input), '__typename')).toBe('Refused');
    expect(await send(input)).toMatchObject({ __typename: 'FoldSubmitted', replayed: false });
  });
});

describe('a chain', () => {
  it.each([
    ['no kind', {}],
    ['two kinds', { rna: { sequence: 'ACGU' }, dna: { sequence: 'ACGT' } }],
    ['a kind that is null', { protein: null }],
  ])('is no input of the schema with %s, and nothing is sent', async (_, chain) => {
    const { data, errors } = await bench.ask(SUBMIT, { input: { items: [{ chains: [chain] }] } });
    expect(data ?? null).toBeNull();
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(bench.counts()).toEqual({});
  });
});

describe('an unknown outcome', () => {
  const troubles: [string, Record<string, unknown>, message?: RegExp][] = [
    ['a 500 with part of the items queued', { break_off_after: 1 }],
    ['a 500', { status: 500, body: { message: 'boom' } }, /^boom$/],
    ['a 408 without a body', { status: 408, body: '' }, /HTTP 408/],
    ['a 425 without a body', { status: 425, body: '' }, /HTTP 425/],
    ['a 499 of a proxy', { status: 499, body: '' }, /HTTP 499/],
    ['a 503 without a body', { status: 503, body: '' }, /HTTP 503/],
    ['a 504 without a body', { status: 504, body: '' }, /HTTP 504/],
    ['a connection that dies before the answer', { spoil: 'reset' }, /^The connection broke before/],
    ['an answer that breaks off', { spoil: 'truncate' }],
    ['a 200 that cannot be read', { spoil: 'garbage' }],
    ['a 200 without a batch id', { status: 200, body: { status: 'success', data: { message: 'hm' } } }],
  ];
  it.each(troubles)('after %s is said, written down and never retried', async (_, rule, message = /./) => {
    const idempotencyKey = newKey();
    const input = { items: [protein(INSULIN_A), protein(INSULIN_B)], label: idempotencyKey, idempotencyKey };
    await bench.fault({ operation: 'submit', ...rule });
    const ending = await send(input);
    expect(ending).toMatchObject({ __typename: 'OutcomeUnknown', idempotencyKey });
    expect(at(ending, 'message')).not.toMatch(/try again|could not be reached/i);
    expect(at(ending, 'message')).toMatch(message);
    expect(bench.counts()).toEqual({ submit: 1 });
    expect(await send(input)).toMatchObject({ __typename: 'OutcomeUnknown', idempotencyKey });
    expect(bench.counts()).toEqual({ submit: 1 });
    const { data } = await bench.ask(
      'query($input: SubmitFoldInput!) { checkFold(input: $input) { ok warnings { code } } }',
      { input },
    );
    expect(data).toEqual({ checkFold: { ok: true, warnings: [{ code: 'EARLIER_OUTCOME_UNKNOWN' }] } });
  });

  it('names no idempotency key where there was none', async () => {
    await bench.fault({ operation: 'submit', status: 500, body: { message: 'boom', request_id: 'req_y' } });
    const ending = await send({ items: [protein(INSULIN_A)] });
    expect(ending).toMatchObject({
      __typename: 'OutcomeUnknown',
      idempotencyKey: null,
      upstreamRequestId: 'req_y',
    });
  });
});

describe('an idempotency key', () => {
  it('gives the first batch back for the same input, in whatever spelling', async () => {
    const idempotencyKey = newKey();
    const first = await send({ items: [protein(INSULIN_A, 'a')], idempotencyKey });
    const again = await send({
      items: [protein(` ${INSULIN_A.toLowerCase()}\n`, 'a')],
      repeat: 1,
      idempotencyKey,
    });
    expect(again).toMatchObject({
      replayed: true,
      batch: { batchId: at(first, 'batch.batchId'), status: 'IN_PROGRESS' },
    });
    expect(bench.counts()).toEqual({ submit: 1, list: 1 });
  });

  it('is the same key whichever way its accents are written', async () => {
    const key = `${newKey()} clé`;
    const write = (form: 'NFC' | 'NFD') => ({
      ...{ items: [protein(INSULIN_A)], idempotencyKey: key.normalize(form) },
    });
    expect(await send(write('NFD'))).toMatchObject({ replayed: false });
    expect(await send(write('NFC'))).toMatchObject({ replayed: true });
    expect(bench.counts()).toMatchObject({ submit: 1 });
  });

  it('takes an empty SMILES for one that is left out', async () => {
    const idempotencyKey = newKey();
    const withLigand = (ligand: object) => ({ items: [{ chains: [{ ligand }] }], idempotencyKey });
    await send(withLigand({ smiles: ' ', ccd: ['ATP'] }));
    const sent: unknown = JSON.parse(bench.calls.find(({ operation }) => operation === 'submit')?.body ?? '');
    expect(at(sent, 'payload.0.all_atom_input.sequences.0')).toMatchObject({ smiles: null, ccd: ['ATP'] });
    expect(await send(withLigand({ ccd: ['ATP'] }))).toMatchObject({ replayed: true });
  });

  it('is a conflict for another input', async () => {
    const idempotencyKey = newKey();
    const first = await send({ items: [protein(INSULIN_A)], idempotencyKey });
    const other = await send({ items: [protein(INSULIN_B)], idempotencyKey });
    expect(other).toMatchObject({
      __typename: 'IdempotencyConflict',
      existingBatch: { batchId: at(first, 'batch.batchId') },
    });
    expect(bench.counts()).toMatchObject({ submit: 1 });
  });

  it('belongs to its caller', async () => {
    const input = { items: [protein(INSULIN_A)], idempotencyKey: newKey() };
    await send(input, 'one');
    expect(await send(input, 'another')).toMatchObject({ __typename: 'FoldSubmitted', replayed: false });
  });

  it('lets exactly one of many racing requests through', async () => {
    await bench.fault({ operation: 'submit', delay_ms: 300 });
    const input = { items: [protein(INSULIN_A)], idempotencyKey: newKey() };
    const endings = await Promise.all(Array.from({ length: 6 }, () => send(input)));
    expect(bench.counts()).toMatchObject({ submit: 1 });
    expect(new Set(endings.map((ending) => at(ending, 'batch.batchId'))).size).toBe(1);
    expect(endings.filter((ending) => at(ending, 'replayed') === false)).toHaveLength(1);
  });

  it.each([
    ['is spent', {}, { __typename: 'FoldSubmitted', replayed: true }],
    [
      'stays taken when it fails',
      { status: 500, body: { message: 'boom' } },
      { __typename: 'OutcomeUnknown' },
    ],
  ])('%s also where the caller leaves in the middle', async (_, rule, expected) => {
    await bench.fault({ operation: 'submit', delay_ms: 500, ...rule });
    const input = { items: [protein(INSULIN_A)], idempotencyKey: newKey() };
    const submits = bench.counts().submit ?? 0;
    const leaving = new AbortController();
    const asked = bench.gateway
      .fetch(
        new Request('http://gateway.test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer key-of-a-test' },
          body: JSON.stringify({ query: SUBMIT, variables: { input } }),
          signal: leaving.signal,
        }),
      )
      .catch(() => undefined);
    await expect.poll(() => bench.counts().submit, { interval: 5 }).toBe(submits + 1);
    leaving.abort();
    await asked;
    expect(await send(input)).toMatchObject(expected);
    expect(bench.counts()).toMatchObject({ submit: 1 });
  });
});

it('is free again after no connection at all, which is a refusal: nothing was sent', async () => {
  const down = await openBench({}, {});
  const url = down.sandboxUrl;
  await down.close();
  const { createGateway } = await import('../../src/gateway.ts');
  const { readConfig } = await import('../../src/config.ts');
  const { testLogger } = await import('../record.ts');
  const config = readConfig({ STORE_URL: 'memory:', LOG_LEVEL: 'silent' });
  const gateway = reached(createGateway({ config, upstreamUrl: url, log: testLogger() }));
  const response = await gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: SUBMIT,
        variables: { input: { items: [protein(INSULIN_A)], idempotencyKey: 'k' } },
      }),
    }),
  );
  expect(at(await response.json(), 'data.submitFold')).toMatchObject({
    __typename: 'Refused',
    reason: 'UNREACHABLE',
    retryable: true,
  });
  // The cancel did not happen: that is a failure, and no result of the service.
  const cancel = await gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer key-of-a-test' },
      body: JSON.stringify({ query: 'mutation { cancelBatch(batchId: "b") { __typename } }' }),
    }),
  );
  expect(await cancel.json()).toMatchObject({
    data: { cancelBatch: null },
    errors: [{ path: ['cancelBatch'], extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } }],
  });
  await gateway.close();
});

describe('a store on disk', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('replays after a restart, knows names and labels, and holds no sequence and no token', async () => {
    const env = { STORE_URL: `sqlite:${folder}/gateway.db` };
    const data = join(folder, 'sandbox');
    const input = { label: 'kept', items: [protein(INSULIN_A, 'the a chain')], idempotencyKey: 'k' };
    const first = await openBench(env, { dataDir: data });
    const batchId = await first.submit(input);
    await first.close();

    const second = await openBench(env, { dataDir: data });
    const { data: again } = await second.ask(SUBMIT, { input });
    expect(at(again, 'submitFold')).toMatchObject({ replayed: true, batch: { batchId, label: 'kept' } });
    const { data: mine } = await second.ask(
      '{ myBatches { totalCount nodes { batchId label submittedAt tasks { nodes { name inputChains { kind length proteinHash } } } } } }',
    );
    expect(mine).toMatchObject({
      myBatches: {
        totalCount: 1,
        nodes: [
          {
            batchId,
            label: 'kept',
            tasks: { nodes: [{ name: 'the a chain', inputChains: [{ kind: 'PROTEIN', length: 21 }] }] },
          },
        ],
      },
    });
    expect(second.counts()).not.toHaveProperty('submit');
    await second.close();

    const files = readdirSync(folder).filter((name) => name.startsWith('gateway.db'));
    expect(files).toContain('gateway.db');
    const bytes = files.map((name) => readFileSync(join(folder, name)).toString('latin1')).join('');
    expect(bytes).toContain('the a chain');
    expect(bytes).not.toContain(INSULIN_A);
    expect(bytes).not.toContain('key-of-a-test');
  });

  it('hides no id of what was paid when it can no longer be read', async () => {
    const broken = await openBench({ STORE_URL: `sqlite:${folder}/unread.db` });
    const database = openSqlite(`${folder}/unread.db`);
    database.exec('ALTER TABLE entry RENAME TO gone');
    database.close();
    const { data } = await broken.ask(
      `mutation($input: SubmitFoldInput!) { submitFold(input: $input) { ... on FoldSubmitted { batch {
        batchId label submittedAt counts { queued }
        tasks(first: 1) { nodes { taskId name } } } } } }`,
      { input: { items: [protein(INSULIN_A)] } },
    );
    expect(at(data, 'submitFold.batch')).toMatchObject({
      batchId: expect.any(String),
      counts: { queued: 1 },
      tasks: { nodes: [{ taskId: expect.any(String) }] },
    });
    await broken.close();
  });

  it('does not say that an expired result has no scores when it cannot read them', async () => {
    const broken = await openBench({ STORE_URL: `sqlite:${folder}/scores.db` });
    const id = await broken.submit({ items: [protein(INSULIN_A), protein(INSULIN_B)] });
    await broken.pass(32 * 24 * 3_600_000);
    const scores = () =>
      broken.ask('query($id: ID!) { task(taskId: $id) { status scores { ptm } } }', { id: `${id}-00000` });
    expect((await scores()).data).toEqual({ task: { status: 'EXPIRED', scores: null } });
    const database = openSqlite(`${folder}/scores.db`);
    database.exec(
      `INSERT INTO entry SELECT principal, 'scores', '${id}-00000', NULL, 'damaged' FROM entry WHERE kind = 'batch'`,
    );
    database.close();
    const { data, errors } = await scores();
    expect(data).toEqual({ task: { status: 'EXPIRED', scores: null } });
    expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['task.scores']);
    await broken.close();
  });

  it('hides neither a success nor its reason when it fails', async () => {
    const broken = await openBench({ STORE_URL: `sqlite:${folder}/gateway.db` });
    const database = openSqlite(`${folder}/gateway.db`);
    for (const [name, event] of [
      ['no_outcome', `INSERT ON entry WHEN new.kind IN ('batch', 'input')`],
      ['no_release', 'DELETE ON entry'],
    ])
      database.exec(
        `CREATE TRIGGER ${name} BEFORE ${event} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
      );
    database.close();
    const ending = async (idempotencyKey: string) =>
      at(
        (await broken.ask(SUBMIT, { input: { items: [protein(INSULIN_A)], idempotencyKey } })).data,
        'submitFold',
      );
    expect(await ending('a')).toMatchObject({
      __typename: 'FoldSubmitted',
      batch: { batchId: expect.any(String) },
      warnings: [{ code: 'NOT_REMEMBERED' }],
    });
    await broken.fault({ operation: 'submit', status: 500, body: { message: 'boom' } });
    expect(await ending('b')).toMatchObject({ __typename: 'OutcomeUnknown' });
    await broken.fault({ operation: 'submit', status: 403, body: { message: 'no' } });
    expect(await ending('c')).toMatchObject({ __typename: 'Refused', reason: 'FORBIDDEN' });

    const mended = openSqlite(`${folder}/gateway.db`);
    mended.exec('DROP TRIGGER no_outcome');
    mended.close();
    expect(await ending('a')).toMatchObject({ __typename: 'FoldSubmitted', replayed: true, warnings: [] });
    await broken.close();
  });

  it('has nothing sent while it is full whose owner only the gateway could know', async () => {
    const key = 'the-key-of-a-caller-of-this-gateway';
    const full = await openBench({
      STORE_URL: `sqlite:${folder}/gateway.db`,
      UPSTREAM_API_KEY: 'the-key-of-the-service',
      GATEWAY_API_KEYS: key,
    });
    const input = { items: [protein(INSULIN_A)] };
    const batchId = await full.submit(input, key);
    const database = openSqlite(`${folder}/gateway.db`);
    // The trial entry is gone.
    expect(database.prepare(`SELECT count(*) AS keys FROM entry WHERE kind = 'key'`).get()).toEqual({
      keys: 0,
    });
    database.exec(
      `CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
    );
    database.close();
    full.forget();
    const { data } = await full.ask(SUBMIT, { input }, key);
    expect(at(data, 'submitFold')).toMatchObject({
      __typename: 'Refused',
      reason: 'UNREACHABLE',
      retryable: true,
    });
    expect(full.counts()).toEqual({});
    const BATCH = 'query($id: ID!) { batch(batchId: $id) { batchId } }';
    expect((await full.ask(BATCH, { id: batchId }, key)).data).toEqual({ batch: { batchId } });
    await full.close();
  });

  it('counts no submission as cut off that is still under way, and says what to do meanwhile', async () => {
    const liar = await openLiar();
    const held: (() => void)[] = [];
    liar.script('submit', (call) => void held.push(() => submitted(call)));
    const slow = openPlace(liar.url, {
      STORE_URL: `sqlite:${folder}/gateway.db`,
      REQUEST_TIMEOUT_MS: '110000',
    });
    const input = { items: [protein(INSULIN_A)], idempotencyKey: 'slow' };
    const submit = async () => at((await slow.query(SUBMIT, { input })).data, 'submitFold');
    const first = submit();
    await expect.poll(() => held.length).toBe(1);
    // However long it takes: it says from time to time that it goes on.
    const database = openSqlite(`${folder}/gateway.db`);
    database.exec(`UPDATE entry SET at = at - 260000 WHERE kind = 'key'`);
    const newest = database.prepare(`SELECT max(at) AS at FROM entry WHERE kind = 'key'`);
    const age = () => Date.now() - Number(newest.get()?.at);
    await expect.poll(age).toBeLessThan(10_000);
    database.close();
    const second = submit();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 31_000);
    onTestFinished(() => later.mockRestore());
    expect(await second).toMatchObject({
      __typename: 'OutcomeUnknown',
      message: expect.stringContaining('has not ended yet'),
      hint: expect.stringMatching(/Send exactly the same again/),
    });
    later.mockRestore();
    held[0]?.();
    expect(await first).toMatchObject({ __typename: 'FoldSubmitted', replayed: false });
    expect(await submit()).toMatchObject({ __typename: 'FoldSubmitted', replayed: true });
    expect(held).toHaveLength(1);
    await slow.gateway.close();
    await liar.close();
  });

  it('says that an outcome is unknown when its process was killed while it submitted, and sends nothing', async () => {
    const env = { STORE_URL: `sqlite:${folder}/gateway.db`, UPSTREAM_TIMEOUT_FACTOR: '1' };
    const killed = await openBench(env);
    const input = { items: [protein(INSULIN_A)], idempotencyKey: 'cut off' };
    await killed.submit(input);
    await killed.close();
    // A killed process leaves a key that is taken, and no outcome.
    const database = openSqlite(`${folder}/gateway.db`);
    database.exec(
      `UPDATE entry SET text = json_set(text, '$.state', 'pending'), at = at - 400000 WHERE kind = 'key';
       DELETE FROM entry WHERE kind = 'batch'`,
    );
    database.close();
    const restarted = await openBench(env);
    const { data } = await restarted.ask(SUBMIT, { input });
    expect(at(data, 'submitFold')).toMatchObject({
      __typename: 'OutcomeUnknown',
      message: expect.stringContaining('has ended before it knew the outcome'),
      idempotencyKey: 'cut off',
    });
    expect(restarted.counts()).toEqual({});
    await restarted.close();
  });
});
