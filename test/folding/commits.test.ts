// How often a submission waits for the disk: each transaction of SQLite is one synchronised write
// of its log.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, openBench, tiny } from './bench.ts';

const [WAL_HEADER, FRAME_HEADER] = [32, 24];

/**
 * Transactions in a write-ahead log: the last frame of each says how large the database then is
 * (sqlite.org/fileformat2.html).
 */
function countCommits(wal: string): number {
  const log = readFileSync(wal);
  const frame = FRAME_HEADER + log.readUInt32BE(8);
  let commits = 0;
  for (let at = WAL_HEADER; at + frame <= log.length; at += frame)
    if (log.readUInt32BE(at + 4) > 0) commits += 1;
  return commits;
}

describe('submitFold over SQLite', () => {
  let bench: Bench;
  let commits: (input: Record<string, unknown>) => Promise<number>;
  const folder = mkdtempSync(join(tmpdir(), 'commits-'));
  beforeAll(async () => {
    bench = await openBench({ STORE_URL: `sqlite:${folder}/gateway.db` });
    await bench.gateway.ready();
    // The first write of an hour also deletes what is past its time.
    await bench.submit({ items: tiny(1) });
    commits = async (input) => {
      const before = countCommits(`${folder}/gateway.db-wal`);
      await bench.submit(input);
      return countCommits(`${folder}/gateway.db-wal`) - before;
    };
  });
  afterAll(async () => {
    await bench.close();
    rmSync(folder, { recursive: true });
  });

  it('writes twice with a key, before and after the submission, and once without, whatever its size', async () => {
    expect(await commits({ items: tiny(1), idempotencyKey: 'a' })).toBe(2);
    expect(await commits({ items: tiny(300), repeat: 3, idempotencyKey: 'b' })).toBe(2);
    expect(await commits({ items: tiny(300) })).toBe(1);
  });
});
