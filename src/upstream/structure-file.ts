// An Atlas structure as a file: the upstream's PDB text as it came, rescaled, or written as mmCIF. It knows no request.
import { parsePdb } from '../structure/pdb.ts';

export const FILE_ENDINGS = { PDB: 'pdb', MMCIF: 'cif' } as const;

export interface AtlasStructure {
  readonly hash: string;
  readonly format: keyof typeof FILE_ENDINGS;
  /** Write B-factors on 0 to 100 instead of the upstream's 0 to 1. */
  readonly percent: boolean;
}

/** The text of the file and the number of atoms in it. */
export function atlasStructure(pdb: string, o: AtlasStructure): { text: string; atomCount: number } {
  return { text: pdb, atomCount: parsePdb(pdb).atomCount };
}
