// The doctor: it finds nothing wrong with a service that keeps to its shapes, names what differs
// and the setting that bridges it, costs nothing, and tells no secret.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/sandbox.ts';
import { readConfig } from '../../src/config.ts';
import { examine, type Report, reportText } from '../../src/doctor/doctor.ts';
import { openServiceConnections } from '../../src/upstream/http/connections.ts';
import { toUpstreamSettings } from '../../src/upstream/settings.ts';
import type { SeenCall } from '../support.ts';
import { type Change, type ChangingProxy, inJson, openProxy, renamedKey } from './proxy.ts';

const TOKEN = 'a-token-that-nobody-may-see';

let sandbox: Sandbox;
let rich: Sandbox;
let proxy: ChangingProxy;
const calls: SeenCall[] = [];
const connections = openServiceConnections();

beforeAll(async () => {
  const onRequest = (call: SeenCall) => void calls.push(call);
  sandbox = await startSandbox({ size: 'small', speed: 10_000, onRequest });
  rich = await startSandbox({ size: 'small', dialect: 'rich' });
  proxy = await openProxy(sandbox.url, true);
});
afterEach(() => {
  proxy.change(undefined);
  proxy.reroute(undefined);
});
afterAll(async () => {
  await Promise.all([connections.close(), proxy.close()]);
  await Promise.all([sandbox.close(), rich.close()]);
});

const doctor = (
  url: string = proxy.url,
  {
    token = TOKEN,
    env = {},
    batchId,
  }: { token?: string | null; env?: Record<string, string>; batchId?: string } = {},
): Promise<Report> =>
  examine(
    {
      // Files are at the sandbox, whose address is not that of the proxy.
      settings: toUpstreamSettings(readConfig({ DOWNLOAD_HOSTS: new URL(sandbox.url).host, ...env }), url),
      connections,
      token: token ?? undefined,
      requestId: 'test',
      signal: undefined,
    },
    { sandbox: false, batchId },
  );

const differing = ({ checks }: Report) =>
  checks.flatMap(({ name, differences = [] }) => differences.map((difference) => ({ name, ...difference })));

