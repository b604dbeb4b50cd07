// The input of a client as it comes (`SubmitFoldInput`, whose fields are checked against these
// types).

/** Absent in more than one way: left out, or null. */
type Optional<T> = T | null | undefined;

export interface Modification {
  position: number;
  ccd: string;
}

export interface PolymerInput {
  ids?: Optional<string[]>;
  sequence: string;
  modifications?: Optional<Modification[]>;
}

export interface LigandInput {
  ids?: Optional<string[]>;
  smiles?: Optional<string>;
  ccd?: Optional<string[]>;
}

/** Exactly one kind of chain. */
export type ChainInput =
  | { protein: PolymerInput; rna?: never; dna?: never; ligand?: never }
  | { protein?: never; rna: PolymerInput; dna?: never; ligand?: never }
  | { protein?: never; rna?: never; dna: PolymerInput; ligand?: never }
  | { protein?: never; rna?: never; dna?: never; ligand: LigandInput };

export interface BondInput {
  chainId1: string;
  residueIndex1: number;
  atomIndex1?: Optional<number>;
  atomName1?: Optional<string>;
  chainId2: string;
  residueIndex2: number;
  atomIndex2?: Optional<number>;
  atomName2?: Optional<string>;
}

export interface Pocket {
  binderChainId: string;
  contacts: { chainId: string; residueIndex: number }[];
}

export interface Distogram {
  chainId: string;
  distogram: number[][];
}

export interface ItemInput {
  name?: Optional<string>;
  chains: ChainInput[];
  covalentBonds?: Optional<BondInput[]>;
  pocket?: Optional<Pocket>;
  distogramConditioning?: Optional<Distogram[]>;
  includePae?: Optional<boolean>;
  includePairChainsIptm?: Optional<boolean>;
  includeEmbeddings?: Optional<boolean>;
  potentialSequenceOfConcern?: Optional<boolean>;
}

export interface SubmissionInput {
  items: ItemInput[];
  repeat?: Optional<number>;
  model?: Optional<string>;
  label?: Optional<string>;
  idempotencyKey?: Optional<string>;
  notify?: Optional<{ url: string }>;
}
