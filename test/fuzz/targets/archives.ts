// Damaged archives: what is whole is read, what is not is a problem, and nothing is thrown.
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { readBulkArchive } from '../../../src/upstream/archive/bulk.ts';
import { edited, edits, HASH, type Target } from '../target.ts';

const ARCHIVE = zipSync({
  [`structures/${HASH}.pdb`]: strToU8(
    'REMARK ptm 0.8\nATOM      1  CA  MET A   1      11.104   6.134  -6.504  1.00  0.90           C  ',
  ),
  'sequences.fasta': strToU8(`>${HASH}|P01308|uniprotkb\nGIVEQCC\n`),
  'cluster_info.json': strToU8(
    `{"clusters":{"${HASH}":{"cluster_size":4}},"proteins":{"${HASH}":"${HASH}"}}`,
  ),
  'features.json': strToU8(
    `{"${HASH}":{"protein_level":{"indices":[3,70],"values":[1.5,0.25],"shape":[16384]},"top_features":[]}}`,
  ),
});
export const archives: Target = () =>
  fc.asyncProperty(edits, fc.nat(3), async (changes, cut) => {
    const damaged = edited(ARCHIVE, changes);
    const bytes = cut === 0 ? damaged.subarray(0, Math.floor(damaged.length / 2)) : damaged;
    await readBulkArchive(bytes, { rows: { top: 1, indices: [] } });
  });
