// Answers of many structures, over a socket: the same bytes as by a function call, also four at
// once and where an entry is broken; made at the pace of the reader, and no more when it leaves.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { toJsonPieces } from '../../src/http/graphql/result-stream.ts';
import { sendPieces } from '../../src/http/server/body-stream.ts';
import { createHttpServer } from '../../src/http/server/http-server.ts';
import { LazyText } from '../../src/structure/lazy-text.ts';
import { testLogger } from '../record.ts';
import { openSender, type Sender } from '../transport.ts';

const RESIDUES = 300;
const LINES = Array.from(
  { length: RESIDUES },
  (_, i) =>
    `ATOM      1  CA  UNK A${String(i + 1).padStart(4)}      11.639   6.071  -5.147  1.00  0.91           C  \n`,
).join('');
const writePdb = (hash: string) => `REMARK ${hash} "quoted" \\ Å\n${LINES}`;
/** The same as the gateway writes it: with a head and an end of its own. */
const writeFile = (hash: string) =>
  [
    'HEADER    COMPUTED MODEL',
    `TITLE     PROTEIN ${hash}`,
    'REMARK   1 mean_plddt 0.91',
    `REMARK ${hash} "quoted" \\ Å`,
    'CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1',
  ]
    .map((line) => `${line.padEnd(80)}\n`)
    .join('') +
  LINES +
  [
    'TER       2      UNK A 300',
    'MASTER        2    0    0    0    0    0    0    0  300    1    0    0',
    'END',
  ]
    .map((line) => `${line.padEnd(80)}\n`)
    .join('');
const sequences = new Map<string, string>();
const createHashes = (from: number) =>
  Array.from({ length: 120 }, (_, i) => {
    const letters = [...String(from * 1000 + i)].map((digit) => 'ACDEFGHIKL'[Number(digit)]).join('');
    const sequence = letters.padEnd(RESIDUES, 'M');
    const hash = createHash('md5').update(sequence).digest('hex');
    sequences.set(hash, sequence);
    return hash;
  });

let upstream: Server;
let served: Server;
let gateway: Gateway;
let sender: Sender;
/** Which entry of an archive is damaged. */
let damaged: number | null = null;
let calls = 0;

/** An archive with one wrong byte in the data of one entry. */
function packArchive(hashes: readonly string[]): Buffer {
  const files = hashes.map((hash): [string, Uint8Array] => [
    `structures/${hash}.pdb`,
    Buffer.from(writePdb(hash)),
  ]);
  const fasta = Buffer.from(hashes.map((hash) => `>${hash}||\n${sequences.get(hash)}\n`).join(''));
  const archive = Buffer.from(zipSync(Object.fromEntries([['sequences.fasta', fasta], ...files])));
  if (damaged !== null) {
    const at = archive.indexOf(`structures/${hashes[damaged]}.pdb`) + 60;
    archive[at] = (archive[at] ?? 0) ^ 0xff;
  }
  return archive;
}

const readPort = (server: Server): number => (server.address() as AddressInfo).port;
const listening = async (server: Server): Promise<Server> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

beforeAll(async () => {
  upstream = await listening(
    createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      calls += 1;
      if (request.method === 'GET') return void response.writeHead(503).end();
      const { protein_hashes: wanted } = JSON.parse(body) as { protein_hashes: string[] };
      response.writeHead(200, { 'content-type': 'application/zip' }).end(packArchive(wanted));
    }),
  );
  gateway = createGateway({
    config: readConfig({ STORE_URL: 'memory:', MAX_CONCURRENT_REQUESTS: '0', CACHE_RECORDS_SECONDS: '0' }),
    upstreamUrl: `http://127.0.0.1:${readPort(upstream)}`,
    log: testLogger(),
  });
  served = await listening(createHttpServer(gateway));
  sender = openSender(async () => readPort(served));
});
afterAll(async () => {
  sender.close();
  await gateway.close();
  for (const server of [served, upstream]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const asked = (ids: readonly string[]) =>
  new Request('http://gateway.test/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query:
        'query($ids: [String!]!) { lookup(ids: $ids) { requested protein { hash structure(plddtScale: UNIT) { text } } } }',
      variables: { ids },
    }),
  });

