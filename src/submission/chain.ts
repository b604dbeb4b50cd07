// Normalises a chain of a fold: white space and case, and codes without a pasted header.
import type { ChainInput, Modification, PolymerInput } from './input.ts';
import { type PastedSequence, readPastedSequence, splitHeader } from './pasted-text.ts';

/** The polymers, by the name of their input field, which is also their wire name. */
export type PolymerType = 'protein' | 'rna' | 'dna';

export interface Polymer extends PastedSequence {
  readonly type: PolymerType;
  /** One id for each copy; null when the client left naming to the upstream. */
  readonly ids: readonly string[] | null;
  readonly modifications: readonly Modification[];
}
export interface Ligand {
  readonly type: 'ligand';
  readonly ids: readonly string[] | null;
  readonly smiles: string | null;
  readonly ccd: readonly string[] | null;
}
export type Chain = Polymer | Ligand;

/** Number of chains of an entry: one for each id, and one without ids. */
export const copyCount = ({ ids }: Chain): number => Math.max(1, ids?.length ?? 1);

function readPolymer(type: PolymerType, input: PolymerInput): Polymer {
  const modifications = (input.modifications ?? []).map(({ position, ccd }) => ({
    position,
    ccd: ccd.trim().toUpperCase(),
  }));
  return { type, ids: input.ids ?? null, ...readPastedSequence(input.sequence), modifications };
}

export function readChain({ protein, rna, dna, ligand }: ChainInput): Chain {
  if (protein !== undefined) return readPolymer('protein', protein);
  if (rna !== undefined) return readPolymer('rna', rna);
  if (dna !== undefined) return readPolymer('dna', dna);
  return {
    type: 'ligand',
    ids: ligand.ids ?? null,
    // Forms send an empty text for what is left out.
    smiles: splitHeader(ligand.smiles ?? '').body.trim() || null,
    ccd: ligand.ccd?.map((code) => splitHeader(code).body.trim().toUpperCase()) ?? null,
  };
}
