// When the upstream answers, but not what it promised: every lie is told from the truth, costs the
// branch that asked and nothing beside it, and shows no address, token or stack.
import { gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, at } from '../support.ts';
import {
  HASH,
  inTurn,
  type Liar,
  openLiar,
  openPlace,
  type Place,
  type Script,
  SEQUENCE,
  says,
  sends,
  TOKEN,
} from '../upstream/liar.ts';

let liar: Liar;
let place: Place;
/** Gives up soon. */
let impatient: Place;
beforeAll(async () => {
  liar = await openLiar();
  place = openPlace(liar.url);
  impatient = openPlace(liar.url, { UPSTREAM_TIMEOUT_FACTOR: '0.1' });
});
afterAll(async () => {
  await place.gateway.close();
  await impatient.gateway.close();
  await liar.close();
});
beforeEach(() => liar.reset());

const CARD = `{ uniprotEntry(id: "P01308") { name } protein(hash: "${HASH}") { sequence } limits { maxBulkHashes } }`;
const honestBody = JSON.stringify({ protein_hash: HASH, sequence: SEQUENCE });

const onlyError = ({ errors }: Answer) => {
  expect(errors, JSON.stringify(errors)).toHaveLength(1);
  expect(JSON.stringify(errors)).not.toMatch(/127\.0\.0\.1|stack|node_modules|\bat .*\.ts/);
  expect(JSON.stringify(errors)).not.toContain(TOKEN);
  return errors?.[0];
};

/**
 * Connections are let go of long before the limit of time ends them, which is 30 s for a protein.
 */
const nothingHeld = ({ gateway } = place) =>
  expect.poll(() => gateway.upstream().api.inFlight, { timeout: 25_000, interval: 5 }).toBe(0);

/** Writes some and then nothing. */
const begins =
  (bytes: string, headers: Record<string, string> = {}): Script =>
  ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.write(bytes);
  };

const drips: Script = ({ response }) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  let sent = 0;
  const timer = setInterval(() => response.write(honestBody[sent++] ?? ' '), 20);
  response.on('close', () => clearInterval(timer));
};

/** More bytes than any thumbnail has. */
const floods: Script = ({ response }) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const megabyte = Buffer.alloc(1024 * 1024, '[');
  const more = () => {
    while (!response.destroyed) if (!response.write(megabyte)) return;
  };
  response.on('drain', more);
  more();
};

