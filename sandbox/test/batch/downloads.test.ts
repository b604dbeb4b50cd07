// The files of the signed URLs of Status: no bearer token, Range, expiry, fresh URLs at each
// reading.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ManualClock } from '../../src/clock.ts';
import type { Sandbox } from '../../src/sandbox.ts';
import { batch, type client, fold, HOUR, input, isJson, MINUTE, readText, startHeld } from './harness.ts';

let sandbox: Sandbox;
let clock: ManualClock;
let call: ReturnType<typeof client>;
let taskId: string;
let whole: Uint8Array;

const responseUrl = async (): Promise<string> =>
  readText((await call('status', { task_id: taskId })).data, 'response');

beforeAll(async () => {
  ({ sandbox, clock, call } = await startHeld({ dialect: 'rich' }));
  const { data } = await call('submit', batch([fold('MKTAYIAKQR', { include_pae: true })]));
  taskId = readText(data, 'task_id');
  clock.advance(MINUTE);
  whole = new Uint8Array(await (await fetch(await responseUrl())).arrayBuffer());
});
afterAll(() => sandbox.close());

test('the response is the folding result as JSON, exactly the parts that were asked for', async () => {
  const response = await fetch(await responseUrl());
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('content-length')).toBe(String(whole.length));
  const result: unknown = await response.json();
  expect(result).toMatchObject({
    pair_chains_iptm: null,
    output_embedding_sequence: null,
    ptm: expect.any(Number),
  });
  expect(isJson(result) && Array.isArray(result.pae) ? result.pae.length : 0).toBe(10);
});

test('an artifact comes with the finished task and says how long its URL lives', async () => {
  const { data } = await call('status', { task_id: taskId });
  expect(data.artifacts_expire_in).toBe(900);
  const url = readText(isJson(data.artifacts) ? data.artifacts : {}, 'confidence');
  const confidence: unknown = await (await fetch(url)).json();
  expect(confidence).toMatchObject({ ptm: expect.any(Number), mean_plddt: expect.any(Number) });
  clock.advance(900_000);
  expect((await fetch(url)).status).toBe(403);
});

test('any range of bytes is the same bytes of the whole', async () => {
  const url = await responseUrl();
  const { length } = whole;
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: length + 5 }), fc.nat({ max: length + 5 }), async (a, b) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const response = await fetch(url, { headers: { range: `bytes=${from}-${to}` } });
      if (from >= length) {
        expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${length}`]);
        return;
      }
      const last = Math.min(to, length - 1);
      expect(response.status).toBe(206);
      expect(response.headers.get('content-range')).toBe(`bytes ${from}-${last}/${length}`);
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(whole.slice(from, last + 1));
    }),
    { numRuns: 60 },
  );
});

test('open, suffix and unreadable ranges; entity tags; HEAD', async () => {
  const url = await responseUrl();
  const get = (headers: Record<string, string>, method = 'GET') => fetch(url, { headers, method });
  const open = await get({ range: `bytes=${whole.length - 3}-` });
  expect(new Uint8Array(await open.arrayBuffer())).toEqual(whole.slice(-3));
  const suffix = await get({ range: 'bytes=-5' });
  expect([suffix.status, new Uint8Array(await suffix.arrayBuffer())]).toEqual([206, whole.slice(-5)]);
  for (const range of ['bytes=5-2', 'lines=1-2', 'bytes=0-1,3-4', 'bytes=-'])
    expect((await get({ range })).status).toBe(200);
  expect((await get({ range: 'bytes=-0' })).status).toBe(416);
  const etag = open.headers.get('etag') ?? '';
  expect((await get({ 'if-none-match': etag })).status).toBe(304);
  expect((await get({ 'if-range': etag, range: 'bytes=0-1' })).status).toBe(206);
  expect((await get({ 'if-range': '"other"', range: 'bytes=0-1' })).status).toBe(200);
  const head = await get({}, 'HEAD');
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
    200,
    String(whole.length),
    '',
  ]);
});

test('a URL expires after its hour; reading Status again gives a fresh one', async () => {
  const url = await responseUrl();
  clock.advance(HOUR);
  const expired = await fetch(url);
  expect(expired.status).toBe(403);
  expect(await expired.json()).toMatchObject({ error: expect.stringContaining('expired') });
  expect((await fetch(await responseUrl())).status).toBe(200);
});

test('a URL that is not signed, or signed for another file, opens nothing', async () => {
  const url = new URL(await responseUrl());
  const other = new URL(url);
  other.pathname = `/downloads/artifacts/${taskId}/confidence.json`;
  expect((await fetch(other)).status).toBe(403);
  url.searchParams.delete('signature');
  expect((await fetch(url)).status).toBe(403);
});

test('the folded chains bear the names that the input gave them, or the first free letters', async () => {
  const sequences = [
    { type: 'rna', sequence: 'GGCUUC' },
    { type: 'protein', id: ['B', 'heavy'], sequence: 'MKTAY' },
    { type: 'dna', sequence: 'ACGT', id: null },
    { type: 'protein', sequence: 'GGSGG' },
  ];
  const { data } = await call('submit', batch([input({ sequences })]));
  clock.advance(MINUTE);
  const answer = await call('status', { task_id: data.task_id });
  const result: unknown = await (await fetch(readText(answer.data, 'response'))).json();
  expect(result).toMatchObject({
    complex: { metadata: { chain_lookup: { 0: 'A', 1: 'B', 2: 'heavy', 3: 'C', 4: 'D' } } },
  });
});
