// The files of a finished task over HTTP: whole, in ranges, under the item's name, only for the
// caller they belong to.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { byteRange } from '../../src/http/routes/responses.ts';
import { at, listAt } from '../support.ts';
import { type Bench, INSULIN_A, openBench, protein } from './bench.ts';

let bench: Bench;
let taskId: string;
let json: string;
beforeAll(async () => {
  bench = await openBench({}, { dialect: 'rich', limits: { runningTasks: 100 } });
  const batchId = await bench.submit({ items: [protein(INSULIN_A, 'Insulin – chain "A"/2')] });
  await bench.pass(60_000);
  const { data } = await bench.ask('query($id: ID!) { batch(batchId: $id) { tasks { nodes { taskId } } } }', {
    id: batchId,
  });
  const [task] = listAt(data, 'batch.tasks.nodes');
  taskId = String(at(task, 'taskId'));
  json = await (await bench.download(`/tasks/${taskId}/result.json`)).text();
});
afterAll(() => bench.close());
beforeEach(() => bench.forget());

const get = (file: string, headers: Record<string, string> = {}, id = taskId, method = 'GET') =>
  bench.gateway.fetch(
    new Request(`http://gateway.test/tasks/${id}/${file}`, {
      method,
      headers: { authorization: 'Bearer key-of-a-test', ...headers },
    }),
  );

describe('HEAD', () => {
  it.each([
    'result.json',
    'structure.cif',
  ])('says of %s what GET would, whatever range is asked for', async (file) => {
    const whole = await get(file);
    const length = Buffer.byteLength(await whole.text());
    for (const range of ['bytes=10-19', 'bytes=999999999-']) {
      const answer = await get(file, { range }, taskId, 'HEAD');
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-length')).toBe(String(length));
      expect(answer.headers.get('content-range')).toBeNull();
      expect(answer.headers.get('etag')).toBe(whole.headers.get('etag'));
    }
  });
});

describe('result.json', () => {
  it('is the result, byte for byte, under the name of its item', async () => {
    const answer = await get('result.json');
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(json);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(json)));
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="Insulin_chain_A_2.json"; filename*=UTF-8''Insulin%20%E2%80%93%20chain%20%22A%22%2F2.json`,
    );
    expect(answer.headers.get('cache-control')).toMatch(/^private/);
    expect(answer.headers.get('vary')).toMatch(/authorization/i);
    expect(bench.counts()).toEqual({ status: 1, download: 1 });
  });

  it('comes in ranges', async () => {
    const answer = await get('result.json', { range: 'bytes=10-19' });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes 10-19/${Buffer.byteLength(json)}`);
    expect(await answer.text()).toBe(json.slice(10, 20));
    await bench.fault({ operation: 'download', status: 416, body: 'There is no such range.' });
    const beyond = await get('result.json', { range: 'bytes=999999999-' });
    expect([beyond.status, await beyond.text()]).toEqual([416, '']);
    expect(Number(beyond.headers.get('content-length'))).toBe(0);
  });

  it('announces ranges just where it answers them, as its service does', async () => {
    const announced = async () => {
      const whole = await get('result.json');
      await whole.text();
      const part = await get('result.json', { range: 'bytes=0-9' });
      return [whole.headers.get('accept-ranges'), part.status, (await part.text()).length];
    };
    expect(await announced()).toEqual(['bytes', 206, 10]);
    await bench.fault({ operation: 'download', status: 200, body: json, times: 2 });
    expect(await announced()).toEqual([null, 200, json.length]);
    for (const file of ['structure.cif', 'structure.cif?pae=1', 'structure.pdb', 'confidences.json']) {
      const whole = await get(file);
      await whole.arrayBuffer();
      const part = await get(file, { range: 'bytes=0-9' });
      await part.arrayBuffer();
      const hasRanges = whole.headers.get('accept-ranges') === 'bytes';
      expect([file, part.status]).toEqual([file, hasRanges ? 206 : whole.status]);
    }
  });

  it('is not sent again to a client that has it', async () => {
    const whole = await get('result.json');
    await whole.text();
    const etag = whole.headers.get('etag') ?? '';
    const same = await get('result.json', { 'if-none-match': etag });
    expect([same.status, await same.text(), same.headers.get('etag')]).toEqual([304, '', etag]);
  });

  it('renews an expired signature by itself', async () => {
    await bench.fault({ operation: 'download', status: 403, body: 'expired' });
    const answer = await get('result.json');
    expect(await answer.text()).toBe(json);
    expect(bench.counts()).toEqual({ status: 2, download: 2 });
  });

  it('has a name also when that of its item could break a header', async () => {
    const id = await bench.submit({
      items: [protein('GIV', '\ufffd\r\nx: y'), protein('EQC', ''), protein('CTS', 'x'.repeat(200))],
    });
    await bench.pass(60_000);
    const answer = await get('result.json', {}, `${id}-00000`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="_x_y.json"; filename*=UTF-8''%EF%BF%BD%0D%0Ax%3A%20y.json`,
    );
    await answer.body?.cancel();
    // An empty name is none: browsers would hide or rename the file.
    const unnamed = await get('structure.cif', {}, `${id}-00001`);
    expect(unnamed.headers.get('content-disposition')).toContain(`filename="${id}-00001.cif"`);
    await unnamed.body?.cancel();
    const long = await get('result.json', {}, `${id}-00002`);
    expect(long.headers.get('content-disposition')).toContain(`filename="${'x'.repeat(120)}.json"`);
    await long.body?.cancel();
  });

  it('may be left in the middle', async () => {
    const answer = await get('result.json');
    const reader = answer.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(await (await get('result.json')).text()).toBe(json);
  });

  it('answers HEAD without a body', async () => {
    const answer = await get('result.json', {}, taskId, 'HEAD');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(json)));
    expect(await answer.text()).toBe('');
  });
});

describe('structure.cif and structure.pdb', () => {
  it.each([
    ['cif', 'chemical/x-mmcif'],
    ['pdb', 'chemical/x-pdb'],
  ])('have as .%s the same text as in GraphQL, in ranges, with a tag', async (ending, type) => {
    const format = ending === 'cif' ? 'MMCIF' : 'PDB';
    const { data } = await bench.ask(
      'query($id: ID!, $format: StructureFormat) { task(taskId: $id) { result { structure(format: $format) { text url } } } }',
      { id: taskId, format },
    );
    const text = String(at(data, 'task.result.structure.text'));
    expect(at(data, 'task.result.structure.url')).toBe(
      `http://gateway.test/tasks/${taskId}/structure.${ending}`,
    );
    const whole = await get(`structure.${ending}`);
    expect(await whole.text()).toBe(text);
    expect(whole.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(whole.headers.get('content-disposition')).toContain(`filename="Insulin_chain_A_2.${ending}"`);
    const etag = whole.headers.get('etag') ?? '';
    expect((await get(`structure.${ending}`, { 'if-none-match': etag })).status).toBe(304);
    const part = await get(`structure.${ending}`, { range: 'bytes=-50', 'if-range': etag });
    expect(part.status).toBe(206);
    expect(await part.text()).toBe(text.slice(-50));
    expect((await get(`structure.${ending}`, { range: 'bytes=0-1', 'if-range': '"another"' })).status).toBe(
      200,
    );
  });
});

