/** The folding-result JSON, field for field as the service's clients read it. Computes nothing of science. */
import { round } from '../structure/confidence.ts';
import type { ChainModel } from './model.ts';
import type { Scores } from './scores.ts';

export interface FoldingResultJson {
  complex: {
    id: string;
    /** Token names, such as MET, A, ATP: one a residue, a nucleotide or a ligand component. */
    sequence: string[];
    atom_positions: number[][];
    atom_elements: string[];
    atom_names: string[];
    atom_hetero: boolean[];
    /** Half-open ranges of atoms. */
    token_to_atoms: [number, number][];
    /** Per token, an index into `metadata.chain_lookup`. */
    chain_id: number[];
    plddt: number[];
    metadata: {
      entity_lookup: Record<string, string>;
      chain_lookup: Record<string, string>;
      assembly_composition: Record<string, string[]> | null;
    };
  };
  /** One slot a token, and a null slot between chains. */
  plddt: (number | null)[];
  ptm: number | null;
  interface_ptm: number | null;
  pae: number[][] | null;
  pair_chains_iptm: number[][] | null;
  output_embedding_sequence: number[][] | null;
  output_embedding_pair_pooled: number[][] | null;
  residue_index: number[] | null;
  entity_id: number[] | null;
  model: string;
  /** ISO 8601. */
  created: string;
  tokens_used: number;
  warning_messages: string[];
}

export function complexOf(id: string, chains: readonly ChainModel[]): FoldingResultJson['complex'] {
  const tokens = chains.flatMap((chain, c) => chain.tokens.map((token) => ({ token, c })));
  const atoms = tokens.flatMap(({ token }) => token.atoms.map((atom) => ({ atom, hetero: token.hetero })));
  let at = 0;
  return {
    id,
    sequence: tokens.map(({ token }) => token.name),
    atom_positions: atoms.map(({ atom }) => atom.at.map((x) => round(x, 3))),
    atom_elements: atoms.map(({ atom }) => atom.element),
    atom_names: atoms.map(({ atom }) => atom.name),
    atom_hetero: atoms.map(({ hetero }) => hetero),
    token_to_atoms: tokens.map(({ token }) => {
      const start = at;
      at += token.atoms.length;
      return [start, at];
    }),
    chain_id: tokens.map(({ c }) => c),
    plddt: tokens.map(({ token }) => token.plddt),
    metadata: {
      entity_lookup: Object.fromEntries(chains.map(({ entity, kind }) => [String(entity), kind])),
      chain_lookup: Object.fromEntries(chains.map(({ id: name }, c) => [String(c), name])),
      assembly_composition: { '1': chains.map(({ id: name }) => name) },
    },
  };
}

export const plddtWithBreaks = (chains: readonly ChainModel[]): (number | null)[] =>
  chains.flatMap(({ tokens }, c) => [...(c > 0 ? [null] : []), ...tokens.map((token) => token.plddt)]);

export const matrixOf = ({ pae, size }: Scores): number[][] =>
  Array.from({ length: size }, (_, i) =>
    Array.from(pae.subarray(i * size, (i + 1) * size), (x) => round(x, 2)),
  );