const expected = (ids: readonly string[]) => ({
  data: {
    lookup: ids.map((hash) => ({ requested: hash, protein: { hash, structure: { text: writeFile(hash) } } })),
  },
});

it('is the same by a function call and over a socket, the first time and later', async () => {
  const ids = createHashes(1);
  calls = 0;
  const answer = await gateway.fetch(asked(ids));
  const text = await answer.text();
  expect(JSON.parse(text)).toEqual(expected(ids));
  expect(text.length).toBeGreaterThan(2_500_000);
  for (let time = 0; time < 2; time += 1) {
    const response = await sender.send(asked(ids));
    expect(response.headers.get('content-type')).toBe(answer.headers.get('content-type'));
    expect(await response.text()).toBe(text);
  }
  // It is too large to be kept.
  expect(calls).toBe(3);
});

it('is right for four who ask at once', async () => {
  const all = [2, 3, 4, 5].map(createHashes);
  const answers = await Promise.all(all.map(async (ids) => (await sender.send(asked(ids))).json()));
  expect(answers).toEqual(all.map(expected));
});

it('has an error for a broken entry in its place', async () => {
  damaged = 7;
  const ids = createHashes(6);
  const [called, sent] = [await gateway.fetch(asked(ids)), await sender.send(asked(ids))];
  damaged = null;
  expect(sent.status).toBe(200);
  const answer = await sent.json();
  expect(answer).toEqual(await called.json());
  const { data, errors } = answer;
  expect(errors).toMatchObject([
    { path: ['lookup', 7, 'protein', 'structure'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } },
  ]);
  const whole = expected(ids).data.lookup.map((item, i) =>
    i === 7 ? { ...item, protein: { ...item.protein, structure: null } } : item,
  );
  expect(data.lookup).toEqual(whole);
});

/** Serves a body of 200 texts of 200 KB; counts how many of them have been unpacked. */
async function openLarge(): Promise<{ server: Server; unpacked: () => number; ended: Promise<unknown> }> {
  let unpacked = 0;
  const bytes = Buffer.from(LINES.repeat(8));
  const texts = Array.from(
    { length: 200 },
    () =>
      new LazyText(bytes.length, () => {
        unpacked += 1;
        return bytes;
      }),
  );
  async function* body() {
    yield* toJsonPieces({ data: { texts: texts.map((text) => ({ text })) } });
  }
  const server = await listening(createServer((_request, response) => void sendPieces(response, body())));
  const ended = once(server, 'request').then(async ([, response]: ServerResponse[]) => {
    if (response !== undefined) await once(response, 'close');
  });
  return { server, unpacked: () => unpacked, ended };
}

/** Waits until a count has stood still for many turns of the event loop. */
async function settled(count: () => number): Promise<number> {
  for (let still = 0, before = -1; still < 2000; ) {
    still = count() === before ? still + 1 : 0;
    before = count();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return count();
}

it('is made no further than its reader takes it, and ends when it leaves', async () => {
  const { server, unpacked, ended } = await openLarge();
  const reader = connect(readPort(server), '127.0.0.1');
  reader.pause();
  reader.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(reader, 'connect');
  // The system's buffers hold a part of the 40 MB.
  const ahead = await settled(unpacked);
  expect(ahead).toBeGreaterThan(0);
  expect(ahead).toBeLessThan(100);
  reader.destroy();
  await ended;
  expect(await settled(unpacked)).toBeLessThan(120);
  await new Promise((resolve) => server.close(resolve));
});

it('comes whole to a reader that stops and goes on', async () => {
  const { server, unpacked, ended } = await openLarge();
  const response = await fetch(`http://127.0.0.1:${readPort(server)}`);
  await settled(unpacked);
  const { data } = (await response.json()) as { data: { texts: { text: string }[] } };
  expect(data.texts.map(({ text }) => text)).toEqual(Array(200).fill(LINES.repeat(8)));
  await ended;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
