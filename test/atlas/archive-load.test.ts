// A large archive with activations along the sequence: how long the loop stands still, and how much memory it takes.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { readBulkArchive, readBulkRecords } from '../../src/upstream/archive/bulk.ts';
import { longestBlock } from '../cpu-time.ts';

const PROTEINS = 500;
const LENGTH = 300;
const ACTIVE = 24;
/** What is aimed at on a machine with nothing else to do. */
const AIM_MS = 50;

const hashes = Array.from({ length: PROTEINS }, (_, i) => createHash('md5').update(`${i}`).digest('hex'));

/** One protein's features as the service writes them: some 100 kB. */
function featuresOf(protein: number): string {
  const residues = Array.from({ length: LENGTH * ACTIVE }, (_, i) => Math.floor(i / ACTIVE));
  const features = residues.map((residue, i) => (protein * 7 + residue * 13 + (i % ACTIVE) * 601) % 16_384);
  const values = residues.map((_, i) => ((i * 37) % 5000) / 1000);
  const top = Array.from({ length: 10 }, (_, i) => ({
    feature_index: features[i] ?? 0,
    value: 10 - i,
    label: `Feature ${i}`,
  }));
  return `{"protein_level":{"shape":[16384],"indices":[[${features.slice(0, ACTIVE)}]],"values":[${values.slice(0, ACTIVE)}]},"per_residue":{"shape":[${LENGTH},16384],"indices":[[${residues}],[${features}]],"values":[${values}]},"top_features":${JSON.stringify(top)}}`;
}

const json = `{${hashes.map((hash, i) => `"${hash}":${featuresOf(i)}`).join(',')}}`;
const fasta = hashes.map((hash) => `>${hash}|P|uniprotkb\n${'M'.repeat(LENGTH)}\n`).join('');
const archive = Buffer.from(
  zipSync({ 'sequences.fasta': strToU8(fasta), 'features.json': strToU8(json) }, { level: 1 }),
);

/** The archive as a socket gives it. */
const arriving = () =>
  Readable.from(
    (function* () {
      for (let start = 0; start < archive.length; start += 65_536)
        yield archive.subarray(start, start + 65_536);
    })(),
  );

describe(`an archive of ${PROTEINS} proteins, ${Math.round(json.length / 1e6)} MB of features`, () => {
  it('is read without holding the loop, one protein in memory at a time', async () => {
    let most = 0;
    let count = 0;
    const { milliseconds } = await longestBlock(async () => {
      const before = process.memoryUsage.rss();
      await readBulkRecords(arriving(), { perResidue: true }, (record) => {
        if (record.part !== 'features') return;
        count += record.features.perResidue?.values.length ?? 0;
        most = Math.max(most, process.memoryUsage.rss() - before);
      });
    });
    expect(count).toBe(PROTEINS * LENGTH * ACTIVE);
    console.info(
      `archive: ${Math.round(archive.length / 1e6)} MB zipped, longest block ${Math.round(milliseconds)} ms (aim ${AIM_MS}), ${Math.round(most / 1e6)} MB more memory`,
    );
    expect(milliseconds).toBeLessThan(3 * AIM_MS);
    // All activations as numbers would be more than this by themselves.
    expect(most).toBeLessThan(400e6);
  });

  it('gives a few rows of many proteins by itself, and skips what was not asked for', async () => {
    const rows = new Map<string, number>();
    const parts = await readBulkArchive(arriving(), {
      perResidue: true,
      shrink(hash, { perResidue, ...rest }) {
        rows.set(hash, perResidue?.features.filter((feature) => feature === 0).length ?? 0);
        return rest;
      },
    });
    expect(rows.size).toBe(PROTEINS);
    expect(parts.problems).toEqual([]);
    expect([...parts.features.values()].some((features) => features.perResidue !== undefined)).toBe(false);
    const plain = await readBulkArchive(arriving());
    expect(plain.features.get(hashes[3] ?? '')).toEqual(parts.features.get(hashes[3] ?? ''));
  });
});
