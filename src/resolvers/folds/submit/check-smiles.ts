// Checks the chemistry of the SMILES of a submission in a thread of its own, which starts with the
// first SMILES. What it finds are warnings; so is a check that takes too long.
import { LRUCache } from 'lru-cache';
import type { Tinypool } from 'tinypool';
import { createAddIssue, type Issue } from '../../../submission/issues.ts';
import type { SmilesRemark } from '../../../submission/smiles-worker.ts';
import type { Submission } from '../../../submission/submission.ts';
import { openPool, workerFile } from '../../../upstream/json/worker-pool.ts';

/** Openchemlib may never end on a molecule, and the first check loads it. */
const TIME_LIMIT_MS = 5_000;

/** One thread: checks wait for each other, and large JSON never waits for them. */
let pool: Tinypool | undefined;

type Remarks = readonly SmilesRemark[];

/** Memory of an entry beside its texts. */
const ENTRY_BYTES = 200;

/** By SMILES: designers check one ligand in many complexes, and again when they submit. */
const known = new LRUCache<string, Remarks>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: (remarks, smiles) => smiles.length + JSON.stringify(remarks).length + ENTRY_BYTES,
});

/** The remarks on each SMILES; null where the check took too long. */
async function findRemarks(list: readonly string[]): Promise<readonly Remarks[] | null> {
  const found = new Map<string, Remarks>();
  for (const smiles of list) {
    const remarks = known.get(smiles);
    if (remarks !== undefined) found.set(smiles, remarks);
  }
  const unknown = list.filter((smiles) => !found.has(smiles));
  if (unknown.length > 0) {
    pool ??= openPool(1);
    try {
      const signal = AbortSignal.timeout(TIME_LIMIT_MS);
      const filename = workerFile('submission/smiles-worker');
      const checked: readonly Remarks[] = await pool.run(unknown, { filename, signal });
      for (const [k, smiles] of unknown.entries()) {
        const remarks = checked[k] ?? [];
        found.set(smiles, remarks);
        known.set(smiles, remarks);
      }
    } catch {
      return null;
    }
  }
  return list.map((smiles) => found.get(smiles) ?? []);
}

/** @param submission - one without syntax errors in its SMILES */
export async function checkSmiles({ items }: Submission): Promise<readonly Issue[]> {
  const pathsBySmiles = new Map<string, string[]>();
  for (const [i, { chains }] of items.entries())
    for (const [c, chain] of chains.entries()) {
      // Where codes are given as well, the service ignores the SMILES.
      if (chain.type !== 'ligand' || chain.smiles === null || chain.ccd?.length) continue;
      const path = `items.${i}.chains.${c}.ligand.smiles`;
      const paths = pathsBySmiles.get(chain.smiles);
      if (paths === undefined) pathsBySmiles.set(chain.smiles, [path]);
      else paths.push(path);
    }
  if (pathsBySmiles.size === 0) return [];
  const warnings: Issue[] = [];
  const odd = createAddIssue(warnings);
  const remarks = await findRemarks([...pathsBySmiles.keys()]);
  if (remarks === null)
    odd(
      'items',
      'SMILES_NOT_CHECKED',
      'The check of valences and aromatic rings in SMILES took too long.',
      'They may be right. Check fewer SMILES at a time, or check again in a moment.',
    );
  for (const [k, paths] of [...pathsBySmiles.values()].entries())
    for (const path of paths)
      for (const { code, message, hint } of remarks?.[k] ?? []) odd(path, code, message, hint);
  return warnings;
}
