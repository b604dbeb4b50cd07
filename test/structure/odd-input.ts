// Odd folding results for property tests: names of chains, components and atoms, modified residues,
// metals, copies, residues without coordinates. Atoms stand far apart, so that none are bonded by
// chance.
import fc from 'fast-check';

const PROTEIN = ['MET', 'GLY', 'ALA', 'CYS', 'LYS', 'SEP', 'MSE', 'DAL', 'DPR', 'HYP', 'UNK', 'SEC'];
const RNA = ['A', 'C', 'G', 'U', 'PSU', '5MC', 'OMG'];
const DNA = ['DA', 'DC', 'DG', 'DT', '5CM'];
const LIGANDS = ['ATP', 'HEM', 'LIG', 'NAG', 'UNL', '4HT', '0G7'];
const IONS = ['MG', 'ZN', 'CA', 'NA', 'K', 'FE', 'CL', 'CD', 'HG'];
const LIGAND_ATOMS = ['C1', "O5'", 'N9', 'CL1', 'BR2', 'FE', 'S', 'P', 'C10A', 'O"1', 'F', 'SE', 'CA', 'NA'];
const ELEMENTS: Readonly<Record<string, string>> = {
  CL1: 'Cl',
  BR2: 'Br',
  FE: 'Fe',
  SE: 'Se',
  CA: 'C',
  NA: 'N',
};

interface OddResidue {
  readonly name: string;
  readonly atoms: readonly { readonly name: string; readonly element: string }[];
}

const toElement = (name: string): string => ELEMENTS[name] ?? name.charAt(0);

const residue = (names: readonly string[], atoms: readonly string[]): fc.Arbitrary<OddResidue> =>
  fc.record({
    name: fc.constantFrom(...names),
    atoms: fc
      .integer({ min: 0, max: atoms.length })
      .map((count) => atoms.slice(0, count).map((name) => ({ name, element: toElement(name) }))),
  });

const chain = (names: readonly string[], atoms: readonly string[]) =>
  fc.array(residue(names, atoms), { minLength: 1, maxLength: 8 }).map((residues) =>
    // A chain has one residue with coordinates at least.
    residues.map((one, k) =>
      k > 0 ? one : { ...one, atoms: atoms.map((name) => ({ name, element: toElement(name) })) },
    ),
  );

const ligand = fc
  .record({
    name: fc.constantFrom(...LIGANDS),
    atoms: fc.uniqueArray(fc.constantFrom(...LIGAND_ATOMS), { minLength: 2, maxLength: 8 }),
  })
  .map(({ name, atoms }) => [
    { name, atoms: atoms.map((atom) => ({ name: atom, element: toElement(atom) })) },
  ]);

const ion = fc
  .constantFrom(...IONS)
  .map((name) => [{ name, atoms: [{ name, element: name.charAt(0) + name.slice(1).toLowerCase() }] }]);

const kinds: fc.Arbitrary<{ kind: string; residues: readonly OddResidue[] }> = fc.oneof(
  chain(PROTEIN, ['N', 'CA', 'C', 'O', 'CB']).map((residues) => ({ kind: 'protein', residues })),
  chain(RNA, ['P', "O5'", "C5'", 'N9']).map((residues) => ({ kind: 'rna', residues })),
  chain(DNA, ['P', "O5'", "C5'", 'N1']).map((residues) => ({ kind: 'dna', residues })),
  ligand.map((residues) => ({ kind: 'ligand', residues })),
  ion.map((residues) => ({ kind: 'ligand', residues })),
);

/** Ids that submissions may have. */
const chainIds = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9]{1,4}$/), { minLength: 12, maxLength: 12 });

const chainSpecs = fc.array(fc.record({ of: kinds, copies: fc.integer({ min: 1, max: 3 }) }), {
  minLength: 1,
  maxLength: 4,
});

/** A folding result. */
export const oddInput = fc
  .record({ ids: chainIds, short: fc.boolean(), parts: chainSpecs })
  .map(({ ids, short, parts }) => {
    const chains = parts.flatMap(({ of, copies }) => Array.from({ length: copies }, () => of));
    const tokens = chains.flatMap(({ residues }, c) => residues.map((one) => ({ ...one, c })));
    const atoms = tokens.flatMap((token) => token.atoms);
    let at = 0;
    let first = 0;
    return {
      /** Numbers of the chains that are copies of one another. */
      copies: parts.map(({ copies }) => Array.from({ length: copies }, () => first++)),
      complex: {
        id: 'odd',
        sequence: tokens.map(({ name }) => name),
        chain_id: tokens.map(({ c }) => c),
        metadata: {
          chain_lookup: Object.fromEntries(
            chains.map((_, c) => [String(c), short ? 'ABCDEFGHIJKLMNOP'.charAt(c) : (ids[c] ?? '')]),
          ),
          entity_lookup: {},
        },
        atom_names: atoms.map(({ name }) => name),
        atom_elements: atoms.map(({ element }) => element),
        atom_hetero: tokens.flatMap((token) => token.atoms.map(() => chains[token.c]?.kind === 'ligand')),
        // Rows of a grid of 6 Å.
        atom_positions: atoms.map((_, k) => [
          (k % 16) * 6,
          (Math.floor(k / 16) % 16) * 6,
          Math.floor(k / 256) * 6,
        ]),
        token_to_atoms: tokens.map((token) => {
          const start = at;
          at += token.atoms.length;
          return [start, at];
        }),
        plddt: tokens.map((_, k) => (k % 100) / 100),
      },
    };
  });
