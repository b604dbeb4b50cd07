// A structure as the file writers take it: chains of residues of atoms.
import type { PlddtUnit } from './plddt-scale.ts';
import type { PolymerKind } from './residues.ts';

/** Coordinates in ångström. */
export interface ModelAtom {
  /** Unique within its residue. */
  readonly name: string;
  /** Upper case. */
  readonly element: string;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly occupancy: number;
  /** As it is to be written. */
  readonly b: number;
  /** Formal charge where the source states one. */
  readonly charge?: number;
}

export interface ModelResidue {
  /** Component name: MET, A, DA, ATP. */
  readonly name: string;
  readonly number: number;
  readonly insertion: string;
  readonly hetero: boolean;
  /** Confidence as it is to be written; null where there is none. */
  readonly confidence: number | null;
  readonly atoms: readonly ModelAtom[];
}

export interface ModelChain {
  readonly id: string;
  readonly kind: PolymerKind | 'ligand';
  readonly residues: readonly ModelResidue[];
}

export interface StructureModel {
  readonly id: string;
  readonly title: string;
  /** Remarks for readers of the file; written at its head. */
  readonly warnings: readonly string[];
  readonly chains: readonly ModelChain[];
  /** Name of what predicted the structure. */
  readonly software: string;
  /** Id of the record that the structure is of; undefined for what a caller had folded. */
  readonly reference?: string;
  /** Whether nothing but disulfide bridges can be bonded beyond the chains. */
  readonly hasOnlyBridges?: boolean;
  /** The atoms of each bond that the input declares, whatever their distance. */
  readonly declaredBonds?: readonly (readonly [ModelAtom, ModelAtom])[];
  /** Whether B-factors are confidences of atoms, not of residues. */
  readonly hasAtomConfidences?: boolean;
  /** Scale of pLDDT and B-factors; PERCENT unless said. */
  readonly plddtUnit?: PlddtUnit;
  /** Whether the error of each pair of residues is written, too. */
  readonly hasPae?: boolean;
  /** Scores of the whole: pTM, ipTM on 0 to 1, pLDDT as it is to be written. */
  readonly scores: readonly { readonly name: 'pLDDT' | 'pTM' | 'ipTM'; readonly value: number }[];
}

/** A file, or why there is none. */
export type StructureFile =
  | { readonly ok: true; readonly text: string; readonly atomCount: number }
  | { readonly ok: false; readonly reason: string };
