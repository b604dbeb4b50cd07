// What a request leaves behind dies young: it is collected by the cheap collector, which sees the young generation alone. Whatever keeps it
// until a full collection keeps the bytes of its answers too, which can be counted.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { collectAll, collectYoung } from '../../src/collector.ts';
import { Passing } from '../../src/passing.ts';
import { makeAllYoung } from '../../src/process/young-objects.ts';
import { readBulkArchive } from '../../src/upstream/archive/bulk.ts';
import { openAgent, type Upstream } from '../../src/upstream/http.ts';
import { openReads } from '../../src/upstream/reads.ts';

const BYTES = 20_000;
const pdb = 'ATOM'.padEnd(BYTES);
/** By hash. */
const sequences = new Map<string, string>();
const server = createServer((request, response) => {
  const hash = /proteins\/(\w+)/.exec(request.url ?? '')?.[1] ?? '';
  response.end(JSON.stringify({ protein_hash: hash, sequence: sequences.get(hash), pdb }));
});
const agent = openAgent();
let baseUrl = '';

beforeAll(async () => {
  makeAllYoung();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await agent.close();
  server.close();
});

/** Does something many times, sixteen at once, with the young collected all the time, and expects of each to leave less than so many bytes behind. */
async function expectLittleLeft(
  most: number,
  one: (n: number) => unknown,
  bytes = () => process.memoryUsage().arrayBuffers,
): Promise<void> {
  const TIMES = 800;
  let before = 0;
  for (let n = 0; n < TIMES; n += 16) {
    await Promise.all(Array.from({ length: 16 }, (_, i) => one(n + i)));
    if (n === 160) collectAll();
    else collectYoung();
    if (n === 160) before = bytes();
  }
  // What has died is freed by a thread that may be late, and connections let go of their last bytes when they are used again.
  await vi.waitFor(
    () => {
      collectYoung();
      expect((bytes() - before) / (TIMES - 176)).toBeLessThan(most);
    },
    { timeout: 5_000, interval: 50 },
  );
}

test('what has passed through a place for what comes and goes', async () => {
  const passing = new Passing<number, Uint8Array>();
  await expectLittleLeft(BYTES / 10, (n) => {
    passing.set(n, new Uint8Array(BYTES));
    passing.delete(n - 8);
  });
});

test('the loaders of a request, and the answer that they were given', async () => {
  const reads = openReads({
    recordSeconds: 0,
    downloads: { publicAgent: agent, gate: undefined },
    store: undefined,
    onError: (error) => expect(error).toBeUndefined(),
  });
  const settings = {
    baseUrl,
    batchPrefix: '/batch',
    atlasPrefix: '/atlas',
    listLimitField: 'limit',
    listCursorField: 'cursor',
    downloadHosts: [],
  };
  await expectLittleLeft(BYTES / 10, async (n) => {
    const up: Upstream = {
      settings,
      agent,
      token: undefined,
      requestId: `request ${n}`,
      signal: undefined,
      onCall: () => undefined,
      looksAt: () => false,
    };
    const sequence = `GIVEQCC${'G'.repeat(n)}`;
    const hash = createHash('md5').update(sequence).digest('hex');
    sequences.set(hash, sequence);
    const found = await reads.loaders(up).proteins.load(hash, { sequence: true });
    expect(found?.sequence).toBe(sequence);
    sequences.delete(hash);
  });
});

test('an archive of features, and what it says', async () => {
  const PROTEINS = 40;
  const label = 'x'.repeat(400);
  const archives = Array.from({ length: 4 }, (_, k) => {
    const hashes = Array.from({ length: PROTEINS }, (_, i) =>
      (k * PROTEINS + i).toString(16).padStart(32, '0'),
    );
    const top_features = [{ feature_index: 3, value: 1.5, label }];
    const features = Object.fromEntries(hashes.map((hash) => [hash, { top_features }]));
    return zipSync({ 'features.json': strToU8(JSON.stringify(features)) });
  });
  await expectLittleLeft(
    PROTEINS * label.length,
    async (n) => {
      const parts = await readBulkArchive(Readable.from([archives[n % archives.length]]), { level: false });
      expect(parts.features.size).toBe(PROTEINS);
    },
    () => process.memoryUsage().heapUsed,
  );
});
