// Reads what refers to chains: covalent bonds, pocket and distogram conditioning (spec: the tables
// of the same names), and the rules that need the whole input.
import { z } from 'zod';
import type { Chain } from './chain-index.ts';
import { list } from './reading.ts';

const index = z.int().min(0);

export const covalentBond = z.strictObject({
  chain_id1: z.string(),
  res_idx1: index,
  atom_idx1: index,
  chain_id2: z.string(),
  res_idx2: index,
  atom_idx2: index,
});

const contact = z
  .array(z.unknown())
  .length(2, { error: 'must be a pair: a chain id and a residue index' })
  .pipe(z.tuple([z.string(), index]));

export const pocket = z.strictObject({
  binder_chain_id: z.string(),
  contacts: list(contact),
});

const isRowOfIntegers = (row: unknown): row is number[] =>
  Array.isArray(row) && row.every((value) => Number.isSafeInteger(value));

/**
 * A matrix of integers, of any size; its mistakes are told once, not for each of a million cells.
 */
const distogramMatrix = z.array(z.unknown()).transform((rows, context): number[][] => {
  const matrix: number[][] = [];
  for (const [at, row] of rows.entries()) {
    if (!isRowOfIntegers(row)) {
      context.addIssue({ code: 'custom', path: [at], message: 'must be an array of integers' });
      return matrix;
    }
    const columns = matrix[0]?.length ?? row.length;
    if (row.length !== columns) {
      const message = `has ${row.length} entries, but the first row has ${columns}; the rows of a matrix are equally long`;
      context.addIssue({ code: 'custom', path: [at], message });
      return matrix;
    }
    matrix.push(row);
  }
  return matrix;
});

export const distogram = z.strictObject({ chain_id: z.string(), distogram: distogramMatrix });

interface Referring {
  readonly covalent_bonds?: z.output<typeof covalentBond>[] | null | undefined;
  readonly pocket?: z.output<typeof pocket> | null | undefined;
  readonly distogram_conditioning?: z.output<typeof distogram>[] | null | undefined;
}

/** Every chain reference must name a chain of the input, every residue index must lie inside it. */
export function checkReferences(input: Referring, chains: readonly Chain[], context: z.RefinementCtx): void {
  const byId = new Map(chains.map((chain) => [chain.id, chain]));
  const known = [...byId.keys()].slice(0, 12).join(', ');
  const complain = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: 'custom', path, message });

  const chainAt = (path: (string | number)[], id: string): Chain | undefined => {
    const chain = byId.get(id);
    if (chain === undefined) complain(path, `names no chain of this input (chains: ${known})`);
    return chain;
  };
  const residueAt = (path: (string | number)[], chain: Chain | undefined, residue: number): void => {
    // A ligand has as many residues as the folding makes of it.
    if (chain !== undefined && chain.kind !== 'ligand' && residue >= chain.residues)
      complain(
        path,
        `is ${residue}, but chain ${chain.id} has residues 0 to ${chain.residues - 1} (zero-indexed)`,
      );
  };

  for (const [at, bond] of (input.covalent_bonds ?? []).entries()) {
    const path = ['covalent_bonds', at];
    residueAt([...path, 'res_idx1'], chainAt([...path, 'chain_id1'], bond.chain_id1), bond.res_idx1);
    residueAt([...path, 'res_idx2'], chainAt([...path, 'chain_id2'], bond.chain_id2), bond.res_idx2);
  }

  if (input.pocket) {
    chainAt(['pocket', 'binder_chain_id'], input.pocket.binder_chain_id);
    for (const [at, [id, residue]] of input.pocket.contacts.entries()) {
      const path = ['pocket', 'contacts', at];
      residueAt([...path, 1], chainAt([...path, 0], id), residue);
    }
  }

  for (const [at, { chain_id }] of (input.distogram_conditioning ?? []).entries())
    chainAt(['distogram_conditioning', at, 'chain_id'], chain_id);
}
