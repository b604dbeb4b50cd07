// Damaged archives: what is whole is read, what is not is a problem with a kind, and nothing is thrown.
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { ArchiveError } from '../../../src/upstream/archive/archive-limits.ts';
import { readBulkRecords } from '../../../src/upstream/archive/bulk.ts';
import { edited, edits, HASH, never, type Target } from '../target.ts';

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
  fc.asyncProperty(edits, fc.integer({ min: 1, max: 300 }), fc.nat(3), async (changes, piece, cut) => {
    const damaged = edited(ARCHIVE, changes);
    const bytes = cut === 0 ? damaged.subarray(0, Math.floor(damaged.length / 2)) : damaged;
    async function* arriving() {
      for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
    }
    await readBulkRecords(arriving(), {}, (record) => {
      if (record.part === 'problem' && !(record.problem instanceof ArchiveError))
        never('a problem without a kind', String(record.problem));
    });
  });
