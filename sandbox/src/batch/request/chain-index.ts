// Lists the chains that an input has once copies and unnamed chains are told apart, and how long
// each is.
import type { SequenceInput } from './chains.ts';

/** One chain of the folded complex: a copy of an entry of `sequences`. */
export interface Chain {
  readonly id: string;
  readonly kind: SequenceInput['type'];
  /**
   * Residues that an index may point to, and what the chain adds to the input's length and to its
   * price: residues of a protein, nucleotides, components of a ligand.
   */
  readonly residues: number;
  /** Position of its entry in `sequences`. */
  readonly entry: number;
}

/** A SMILES is one component, a list of codes one for each code. */
const countResidues = (input: SequenceInput): number =>
  input.type === 'ligand' ? Math.max(1, input.ccd?.length ?? 1) : input.sequence.length;

/** A, B, ... Z, AA, AB, ... */
function letters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last;
}

/**
 * The chains in order of `sequences`, copies in order of their identifiers. A chain without an
 * identifier gets the first letter that is free: named chains are counted first, so a name is never
 * taken away.
 */
export function listChains(sequences: readonly SequenceInput[]): Chain[] {
  const named = sequences.map(({ id }) => (typeof id === 'string' ? [id] : (id ?? [])));
  const taken = new Set(named.flat());
  let next = 0;
  const free = (): string => {
    while (taken.has(letters(next))) next += 1;
    return letters(next++);
  };
  return sequences.flatMap((input, entry) => {
    const ids = named[entry] ?? [];
    return (ids.length > 0 ? ids : [free()]).map((id) => ({
      id,
      kind: input.type,
      entry,
      residues: countResidues(input),
    }));
  });
}
