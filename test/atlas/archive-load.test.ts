// A large archive with activations along the sequence: how long the loop stands still, and how much
// memory it takes.
import { createHash } from 'node:crypto';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { readBulkArchive } from '../../src/upstream/archive/bulk.ts';
import { expectShortTurns } from '../cpu-time.ts';

const PROTEINS = 500;
const LENGTH = 300;
const ACTIVE = 24;

const hashes = Array.from({ length: PROTEINS }, (_, i) => createHash('md5').update(`${i}`).digest('hex'));

/** One protein's features as the service writes them: some 100 kB. */
function writeFeatures(protein: number): string {
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

const written = Array.from({ length: 10 }, (_, i) => writeFeatures(i));
const json = `{${hashes.map((hash, i) => `"${hash}":${written[i % written.length]}`).join(',')}}`;
const fasta = hashes.map((hash) => `>${hash}|P|uniprotkb\n${'M'.repeat(LENGTH)}\n`).join('');
const archive = Buffer.from(
  zipSync({ 'sequences.fasta': strToU8(fasta), 'features.json': strToU8(json) }, { level: 1 }),
);

describe(`an archive of ${PROTEINS} proteins, ${Math.round(json.length / 1e6)} MB of features`, () => {
  it('is read without holding the loop, and gives a few rows of many proteins', async () => {
    const before = process.memoryUsage.rss();
    const read = () => readBulkArchive(archive, { level: false, rows: { top: 2, indices: [0] } });
    const result = await read();
    const used = process.memoryUsage.rss() - before;
    expect(result.problems).toEqual([]);
    expect(result.sequences.size).toBe(PROTEINS);
    for (const features of result.features.values()) {
      expect(features.top).toHaveLength(10);
      expect(features.proteinLevel).toBeUndefined();
      expect(features.rows?.has(0)).toBe(true);
    }
    expect(used).toBeLessThan(600e6);
    await expectShortTurns(read, 0.2);
  });
});