describe('what is not there', () => {
  it('is told by its status', async () => {
    expect((await get('result.json', {}, 'nobody')).status).toBe(404);
    expect((await get('result.json', { authorization: 'Bearer another-key' })).status).toBe(404);
    const revoked = await get('result.json', { authorization: 'Bearer sandbox-revoked' });
    expect([revoked.status, revoked.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await get('other.txt')).status).toBe(404);
    expect((await get('result.json', {}, taskId, 'DELETE')).status).toBe(405);
    expect((await get('embeddings.npz')).status).toBe(404);
    const waiting = await bench.submit({ items: [protein(INSULIN_A), protein('GIV')] });
    expect((await get('structure.cif', {}, `${waiting}-00001`)).status).toBe(409);
    await bench.fault({ operation: 'download', status: 500, times: 9 });
    expect((await get('result.json')).status).toBe(503);
    await fetch(`${bench.sandboxUrl}/control/faults`, { method: 'DELETE' });
  });

  it('is gone after 31 days, and what failed has failed still', async () => {
    const failing = { chains: [{ ligand: { ccd: ['ZZZZZ'] } }] };
    const id = await bench.submit({ items: [protein('GIV'), failing] });
    await bench.pass(31 * 24 * 3_600_000 + 60_000);
    expect((await get('result.json', {}, `${id}-00000`)).status).toBe(410);
    const failed = await get('result.json', {}, `${id}-00001`);
    expect([failed.status, await failed.text()]).toEqual([409, 'The task failed; there is no result.\n']);
  });
});

describe('a byte range', () => {
  it.each([
    [null, null],
    ['bytes=0-9', { start: 0, end: 10 }],
    ['bytes=90-', { start: 90, end: 100 }],
    ['bytes=90-1000', { start: 90, end: 100 }],
    ['bytes=-5', { start: 95, end: 100 }],
    ['bytes=-500', { start: 0, end: 100 }],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=9-3', null],
    ['bytes=0-1,4-5', null],
    ['items=0-1', null],
    ['bytes=-', null],
  ])('%j of 100 bytes', (header, expected) => {
    expect(byteRange(header, 100)).toEqual(expected);
  });
});
