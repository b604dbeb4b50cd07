// Addresses of results and structures that open without a token: what they grant and what not, for
// how long, at which replicas, what they cost upstream, and that they stand in no log.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { testLogger } from '../record.ts';
import { serve } from '../subscriptions/streams.ts';
import { until } from '../subscriptions/support.ts';
import { at, openWorld, type World } from '../support.ts';
import { type Bench, INSULIN_A, openBench, protein } from './bench.ts';

const TOKEN = 'key-of-a-test';
const LINKS = `query($id: ID!) { task(taskId: $id) { result { resultUrl signedUrl
  cif: structure(format: MMCIF) { url signedUrl } pdb: structure(format: PDB) { signedUrl } embeddings { signedUrl } } } }`;

const folder = mkdtempSync(join(tmpdir(), 'foldatlas-links-'));
const lines: string[] = [];
let bench: Bench;
let taskId: string;
beforeAll(async () => {
  bench = await openBench({ CORS_ORIGINS: 'https://app.example' }, { limits: { runningTasks: 100 } });
  const batchId = await bench.submit({
    items: [{ ...protein(INSULIN_A, 'Insulin A'), includeEmbeddings: true }, protein('MQIFVKTLTGK')],
  });
  await bench.pass(60_000);
  taskId = `${batchId}-00000`;
});
afterAll(async () => {
  await bench.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => bench.forget());
afterEach(() => void vi.useRealTimers());

const links = async (id = taskId): Promise<unknown> => {
  const { data, errors } = await bench.ask(LINKS, { id });
  expect(errors ?? []).toEqual([]);
  return at(data, 'task.result');
};
const readLink = async (path = 'cif.signedUrl', id = taskId): Promise<string> =>
  String(at(await links(id), path));
const open = (url: string, init?: RequestInit, gateway: Gateway = bench.gateway) =>
  gateway.fetch(new Request(url, init));
const signatureIn = (link: string): string => /\/signed\/([^/]*)\//.exec(link)?.[1] ?? '';
/** The same, with the token. */
const withToken = (url: unknown) =>
  open(String(url), { headers: { authorization: `Bearer ${TOKEN}` } }).then((response) => response.text());

describe('a signed link', () => {
  it('opens without a header, and is the same file', async () => {
    const all = await links();
    for (const [signed, plain] of [
      ['signedUrl', 'resultUrl'],
      ['cif.signedUrl', 'cif.url'],
    ] as const) {
      const answer = await open(String(at(all, signed)));
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe(await withToken(at(all, plain)));
    }
    expect(await (await open(String(at(all, 'pdb.signedUrl')))).text()).toMatch(/^ATOM/m);
    // Viewers read the format from the end of the address.
    for (const [path, name] of [
      ['signedUrl', 'result.json'],
      ['cif.signedUrl', 'structure.cif'],
      ['pdb.signedUrl', 'structure.pdb'],
    ] as const)
      expect(String(at(all, path))).toMatch(new RegExp(`/${name}$`));
    const archive = new Uint8Array(await (await open(String(at(all, 'embeddings.signedUrl')))).arrayBuffer());
    expect([...archive.subarray(0, 2)]).toEqual([0x50, 0x4b]);
  });

  it('costs one Status call to make, and one download to open', async () => {
    const link = await readLink();
    expect(bench.counts()).toEqual({ status: 1, download: 1 });
    bench.forget();
    await (await open(link)).text();
    expect(bench.counts()).toEqual({ download: 1 });
    expect(bench.calls[0]?.headers.authorization).toBeUndefined();
  });

  it('may be read by pages of any site, cached by nobody, and sends no referrer', async () => {
    const { headers } = await open(await readLink(), { headers: { origin: 'https://molstar.org' } });
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'private, no-store',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-type': 'chemical/x-mmcif; charset=utf-8',
      'content-disposition': expect.stringContaining('filename="Insulin_A.cif"'),
    });
    expect(headers.has('access-control-allow-credentials')).toBe(false);
    // Without a signature the file stays closed to other sites.
    const plain = await open(String(at(await links(), 'cif.url')), {
      headers: { origin: 'https://molstar.org', authorization: `Bearer ${TOKEN}` },
    });
    expect(plain.headers.has('access-control-allow-origin')).toBe(false);
  });

  it('answers HEAD and ranges', async () => {
    const link = await readLink();
    const whole = await (await open(link)).text();
    const part = await open(link, { headers: { range: 'bytes=5-14' } });
    expect([part.status, await part.text()]).toEqual([206, whole.slice(5, 15)]);
    const head = await open(link, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('shows neither the token, nor the caller, nor the address of the service', async () => {
    const all = await links();
    const link = String(at(all, 'signedUrl'));
    const status = await fetch(`${bench.sandboxUrl}/api/v1/batch/status`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ task_id: taskId }),
    });
    const upstream = new URL(String(at(await status.json(), 'data.response')));
    const sealed = Buffer.from(signatureIn(link).slice(2), 'base64url');
    for (const text of [link, sealed.toString('latin1')])
      for (const secret of [TOKEN, upstream.host, upstream.search.slice(1)])
        expect(text).not.toContain(secret);
    // Each is sealed anew.
    expect(await readLink('signedUrl')).not.toBe(link);
  });

  it('opens one file of one task only', async () => {
    const link = await readLink();
    const refused = async (url: string) => {
      const answer = await open(url);
      expect(await answer.text()).toContain('not valid for this file');
      expect(answer.headers.get('cache-control')).toBe('private, no-store');
      return answer.status;
    };
    bench.forget();
    expect(await refused(link.replace('structure.cif', 'structure.pdb'))).toBe(403);
    expect(await refused(link.replace('structure.cif', 'result.json'))).toBe(403);
    expect(await refused(link.replace('-00000/', '-00001/'))).toBe(403);
    const at10 = link.indexOf('/signed/') + 30;
    const other = link.charAt(at10) === 'A' ? 'B' : 'A';
    expect(await refused(link.slice(0, at10) + other + link.slice(at10 + 1))).toBe(403);
    for (const wrong of ['', '1.', '2.AAAA', `1.${'A'.repeat(100)}`, '%00', 'x'.repeat(5000)])
      expect(await refused(link.replace(/signed\/[^/]*/, `signed/${wrong}`))).toBe(403);
    expect(bench.counts()).toEqual({});
    // A link grants nothing but its file: neither the task nor its batch.
    const { headers } = await open(link);
    expect(headers.has('set-cookie')).toBe(false);
  });

  it('is not weakened by a token that stands beside it', async () => {
    const link = (await readLink()).replace('structure.cif', 'structure.pdb');
    expect((await open(link, { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(403);
  });

  it('expires after 15 minutes', async () => {
    const link = await readLink();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 14 * 60_000 });
    expect((await open(link)).status).toBe(200);
    vi.setSystemTime(Date.now() + 61_000);
    const late = await open(link);
    expect([late.status, await late.text()]).toEqual([
      403,
      'This link has expired: links open for 15 minutes. Ask for `signedUrl` again.\n',
    ]);
  });

  it('expires with the address that the service signed, without a second try', async () => {
    const link = await readLink('signedUrl');
    await bench.fault({ operation: 'download', status: 403, body: 'expired' });
    bench.forget();
    const answer = await open(link);
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('has expired')]);
    expect(bench.counts()).toEqual({ download: 1 });
  });

  it('is not made for another caller', async () => {
    const { data } = await bench.ask(LINKS, { id: taskId }, 'another-key');
    expect(at(data, 'task')).toBeNull();
  });

  it('is null where the service sends the result inside its answer', async () => {
    const id = taskId.replace('-00000', '-00001');
    const body = { status: 'success', data: { status: 'done', response: { ptm: 0.5 } } };
    await bench.fault({ operation: 'status', status: 200, body, times: 3 });
    const { data } = await bench.ask('query($id: ID!) { task(taskId: $id) { result { signedUrl } } }', {
      id,
    });
    expect(at(data, 'task.result')).toEqual({ signedUrl: null });
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
  });
});

