/**
 * The wire shape of a folding input (spec: FoldAllAtomInput), already validated by who calls. Types
 * only.
 */

interface Modification {
  /** 0-based position in the sequence. */
  position: number;
  /** Chemical component code. */
  ccd: string;
}

export interface PolymerInput {
  type: 'protein' | 'rna' | 'dna';
  id?: string | string[] | null;
  sequence: string;
  modifications?: Modification[] | null;
}

export interface LigandInput {
  type: 'ligand';
  id?: string | string[] | null;
  smiles?: string | null;
  ccd?: string[] | null;
}

export interface CovalentBond {
  chain_id1: string;
  res_idx1: number;
  atom_idx1: number;
  chain_id2: string;
  res_idx2: number;
  atom_idx2: number;
}

export interface PocketConditioning {
  binder_chain_id: string;
  contacts: [string, number][];
}

export interface DistogramConditioning {
  chain_id: string;
  distogram: number[][];
}

export interface FoldAllAtomInput {
  sequences: (PolymerInput | LigandInput)[];
  covalent_bonds?: CovalentBond[] | null;
  pocket?: PocketConditioning | null;
  distogram_conditioning?: DistogramConditioning[] | null;
}