describe('a body that is not what was promised', () => {
  it.each<[string, Script, string, RegExp]>([
    ['nothing', says(200, ''), 'UPSTREAM_DRIFT', /protein has changed at \$/],
    ['an HTML page', says(200, '<html>Welcome</html>'), 'UPSTREAM_DRIFT', /not JSON/],
    ['half of it', sends(Buffer.from(honestBody.slice(0, 20))), 'UPSTREAM_DRIFT', /not JSON/],
    [
      'less than its length says',
      ({ response }) => {
        response.writeHead(200, { 'content-length': '500' });
        response.write(honestBody, () => response.destroy());
      },
      'UPSTREAM_UNAVAILABLE',
      /protein broke off before its end/,
    ],
    ['a beginning and then nothing', begins('{"protein'), 'UPSTREAM_TIMEOUT', /in time/],
    ['a byte now and then', drips, 'UPSTREAM_TIMEOUT', /in time/],
    ['more than there can be', floods, 'UPSTREAM_DRIFT', /too large/],
    [
      'gzip that is none',
      sends(Buffer.from('no gzip at all'), { 'content-encoding': 'gzip' }),
      'UPSTREAM_DRIFT',
      /decompressed/,
    ],
    [
      'gzip that breaks off',
      sends(gzipSync(honestBody).subarray(0, 30), { 'content-encoding': 'gzip' }),
      'UPSTREAM_DRIFT',
      /decompressed/,
    ],
    [
      'gzip that inflates to more than there can be',
      sends(gzipSync(Buffer.alloc(80 * 1024 * 1024, '[')), { 'content-encoding': 'gzip' }),
      'UPSTREAM_DRIFT',
      /too large/,
    ],
    ['a list', says(200, []), 'UPSTREAM_DRIFT', /protein has changed at \$/],
    ['null', says(200, null), 'UPSTREAM_DRIFT', /protein has changed at \$/],
    ['a number for the hash', says(200, { protein_hash: 7 }), 'UPSTREAM_DRIFT', /\$\.protein_hash/],
    ['a redirect', says(302, '', { location: 'http://127.0.0.1:1/' }), 'UPSTREAM_DRIFT', /HTTP 302/],
    ['an informal status', says(418, 'teapot'), 'UPSTREAM_DRIFT', /HTTP 418/],
  ])('%s', async (_, script, code, message) => {
    liar.script('protein', script);
    const asked = code === 'UPSTREAM_TIMEOUT' ? impatient : place;
    const answer = await asked.query(CARD);
    const error = onlyError(answer);
    expect(error).toMatchObject({
      path: ['protein'],
      extensions: { code, upstream: { operation: 'protein' } },
    });
    expect(error?.message).toMatch(message);
    expect(at(answer.data, 'uniprotEntry.name')).toBe('Insulin');
    expect(at(answer.data, 'limits.maxBulkHashes')).toBe(500);
    // Nothing of it is held on to.
    await nothingHeld(asked);
  });

  it('is read where it is readable all the same: compressed, with a byte order mark, with NaN', async () => {
    const card = '{ uniprotEntry(id: "P01308") { name gene } }';
    for (const script of [
      sends(gzipSync('{"protein_name":"Protéine","gene":"INS"}'), { 'content-encoding': 'gzip' }),
      sends(Buffer.from('\ufeff{"protein_name":"Protéine","gene":"INS"}'), { 'content-type': 'text/plain' }),
      sends(Buffer.from('{"protein_name":"Protéine","gene":"INS","sequence_length":NaN}')),
    ]) {
      const fresh = openPlace(liar.url);
      liar.script('uniprot', script);
      expect(await fresh.query(card)).toEqual({ data: { uniprotEntry: { name: 'Protéine', gene: 'INS' } } });
      await fresh.gateway.close();
    }
  });

  it('is no picture, and is not kept as one', async () => {
    const path = `/thumbnails/${HASH}/plddt.png`;
    liar.script('thumbnail', says(200, '<html>Log in</html>'));
    expect((await place.get(path)).status).toBe(502);
    const png = Buffer.from('\x89PNG\r\n\x1a\nand so onIEND\xaeB`\x82', 'latin1');
    liar.script('thumbnail', sends(png, { 'content-type': 'image/png' }));
    const picture = await place.get(path);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  it('is nested deeper than anybody writes', async () => {
    for (const levels of [600, 50_000, 700_000]) {
      const deep = `{"protein_hash":"${HASH}","extra":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      liar.script('protein', sends(Buffer.from(deep)));
      const answer = await place.query(`{ protein(hash: "${HASH}") { raw } limits { maxItems } }`);
      expect(onlyError(answer)?.extensions.code, String(levels)).toBe('UPSTREAM_DRIFT');
      expect(at(answer.data, 'limits.maxItems')).toBe(2000);
    }
  });
});

describe('an archive that is not what was promised', () => {
  const OTHER = 'a'.repeat(32);
  const BULK = `{ proteins(hashes: ["${HASH}", "${OTHER}"]) { hash sequence } limits { maxItems } }`;
  const fasta = Buffer.from(`>${HASH}|P01308|uniprotkb\n${SEQUENCE}\n`);
  const zip = (files: Record<string, Uint8Array>) => zipSync(files, { level: 9 });
  const sendsZip = (bytes: Uint8Array) => sends(bytes, { 'content-type': 'application/zip' });
  const lies = (bytes: Uint8Array, find: string, at: number, value: number): Uint8Array => {
    const copy = Buffer.from(bytes);
    for (
      let from = copy.indexOf(find, 0, 'latin1');
      from !== -1;
      from = copy.indexOf(find, from + 4, 'latin1')
    )
      copy.writeUInt32LE(value, from + at);
    return copy;
  };

  it.each<[string, Uint8Array, string]>([
    ['JSON', Buffer.from('{"status":"success"}'), 'UPSTREAM_DRIFT'],
    ['nothing', Buffer.alloc(0), 'UPSTREAM_UNAVAILABLE'],
    ['half an archive', zip({ 'sequences.fasta': fasta }).subarray(0, 50), 'UPSTREAM_UNAVAILABLE'],
    [
      'a bomb: 60 MB of one letter in a few kilobytes',
      zip({ 'sequences.fasta': Buffer.alloc(60 * 1024 * 1024, 'A') }),
      'UPSTREAM_DRIFT',
    ],
    [
      'more entries than there can be',
      zip(
        Object.fromEntries(Array.from({ length: 5100 }, (_, i) => [`structures/x${i}.pdb`, Buffer.of(65)])),
      ),
      'UPSTREAM_DRIFT',
    ],
    [
      'sizes that lie: an entry that says it is small',
      lies(
        zip({ 'sequences.fasta': Buffer.concat([fasta, Buffer.alloc(100_000, 'A')]) }),
        'PK\x01\x02',
        24,
        100,
      ),
      'UPSTREAM_DRIFT',
    ],
    [
      'a checksum that lies',
      lies(zip({ 'sequences.fasta': fasta }), 'PK\x01\x02', 16, 1234),
      'UPSTREAM_DRIFT',
    ],
    ['a name that leads out', zip({ '../../etc/passwd': fasta }), 'UPSTREAM_DRIFT'],
    [
      'an archive in the archive',
      zip({ 'sequences.fasta': zip({ 'sequences.fasta': fasta }) }),
      'UPSTREAM_DRIFT',
    ],
  ])('%s', async (_, bytes, code) => {
    liar.script('bulk', sendsZip(bytes));
    const answer = await place.query(BULK);
    expect(answer.errors?.length, JSON.stringify(answer)).toBeGreaterThan(0);
    for (const error of answer.errors ?? []) {
      expect(error.extensions.code).toBe(code);
      expect(error.message).toMatch(/archive/);
      expect(error.path?.[0]).toBe('proteins');
    }
    expect(at(answer.data, 'limits.maxItems')).toBe(2000);
    await nothingHeld();
  });
});

describe('an answer of the Batch API that is not what was promised', () => {
  const enveloped = (data: unknown, more: Record<string, unknown> = {}) =>
    says(200, { status: 'success', data, request_id: 'r', ...more });
  const BATCH = '{ batch(batchId: "b1") { status counts { total queued done } } limits { maxItems } }';
  const TASK = '{ task(taskId: "b1-00000") { status error { message } result { ptm } } limits { maxItems } }';

  it.each<[string, Script, string, RegExp]>([
    [
      'an error as a success',
      says(200, { status: 'error', message: 'no such thing' }),
      'UPSTREAM_DRIFT',
      /no such thing/,
    ],
    ['no counts', enveloped({ status: 'done' }), 'UPSTREAM_DRIFT', /list has changed at \$\.counts/],
    [
      'counts that are words',
      enveloped({ status: 'done', counts: { done: 'all' } }),
      'UPSTREAM_DRIFT',
      /\$\.counts\.done/,
    ],
    [
      'more tasks than a batch can have',
      enveloped({ status: 'done', counts: { done: 2e9, failed: 1 } }),
      'UPSTREAM_DRIFT',
      /at most 2000 tasks/,
    ],
    ['a state that is a number', enveloped({ status: 4, counts: {} }), 'UPSTREAM_DRIFT', /\$\.status/],
    ['data that is a sentence', enveloped('done'), 'UPSTREAM_DRIFT', /\$/],
  ])('%s', async (_, script, code, message) => {
    liar.script('list', script);
    const answer = await place.query(BATCH);
    const error = onlyError(answer);
    expect(error).toMatchObject({ path: ['batch'], extensions: { code } });
    expect(error?.message).toMatch(message);
    expect(at(answer.data, 'limits.maxItems')).toBe(2000);
  });

  it.each([
    'paused',
    'DONE!',
    '',
    '__proto__',
    'constructor',
    'toString',
    'queued ',
    '\u0000',
    '🙂',
  ])('the state word %j is UNKNOWN, for batches, counts and tasks', async (word) => {
    liar.script('list', enveloped({ status: word, counts: { [word]: 2, done: 1 } }));
    liar.script('status', enveloped({ status: word, response: 'https://example.org/x' }));
    const batch = await place.query(BATCH);
    expect(batch.errors).toBeUndefined();
    expect(at(batch.data, 'batch')).toMatchObject({ status: 'UNKNOWN', counts: { queued: 0, done: 1 } });
    const task = await place.query(TASK);
    expect(task.errors).toBeUndefined();
    expect(at(task.data, 'task')).toMatchObject({ status: 'UNKNOWN' });
  });

  it('signed URLs that lead nowhere, inward or elsewhere are not followed', async () => {
    const secret = await openLiar();
    for (const url of [
      `${secret.url}/files/x?sig=s3cret`,
      'file:///etc/passwd',
      'gopher://127.0.0.1/x',
      'https://[::1]/x',
      'https://127.1/x',
      'https://2130706433/x',
      'https://localhost:1/x',
      'https://user:pass@127.0.0.1/x',
      'javascript:alert(1)',
      '\\\\127.0.0.1\\x',
      'http://',
      '',
      '/files/result.json\r\nx-injected: 1',
    ]) {
      liar.script('status', enveloped({ status: 'done', response: url }));
      liar.script('file', says(302, '', { location: `${secret.url}/files/x` }));
      const answer = await place.query('{ task(taskId: "b1-00000") { result { ptm } } limits { maxItems } }');
      const error = onlyError(answer);
      expect(['UPSTREAM_DRIFT', 'UPSTREAM_UNAVAILABLE'], url).toContain(error?.extensions.code);
      expect(JSON.stringify(error)).not.toContain('s3cret');
      expect(at(answer.data, 'limits.maxItems')).toBe(2000);
    }
    // No request went to the other server, and no header was injected.
    expect(secret.seen).toEqual([]);
    expect(liar.seen.filter(({ headers }) => 'x-injected' in headers)).toEqual([]);
    await secret.close();
  });

  it('the state of an expired task is read or an error: one that failed is never told to have expired', async () => {
    const query = '{ task(taskId: "b1-00000") { status } }';
    liar.script('status', says(410, { status: 'error', message: 'gone', results_expire_at: '2026-01-01' }));
    const items = [{ task_id: 'b1-00000', status: 'failed' }];
    liar.script(
      'list',
      enveloped({ batch_id: 'b1', status: 'done', counts: { failed: 1 }, items, cursor: null }),
    );
    expect(await place.query(query)).toEqual({ data: { task: { status: 'FAILED' } } });
    liar.script('list', says(503, { message: 'away' }));
    const { data, errors } = await place.query(query);
    expect(data).toEqual({ task: null });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true });
  });

  it('a result that is no result', async () => {
    liar.script('status', enveloped({ status: 'done', response: '/files/result.json' }));
    for (const [script, code] of [
      [says(200, '<html>'), 'UPSTREAM_DRIFT'],
      [says(200, ''), 'UPSTREAM_DRIFT'],
      [says(404, 'gone'), 'UPSTREAM_DRIFT'],
      [says(503, 'slow down'), 'UPSTREAM_UNAVAILABLE'],
      [says(403, 'expired'), 'UPSTREAM_UNAVAILABLE'],
    ] as const) {
      liar.script('file', script);
      const answer = await place.query('{ task(taskId: "b1-00000") { result { ptm } } limits { maxItems } }');
      expect(onlyError(answer)?.extensions.code).toBe(code);
    }
    // A store that stumbles is asked again.
    liar.script('file', inTurn(says(503, 'slow down'), says(200, { ptm: 0.5, complex: null })));
    const answer = await place.query('{ task(taskId: "b1-00000") { result { ptm } } }');
    expect(at(answer.data, 'task.result.ptm')).toBe(0.5);
  });

  it('headers of a stored file that no answer of ours can have are left out', async () => {
    liar.script('status', enveloped({ status: 'done', response: '/files/result.json' }));
    const raw =
      (head: string): Script =>
      ({ response }) =>
        response.socket?.end(`HTTP/1.1 200 OK\r\n${head}\r\ncontent-length: 2\r\n\r\n{}`);
    liar.script('file', raw('etag: "\u6f22"\r\nlast-modified: today'));
    const file = await place.get('/tasks/b1-00000/result.json');
    expect([file.status, file.headers.get('etag'), file.headers.get('last-modified')]).toEqual([
      200,
      null,
      'today',
    ]);
    expect(await file.text()).toBe('{}');
    // An answer that is no HTTP at all counts as an upstream that cannot be reached.
    liar.script('file', raw('etag: a\u0007b'));
    expect((await place.get('/tasks/b1-00000/result.json')).status).toBe(503);
  });

  it('a range of a file that is stored compressed is the whole file, never a piece of its compressed bytes', async () => {
    liar.script('status', enveloped({ status: 'done', response: '/files/result.json' }));
    const packed = gzipSync(honestBody);
    const stored = { 'content-encoding': 'gzip', etag: '"stored"' };
    liar.script('file', ({ request, response }) => {
      if (request.headers.range === undefined) return response.writeHead(200, stored).end(packed);
      const range = { 'content-range': `bytes 10-19/${packed.length}` };
      return response.writeHead(206, { ...stored, ...range }).end(packed.subarray(10, 20));
    });
    const file = await place.get('/tasks/b1-00000/result.json', { range: 'bytes=10-19' });
    expect([file.status, file.headers.get('content-range'), await file.text()]).toEqual([
      200,
      null,
      honestBody,
    ]);
  });
});