describe('the replicas of a gateway', () => {
  const LEDGER_URL = `sqlite:${join(folder, 'ledger.db')}`;
  const FIRST = 'the first secret of the gateway';
  const replica = (secret: string): Gateway => {
    const settings = { LEDGER_URL, GATEWAY_SECRET: secret };
    return createGateway({
      config: readConfig({ STORE_URL: 'memory:', ...settings }),
      upstreamUrl: bench.sandboxUrl,
      log: testLogger((line) => lines.push(line)),
    });
  };
  const linkAt = async (gateway: Gateway): Promise<string> => {
    const response = await gateway.fetch(
      new Request('http://gateway.test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ query: LINKS, variables: { id: taskId } }),
      }),
    );
    return String(at(await response.json(), 'data.task.result.signedUrl'));
  };

  it('open the links of each other, and none of another secret', async () => {
    const [one, two, other] = [replica(FIRST), replica(FIRST), replica('the second secret of the gateway')];
    const link = await linkAt(one);
    expect((await open(link, undefined, two)).status).toBe(200);
    expect((await open(link, undefined, other)).status).toBe(403);
    // A link that was sealed elsewhere never opens here.
    expect((await open(link)).status).toBe(403);
    await Promise.all([one, two, other].map((gateway) => gateway.close()));
  });

  it('write no signature down, whatever comes of a link', async () => {
    const gateway = replica(FIRST);
    const link = await linkAt(gateway);
    const signature = signatureIn(link);
    lines.length = 0;
    const served = await serve(gateway);
    const there = link.replace('http://gateway.test', new URL(served.url).origin);
    await (await fetch(there)).text();
    await (await fetch(there.replace('result.json', 'structure.cif'))).text();
    await bench.fault({ operation: 'download', status: 500, times: 9 });
    expect((await fetch(there)).status).toBe(503);
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
    await served.close();
    await gateway.close();
    expect(lines.join('\n')).toContain('/tasks/{taskId}/{file}');
    expect(signature.length).toBeGreaterThan(100);
    expect(lines.join('\n')).not.toContain(signature.slice(0, 20));
    expect(lines.join('\n')).not.toContain('/downloads/');
  });
});

