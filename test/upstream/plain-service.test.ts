// A service that keeps to the specification and to none of the sandbox's habits: how it writes times and states, what it leaves out,
// and what it must not leave out.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseTime } from '../../src/upstream/time.ts';
import { VERSION } from '../../src/version.ts';
import { at } from '../support.ts';
import { HASH, type Liar, openLiar, openPlace, type Place, says } from './liar.ts';

let liar: Liar;
let place: Place;
beforeAll(async () => {
  liar = await openLiar();
  place = openPlace(liar.url);
});
afterAll(async () => {
  await place.gateway.close();
  await liar.close();
});
beforeEach(() => liar.reset());

const data = (fields: Record<string, unknown>, status = 200) =>
  says(status, { status: 'success', data: fields, request_id: 'r' });

describe('times', () => {
  it.each([
    ['2026-11-22T10:00:00', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22 10:00:00.123456', '2026-11-22T10:00:00.123Z'],
    ['2026-11-22T10:00', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22T10:00:00.5+02:00', '2026-11-22T08:00:00.500Z'],
    ['2026-11-22 10:00:00+00', '2026-11-22T10:00:00.000Z'],
    ['Sun, 22 Nov 2026 10:00:00 GMT', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  ])('%s is %s, wherever the gateway runs', (text, expected) => {
    const zone = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      expect(parseTime(text)?.toISOString()).toBe(expected);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it.each(['soon', '', '1'.repeat(100), ':11.1'.repeat(5000)])('%s is none', (text) =>
    expect(parseTime(text)).toBeNull());
});

describe('state words', () => {
  it('are read in any case, and `canceled` is cancelled', async () => {
    const counts = { Done: 1, CANCELED: 2, In_Progress: 3 };
    liar.script('list', data({ batch_id: 'b1', status: 'CANCELED', counts, cursor: null }));
    liar.script('status', data({ status: 'Queued' }));
    const query = `{ batch(batchId: "b1") { state counts { total done cancelled inProgress } } task(taskId: "b1-00000") { state } }`;
    expect((await place.query(query)).data).toEqual({
      batch: { state: 'CANCELLED', counts: { total: 6, done: 1, cancelled: 2, inProgress: 3 } },
      task: { state: 'QUEUED' },
    });
  });

  it('that no one knows stay UNKNOWN, in the total', async () => {
    liar.script('list', data({ status: 'Paused', counts: { Paused: 2, done: 1 } }));
    const query = '{ batch(batchId: "b1") { state counts { total done } } }';
    expect(at((await place.query(query)).data, 'batch')).toEqual({
      state: 'UNKNOWN',
      counts: { total: 3, done: 1 },
    });
  });
});

describe('every call', () => {
  it('names product and version', async () => {
    liar.script('status', data({ status: 'done', response: '/files/result.json' }));
    liar.script('file', says(200, { ptm: 0.5, complex: {} }));
    await place.query(`{ uniprotEntry(id: "P01308") { name } protein(hash: "${HASH}") { sequence }
      features(first: 1) { nodes { label } } task(taskId: "b1-00000") { result { ptm } } batch(batchId: "b1") { state } }`);
    await place.get(`/thumbnails/${HASH}/plddt.png`);
    await place.get('/ready');
    expect(liar.seen.length).toBeGreaterThan(6);
    for (const { operation, headers } of liar.seen)
      expect([operation, headers['user-agent']]).toEqual([operation, `FoldAtlas/${VERSION}`]);
  });
});