/** A batch with some tasks, all of them done. */
async function finishedBatch(): Promise<string> {
  const post = async (operation: string, body: unknown) => {
    const response = await fetch(`${sandbox.url}/api/v1/batch/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return Object(await response.json()).data;
  };
  const input = { sequences: [{ type: 'protein', id: 'A', sequence: 'MQIFVKTLTG' }] };
  const payload = [{ model: 'foldmodel2-2026-05-cutoff-2025', all_atom_input: input }];
  const { batch_id } = await post('submit', { endpoint: 'fold_max_accuracy', payload, repeat: 3 });
  await expect.poll(async () => (await post('list', { batch_id })).status).toBe('done');
  return String(batch_id);
}

/** A service of a test's own. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a service that is as expected', () => {
  it.each([
    ['plain', () => sandbox.url],
    ['rich', () => rich.url],
  ])('is fine in every check: %s', async (_, url) => {
    const report = await doctor(url());
    expect(report.checks.filter(({ status }) => status !== 'OK')).toEqual([]);
    expect(report.status).toBe('OK');
    expect(report.checks.length).toBeGreaterThan(20);
  });

  it('is asked for nothing that costs, and is shown the token only where it belongs', async () => {
    calls.length = 0;
    await doctor(sandbox.url);
    const asked = calls.map(({ operation }) => operation);
    expect(asked).toEqual(
      expect.arrayContaining(['list', 'status', 'cancel', 'bulk', 'bulkJob', 'similarity']),
    );
    expect(asked).not.toContain('submit');
    for (const { path, headers, body, operation } of calls) {
      if (operation === 'cancel') expect(body).toContain('foldatlas-doctor-no-such-id');
      if (operation === 'protein') expect(path).toContain('fold_on_miss=false');
      if (path.startsWith('/atlas/')) expect(headers.authorization).toBeUndefined();
    }
  });

  it('is asked without a token for what needs none', async () => {
    const report = await doctor(sandbox.url, { token: null });
    expect(report.status).toBe('OK');
    expect(report.checks.filter(({ status }) => status === 'SKIPPED').map(({ note }) => note)).toEqual(
      Array.from({ length: 4 }, () => 'needs a token'),
    );
  });

  it('has the pages and a task of a batch read on request', async () => {
    const batchId = await finishedBatch();
    const report = await doctor(sandbox.url, { batchId });
    expect(differing(report)).toEqual([]);
    const own = ['list, own batch', 'list, next page', 'status, own task', 'result, own task'];
    expect(report.checks.slice(-4).map(({ name, status }) => [name, status])).toEqual(
      own.map((name) => [name, 'OK']),
    );
    expect(JSON.stringify(report) + reportText(report)).not.toMatch(
      /https?:\/\/(?!127\.0\.0\.1:\d+")\S*signature/i,
    );
  });

  it.each([
    [206, '{', 'OK'],
    [200, '{}', 'OK'],
    [200, '', 'CHANGED'],
    [403, 'no', 'CHANGED'],
    [404, 'no', 'CHANGED'],
    [302, '', 'CHANGED'],
    [500, '', 'UNREACHABLE'],
  ])('has one byte of a result read, without the token: HTTP %i with %j is %s', async (status, body, expected) => {
    const seen: string[] = [];
    const files = await serve(({ method, headers }, response) => {
      seen.push(`${method} ${headers.range} ${headers.authorization}`);
      response.writeHead(status, { location: '/', 'content-type': 'application/json' }).end(body);
    });
    const batchId = await finishedBatch();
    proxy.change(edited(/\/status$/, 'response', `${files}/result.json?signature=secret`));
    const report = await doctor(proxy.url, { env: { DOWNLOAD_HOSTS: new URL(files).host }, batchId });
    expect(report.checks.at(-1)).toMatchObject({ name: 'result, own task', status: expected });
    expect(seen).toEqual(['GET bytes=0-0 undefined']);
    expect(JSON.stringify(report)).not.toContain('secret');
  });

  it('has a task that is done read, not the first one', async () => {
    const batchId = await finishedBatch();
    let list = 0;
    proxy.change(
      inJson(/\/list$/, (fields) => {
        if (Array.isArray(fields.items) && fields.items.length > 0 && list++ === 0)
          fields.items = [{ ...fields.items[0], status: 'error' }];
      }),
    );
    const report = await doctor(proxy.url, { batchId });
    expect(report.checks.at(-1)).toMatchObject({ name: 'result, own task', status: 'OK' });
  });
});

const answers =
  (path: RegExp, edit: Partial<{ status: number; type: string; body: Buffer }>): Change =>
  (answer, question) => {
    if (path.test(question.path)) Object.assign(answer, edit);
  };
const edited = (path: RegExp, key: string, value: unknown): Change =>
  inJson(path, (fields) => {
    if (Object.hasOwn(fields, key)) fields[key] = value;
  });
const RECORD = /\/proteins\/[0-9a-f]{32}\?/;

describe('a service that changed', () => {
  it.each<[string, Change, object]>([
    [
      'a key has another name',
      renamedKey(/\/uniprot\//, 'organism', 'species'),
      { name: 'uniprot', path: '$.organism', expected: 'string', seen: 'nothing' },
    ],
    [
      'a key in a list has another name',
      renamedKey(RECORD, 'value', 'activation'),
      { name: 'protein', path: '$.sae_features[].value', expected: 'number', seen: 'nothing' },
    ],
    [
      'an optional value has another type',
      edited(RECORD, 'ptm', 'high'),
      { name: 'protein', path: '$.ptm', expected: 'number', seen: 'string' },
    ],
    [
      'a score is out of its range',
      edited(/similarity/, 'similarity_score', 7),
      {
        name: 'similarity',
        path: '$.similar_proteins[].similarity_score',
        expected: 'a number from 0 to 1',
        seen: '7',
      },
    ],
    [
      'a list is no list',
      edited(/\/clusters\//, 'member_protein_hashes', 'many'),
      { name: 'cluster', path: '$.member_protein_hashes', expected: 'array', seen: 'string' },
    ],
    [
      'a row of the catalogue lost its label',
      renamedKey(/\/features$/, 'label', 'title'),
      { name: 'features', path: '$[].label', expected: 'string', seen: 'nothing' },
    ],
    [
      'another status',
      answers(/\/features\/99999999$/, { status: 400 }),
      { name: 'feature, unknown index', path: 'HTTP status', expected: '404', seen: '400' },
    ],
    [
      'a page instead of JSON',
      answers(/\/clusters\//, { type: 'text/html', body: Buffer.from('<html>') }),
      { name: 'cluster', path: 'content-type', expected: 'JSON', seen: 'text/html' },
    ],
    [
      'a 404 of a server without the route',
      answers(/\/proteins\/0{32}\?/, { body: Buffer.from('{"detail":"Not Found"}') }),
      { name: 'protein, unknown hash', path: '$', seen: 'a bare 404' },
    ],
    [
      'another type of thumbnail',
      answers(/thumbnail\/plddt/, { status: 422, type: 'application/json' }),
      { name: 'thumbnail, plddt', path: 'HTTP status', seen: '422', setting: 'UPSTREAM_THUMBNAILS' },
    ],
    [
      'an archive that is none',
      answers(/\/proteins\/batch$/, { status: 200, body: Buffer.from('PK') }),
      { name: 'bulk', path: 'archive', expected: 'a whole zip that can be read' },
    ],
  ])('is told where: %s', async (_, change, difference) => {
    proxy.change(change);
    const report = await doctor();
    expect(report.status).toBe('CHANGED');
    expect(differing(report)).toContainEqual(expect.objectContaining(difference));
  });

  it('is told of a new key, and nothing is wrong', async () => {
    proxy.change(inJson(/\/uniprot\//, (fields) => Object.assign(fields, { taxon: 9606 })));
    const report = await doctor();
    expect(report.status).toBe('OK');
    expect(report.checks.find(({ name }) => name === 'uniprot')?.added).toEqual(['$.taxon']);
  });

  it.each([
    { UPSTREAM_LIST_FIELDS: 'page_size, cursor' },
    { UPSTREAM_LIST_FIELDS: 'limit, page_token' },
  ])("is found out by the names of List's fields: %j", async (env) => {
    const report = await doctor(sandbox.url, { env, batchId: await finishedBatch() });
    expect(differing(report)).toMatchObject([{ path: 'HTTP status', setting: 'UPSTREAM_LIST_FIELDS' }]);
  });

  it.each<[string, Change]>([
    [
      'a page size',
      inJson(/\/list$/, (fields) => {
        if (Array.isArray(fields.items)) fields.items = fields.items.flatMap((item) => [item, item]);
      }),
    ],
    [
      'a cursor',
      inJson(/\/list$/, (fields) => {
        if (Array.isArray(fields.items) && fields.items.length > 0)
          fields.items = [{ ...fields.items[0], task_id: 'always-the-same' }];
      }),
    ],
  ])('is found out by a List that ignores %s', async (_, change) => {
    const batchId = await finishedBatch();
    proxy.change(change);
    expect(differing(await doctor(proxy.url, { batchId }))).toContainEqual(
      expect.objectContaining({ path: '$.items', setting: 'UPSTREAM_LIST_FIELDS' }),
    );
  });

  it('is found out by another prefix, which names the setting', async () => {
    proxy.reroute((path) =>
      path.startsWith('/atlas/protein/api/v1beta1')
        ? path.replace('v1beta1', 'v1alpha1')
        : path.replace('v1alpha1', 'gone'),
    );
    const report = await doctor();
    expect(differing(report)).toMatchObject([
      { name: 'prefix, atlas', seen: 'no such answer (HTTP 404)', setting: 'UPSTREAM_ATLAS_PREFIX' },
    ]);
  });

  it('holds no value of an answer, no token and no control characters', async () => {
    const secret = 'https://files.example.org/x?signature=abc\u001b[31m';
    proxy.change(inJson(/./, (fields) => Object.assign(fields, { [secret]: secret, organism: [secret] })));
    const report = await doctor();
    expect(report.status).toBe('CHANGED');
    for (const text of [reportText(report), JSON.stringify(report)]) {
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain('signature');
      expect(text).not.toContain('\u001b');
    }
  });
});

describe('a prefix', () => {
  it.each([
    ['a record of the Atlas', 200, { feature_index: 7 }],
    ['a refusal of the Batch API', 401, { message: 'Unauthorized' }],
  ])('is not believed where every path is answered with %s', async (_, status, body) => {
    const url = await serve((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const report = await doctor(url);
    expect(report.checks.map(({ name, status: state }) => [name, state])).toEqual([
      ['prefix, atlas', 'CHANGED'],
      ['prefix, batch', 'CHANGED'],
    ]);
    expect(differing(report).map(({ setting }) => setting)).toEqual([
      'UPSTREAM_ATLAS_PREFIX',
      'UPSTREAM_BATCH_PREFIX',
    ]);
  });
});

it.each([
  401, 403,
])('reports a token that is refused with %i as not seen, not as expected', async (status) => {
  proxy.change(
    answers(/\/batch\/(?:list|status|cancel)$/, { status, body: Buffer.from('{"message":"Refused"}') }),
  );
  const report = await doctor(proxy.url, { batchId: 'mine' });
  const unseen = report.checks.filter(({ status: state }) => state !== 'OK');
  expect(new Set(unseen.map(({ status: state, note }) => `${state}: ${note}`))).toEqual(
    new Set(['NOT_SEEN: the token is refused']),
  );
  expect(report.status).toBe('NOT_SEEN');
  expect(reportText(report)).not.toContain('as the gateway expects it');
});

it('says that a batch was not seen without a token', async () => {
  const report = await doctor(proxy.url, { token: null, batchId: 'mine' });
  expect(report.checks.filter(({ status }) => status === 'NOT_SEEN')).toEqual([
    { name: 'list, own batch', status: 'NOT_SEEN', note: 'needs a token' },
  ]);
  expect(report.status).toBe('NOT_SEEN');
});

it.each([
  400, 422,
])('says that the id of a batch is refused with %i, unless a field beside it is', async (status) => {
  const refuse = (isWrong: (body: string) => boolean) =>
    proxy.change((answer, { path, body }) => {
      if (!path.endsWith('/list') || !isWrong(body)) return;
      answer.status = status;
      answer.body = Buffer.from('{"message":"batch_id: Invalid"}');
    });
  refuse((body) => body.includes('"mine"'));
  const report = await doctor(proxy.url, { batchId: 'mine' });
  expect(report.checks.filter(({ status: state }) => state !== 'OK')).toEqual([
    { name: 'list, own batch', status: 'NOT_SEEN', http: status, note: 'the id is refused' },
  ]);
  refuse((body) => body.includes('"limit"'));
  const changed = (await doctor(proxy.url, { batchId: 'mine' })).checks.find(
    ({ name }) => name === 'list, own batch',
  );
  expect(changed).toMatchObject({ status: 'CHANGED', differences: [{ setting: 'UPSTREAM_LIST_FIELDS' }] });
});

it('says that a batch does not exist for the token, not that the service has changed', async () => {
  for (const batchId of ['nope', '00000000-0000-4000-8000-000000000000']) {
    const report = await doctor(proxy.url, { batchId });
    expect(report.checks.filter(({ status }) => status !== 'OK')).toEqual([
      {
        name: 'list, own batch',
        status: 'NOT_SEEN',
        http: 404,
        note: 'there is no such batch for this token',
      },
    ]);
    expect(report.status).toBe('NOT_SEEN');
  }
  // A bare 404 is no word of the API about the batch.
  proxy.change((answer, { path, body }) => {
    if (path.endsWith('/list') && body.includes('nope')) answer.body = Buffer.from('{"detail":"Not Found"}');
  });
  expect((await doctor(proxy.url, { batchId: 'nope' })).status).toBe('CHANGED');
});

it('a service that cannot be reached, or fails, is no changed one', async () => {
  expect((await doctor('http://127.0.0.1:9')).status).toBe('UNREACHABLE');
  proxy.change(answers(/\/clusters\//, { status: 503 }));
  const report = await doctor();
  expect(report.status).toBe('UNREACHABLE');
  expect(report.checks.find(({ name }) => name === 'cluster')).toMatchObject({
    status: 'UNREACHABLE',
    http: 503,
  });
});