describe('a gateway that holds the key', () => {
  let world: World;
  const headers = { authorization: 'Bearer a-key-of-this-gateway' };
  beforeAll(async () => {
    world = await openWorld(
      { UPSTREAM_API_KEY: 'the-key-of-the-service', GATEWAY_API_KEYS: 'a-key-of-this-gateway' },
      { speed: 1000 },
    );
  });
  afterAll(() => world.close());

  it('opens its links to folds and to proteins without a key, and nothing else', async () => {
    const hash = '12e9c9e4e2835c302e8ba615115edda3';
    const submitted = await world.query(
      `mutation { submitFold(input: { items: [{ name: "n", chains: [{ protein: { sequence: "${INSULIN_A}" } }] }] }) { ... on FoldSubmitted { batch { tasks { nodes { taskId } } } } } }`,
      {},
      headers,
    );
    const id = String(at(submitted.data, 'submitFold.batch.tasks.nodes.0.taskId'));
    let fold: unknown = null;
    await until('the fold', async () => {
      fold = at((await world.query(LINKS, { id }, headers)).data, 'task.result');
      return fold != null;
    });
    const { data } = await world.query(
      `{ protein(hash: "${hash}") { structure(format: MMCIF, plddtScale: UNIT) { url signedUrl } } }`,
      {},
      headers,
    );
    const ofProtein = at(data, 'protein.structure');
    world.forget();
    for (const url of [at(fold, 'signedUrl'), at(fold, 'cif.signedUrl'), at(ofProtein, 'signedUrl')]) {
      const answer = await open(String(url), undefined, world.gateway);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('private, no-store');
      await answer.text();
    }
    for (const { headers: sent } of world.calls) expect(sent.authorization).toBeUndefined();
    for (const url of [at(fold, 'resultUrl'), at(fold, 'cif.url'), at(ofProtein, 'url')])
      expect((await open(String(url), undefined, world.gateway)).status).toBe(401);
    const moved = String(at(ofProtein, 'signedUrl')).replace(hash, hash.replace('1', '2'));
    expect((await open(moved, undefined, world.gateway)).status).toBe(403);
  });
});
