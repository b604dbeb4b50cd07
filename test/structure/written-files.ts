// Files of folds as the gateway writes them, and what they must hold.
import { fold } from '../../sandbox/src/folding/fold.ts';
import type { DeclaredBond } from '../../src/structure/fold/declared-bonds.ts';
import { writeFoldFile } from '../../src/structure/fold/files.ts';
import { readFold } from '../../src/upstream/folds/read-fold.ts';
import type { smallFold } from './fold.ts';

export const open = (value: unknown) => readFold(Buffer.from(JSON.stringify(value)));

export async function written(value: unknown, format: 'mmcif' | 'pdb', bonds: readonly DeclaredBond[] = []) {
  const file = writeFoldFile(await open(value), format === 'pdb' ? 'PDB' : 'MMCIF', bonds);
  if (!file.ok) throw new Error(file.reason);
  return file;
}

/** The atoms that the file must have, straight from the upstream's JSON. */
export function expectedAtoms({ complex }: ReturnType<typeof smallFold>) {
  return complex.sequence.flatMap((residue, token) => {
    const [start = 0, end = 0] = complex.token_to_atoms[token] ?? [];
    const chain = complex.chain_id[token] ?? 0;
    const first = complex.chain_id.indexOf(chain);
    return complex.atom_names.slice(start, end).map((name, k) => ({
      name,
      element: complex.atom_elements[start + k]?.toUpperCase(),
      residue,
      number: token - first + 1,
      chain: complex.metadata.chain_lookup[String(chain)],
      at: complex.atom_positions[start + k]?.map((v) => Number(v.toFixed(3))),
      b: Number(((complex.plddt[token] ?? 0) * 100).toFixed(2)),
    }));
  });
}

/**
 * A fold of the sandbox: a molecule bonded to a lysine, and ligands by SMILES of which two are the
 * same and one is an isomer.
 */
export async function bondedFold() {
  const outcome = await fold({
    model: 'm',
    input: {
      sequences: [
        { type: 'protein', id: 'A', sequence: 'MKTNYSAKQR', modifications: [{ position: 5, ccd: 'SEP' }] },
        { type: 'ligand', id: 'G', ccd: ['EDO'] },
        { type: 'ligand', id: ['X', 'Y'], smiles: 'CCCO' },
        { type: 'ligand', id: 'Z', smiles: 'CC(C)O' },
      ],
      covalent_bonds: [
        { chain_id1: 'A', res_idx1: 1, atom_idx1: 8, chain_id2: 'G', res_idx2: 0, atom_idx2: 0 },
      ],
    },
    repeatIndex: 0,
    includePae: false,
    includePairChainsIptm: false,
    includeEmbeddings: false,
  });
  if (!outcome.ok) throw new Error('no fold');
  return outcome.result;
}
