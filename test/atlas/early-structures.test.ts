// Structures of a bulk answer on their way: the first is with the client before the upstream has sent the last, what a broken
// answer held is kept, a client that stops reading is not read for, a long list is cached in memory.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { recorded, testLogger } from '../record.ts';

const hashes = Array.from({ length: 40 }, (_, i) => i.toString(16).padStart(32, '0'));
/** Others for each test, which nobody has asked for before. */
const other = (digit: string) => hashes.map((hash) => digit + hash.slice(1));
const pdbOf = (hash: string) =>
  `REMARK ptm 0.5\nREMARK ${hash}\n${'ATOM      1  CA  ALA A   1      11.639   6.071  -5.147  1.00  0.91           C  \n'.repeat(40)}`;
const archiveOf = (wanted: readonly string[]) =>
  Buffer.from(
    zipSync(Object.fromEntries(wanted.map((hash) => [`structures/${hash}.pdb`, Buffer.from(pdbOf(hash))]))),
  );

let server: Server;
let gateway: Gateway;
let calls = 0;
/** How the stub sends an archive. */
let send: (response: ServerResponse, archive: Buffer) => void;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    calls += 1;
    const { protein_hashes: wanted } = JSON.parse(body) as { protein_hashes: string[] };
    response.writeHead(200, { 'content-type': 'application/zip' });
    send(response, archiveOf(wanted));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const config = readConfig({ STORE_URL: 'memory:', MAX_EVENT_LOOP_DELAY_MS: '0' });
  const upstreamUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gateway = recorded(createGateway({ config, upstreamUrl, log: testLogger() }));
});
beforeEach(() => {
  calls = 0;
  send = (response, archive) => response.end(archive);
});
afterAll(async () => {
  await gateway.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ask = (field: string, accept: string, ids: readonly string[] = hashes) =>
  gateway.fetch(
    new Request('http://gateway.test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query: `query($ids: [String!]!) { ${field} }`, variables: { ids } }),
    }),
  );
const LIST =
  'lookup(ids: $ids) @stream(initialCount: 0) { requested protein { ptm structure(plddtScale: UNIT) { text } } }';
const WHOLE = LIST.replace('@stream(initialCount: 0)', '');

/** Where the header of the entry begins that comes after so many. */
function startOf(archive: Buffer, entry: number): number {
  let at = 0;
  for (let i = 0; i < entry; i++) at = archive.indexOf('PK\x03\x04', at + 4);
  return at;
}

test.each([
  ['multipart/mixed;deferSpec=20220824', 'e'],
  ['text/event-stream', 'f'],
])('a streamed look-up sends the first before the upstream has sent the last: %s', async (accept, digit) => {
  const hashes = other(digit);
  let release = (): void => undefined;
  send = (response, archive) => {
    const held = startOf(archive, 3);
    response.write(archive.subarray(0, held));
    release = () => response.end(archive.subarray(held));
  };
  const { body } = await ask(LIST, accept, hashes);
  if (body === null) throw new Error('an answer without a body');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (!text.includes(`REMARK ${hashes[2]}`)) continue;
    // All that was sent so far, and nothing of the rest.
    if (calls === 1) expect(text).not.toContain(`REMARK ${hashes[3]}`);
    calls += 1;
    release();
  }
  for (const hash of hashes) expect(text).toContain(JSON.stringify(pdbOf(hash)).slice(1, -1));
});

test('what a connection brought before it broke is answered, and the rest is an error at its place', async () => {
  send = (response, archive) => {
    response.write(archive.subarray(0, startOf(archive, 3)), () => setImmediate(() => response.destroy()));
  };
  const ids = other('c');
  const answer = (await (await ask(WHOLE, 'application/json', ids)).json()) as {
    data: { lookup: { protein: { structure: { text: string } } | null }[] };
    errors: { path: unknown[]; extensions: { code: string } }[];
  };
  const found = answer.data.lookup.map(({ protein }) => protein?.structure.text);
  expect(found.slice(0, 3)).toEqual(ids.slice(0, 3).map(pdbOf));
  expect(found.slice(3).every((text) => text === undefined)).toBe(true);
  expect(answer.errors).toHaveLength(37);
  expect(answer.errors[0]).toMatchObject({
    path: ['lookup', 3, 'protein'],
    extensions: { code: 'UPSTREAM_UNAVAILABLE' },
  });
});

test('a slow client finds a few items ready each time, not all the rest', async () => {
  const { body } = await ask(LIST, 'multipart/mixed;deferSpec=20220824', other('d'));
  if (body === null) throw new Error('an answer without a body');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    // Time enough for everything to be read and completed.
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
  }
  const counts = text.split('\r\n---').map((part) => part.split('REMARK ptm').length - 1);
  expect(counts.reduce((sum, count) => sum + count)).toBe(40);
  // Eight ahead, and those that came while a part was taken; or as many as a part has at most.
  expect(Math.max(...counts)).toBeLessThanOrEqual(16);
});

test('structures of long and of short lists are cached', async () => {
  let asks = 0;
  const asked = async (ids: readonly string[]): Promise<number> => {
    calls = 0;
    // Another text each time, so that it is the records that are kept and not the answer.
    asks += 1;
    const text = await (await ask(`${WHOLE} # ${asks}\n`, 'application/json', ids)).text();
    for (const id of ids) expect(text).toContain(`REMARK ${id}`);
    return calls;
  };
  const long = other('a');
  expect([await asked(long), await asked(long)]).toEqual([1, 0]);
  const short = other('b').slice(0, 10);
  expect([await asked(short), await asked(short)]).toEqual([1, 0]);
});
