// Failures of the service by every face of the gateway: each is counted with its code, drift with its place, and a client is told.
import { beforeEach, describe, expect, it } from 'vitest';
import { inTurn, openLyingPlace, says, TOKEN } from '../upstream/liar.ts';

const { liar, place } = await openLyingPlace();

const post = (path: string, body: unknown, accept: string) =>
  place.gateway.fetch(
    new Request(`http://gateway.test${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, accept },
      body: JSON.stringify(body),
    }),
  );
const read = (path: string) =>
  place.gateway.fetch(
    new Request(`http://gateway.test${path}`, { headers: { authorization: `Bearer ${TOKEN}` } }),
  );

/** Asks for a batch: the answer fails as its List does. */
const BATCH = '{ batch(batchId: "b1") { status } }';
const mcp = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'graphql', arguments: { query: BATCH } },
};
const FACES: Readonly<Record<string, () => Promise<Response>>> = {
  JSON: () => post('/graphql', { query: BATCH }, 'application/json'),
  'an event stream': () => post('/graphql', { query: BATCH }, 'text/event-stream'),
  multipart: () => post('/graphql', { query: BATCH }, 'multipart/mixed, application/json'),
  'a table': () => read('/batches/b1/scores.tsv'),
  'an archive': () => read('/batches/b1/results.zip'),
  'a tool': () => post('/mcp', mcp, 'application/json, text/event-stream'),
};

/** A subscription goes on where the service may recover. */
const subscribe = () =>
  post('/graphql', { query: 'subscription { batchProgress(batchId: "b1") { final } }' }, 'text/event-stream');

/** Sums of a counter by the value of a label. */
async function counts(name: string, label: string): Promise<Record<string, number>> {
  const text = await place.gateway.metrics.text();
  const lines = text.matchAll(new RegExp(`^foldatlas_${name}\\{.*?${label}="([^"]*)".*\\} (\\d+)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, value = '', count]) => [value, Number(count)]));
}

const FAILURES = {
  UPSTREAM_DRIFT: says(200, { data: { status: 'done', counts: { done: -1 }, items: [] } }),
  UPSTREAM_UNAVAILABLE: says(500, { message: 'broken' }),
  FORBIDDEN: says(403, { message: 'not allowed' }),
} as const;

beforeEach(() => liar.reset());

describe.each(Object.entries(FAILURES))('a failure with the code %s', (code, script) => {
  const faces = code === 'UPSTREAM_DRIFT' ? { ...FACES, 'a subscription': subscribe } : FACES;
  it.each(Object.entries(faces))('is counted once by %s', async (_, ask) => {
    liar.script('list', script);
    const before = await counts('errors_total', 'code');
    const driftsBefore = await counts('upstream_drifts_total', 'operation');
    const text = await (await ask()).text();
    expect(text.length).toBeGreaterThan(0);
    const after = await counts('errors_total', 'code');
    expect((after[code] ?? 0) - (before[code] ?? 0)).toBe(1);
    const drifts = await counts('upstream_drifts_total', 'operation');
    expect((drifts.list ?? 0) - (driftsBefore.list ?? 0)).toBe(code === 'UPSTREAM_DRIFT' ? 1 : 0);
  });
});

it('refuses parameters that an address does not have, and says which it has', async () => {
  for (const [path, known] of [
    ['/batches/b1/scores.tsv?orderBy=PTM', 'none'],
    ['/batches/b1/results.zip?first=5', 'none'],
    ['/tasks/b1-00000/structure.cif?pae=1&first=5', '`pae`'],
    ['/structures/12e9c9e4e2835c302e8ba615115edda3.pdb?Plddt=unit', '`plddt`'],
    ['/thumbnails/12e9c9e4e2835c302e8ba615115edda3/plddt.png?size=9', 'none'],
    ['/bulk/x/0.zip?a', 'none'],
  ] as const) {
    const answer = await read(path);
    expect(answer.status, path).toBe(400);
    expect(await answer.text()).toMatch(
      new RegExp(`^There is no parameter .* here. This address takes ${known}\\.\n$`),
    );
  }
  const exported = await post('/export.tsv?columns=hash&first=2', { ids: ['P01308'] }, '*/*');
  expect(await exported.text()).toContain('takes `columns`');
  expect(liar.seen).toEqual([]);
  expect((await read('/health?probe=1')).status).toBe(200);
});

it('counts what an export cannot look up', async () => {
  liar.script('bulk', says(200, { odd: true }));
  liar.script('protein', inTurn(says(200, { protein_hash: 5 })));
  const before = await counts('errors_total', 'code');
  const answer = await post('/export.tsv', { ids: ['12e9c9e4e2835c302e8ba615115edda3'] }, '*/*');
  expect(await answer.text()).toMatch(/UNAVAILABLE|changed/);
  const after = await counts('errors_total', 'code');
  expect(after.UPSTREAM_DRIFT ?? 0).toBeGreaterThan(before.UPSTREAM_DRIFT ?? 0);
});
