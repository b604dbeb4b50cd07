/**
 * The folding-result JSON, field for field as the service's clients read it. Computes nothing of
 * science.
 */
import { round } from '../structure/confidence.ts';
import type { ChainModel } from './model.ts';
import type { ResultForm, ResultToken } from './rows.ts';

export interface FoldingResultJson {
  complex: {
    id: string;
    /** Token names, such as MET, A, ATP: one a residue, a nucleotide or a ligand component. */
    sequence: string[];
    atom_positions: number[][];
    /** Left out by some writers. */
    atom_elements?: string[];
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
  /** One slot a row, and a null slot between chains. */
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

/**
 * In the `polymer` form entities are polymer or non-polymer, and modified residues are no hetero
 * atoms.
 */
export function toComplex(
  id: string,
  chains: readonly ChainModel[],
  tokens: readonly ResultToken[],
  form: ResultForm,
): FoldingResultJson['complex'] {
  const polymersOnly = form.entities === 'polymer';
  const atoms = tokens.flatMap((token) => token.atoms.map((atom) => ({ atom, token })));
  const isHetero = ({ chain, hetero }: ResultToken): boolean =>
    polymersOnly ? chains[chain]?.kind === 'ligand' : hetero;
  const toEntity = (kind: ChainModel['kind']): string =>
    polymersOnly ? (kind === 'ligand' ? 'non-polymer' : 'polymer') : kind;
  let at = 0;
  return {
    id,
    sequence: tokens.map(({ name }) => name),
    atom_positions: atoms.map(({ atom }) => atom.at.map((x) => round(x, 3))),
    ...(form.atoms === 'full' && { atom_elements: atoms.map(({ atom }) => atom.element) }),
    atom_names: atoms.map(({ atom }) => atom.name),
    atom_hetero: atoms.map(({ token }) => isHetero(token)),
    token_to_atoms: tokens.map((token) => {
      const start = at;
      at += token.atoms.length;
      return [start, at];
    }),
    chain_id: tokens.map(({ chain }) => chain),
    plddt: tokens.map(({ plddt }) => plddt),
    metadata: {
      entity_lookup: Object.fromEntries(chains.map(({ entity, kind }) => [String(entity), toEntity(kind)])),
      chain_lookup: Object.fromEntries(chains.map(({ id: name }, c) => [String(c), name])),
      assembly_composition: polymersOnly ? null : { '1': chains.map(({ id: name }) => name) },
    },
  };
}
