// Odd results as files: every chain, residue, atom, element and entity is what was sent. Readers of
// others see the same in test/system/structure.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeFoldFile } from '../../src/structure/fold/files.ts';
import { readFoldingResult } from '../../src/structure/fold/result.ts';
import { oddInput } from './odd-input.ts';
import { readCif } from './read-cif.ts';

type Atom = readonly [chain: string, component: string, number: number, name: string, element: string];

const byChain = (atoms: readonly Atom[]): Record<string, Atom[]> => {
  const chains: Record<string, Atom[]> = {};
  for (const atom of atoms) {
    chains[atom[0]] ??= [];
    chains[atom[0]]?.push(atom);
  }
  return chains;
};

test('odd names, modified residues, metals and copies are in both files as they were sent', () => {
  fc.assert(
    fc.property(oddInput, ({ complex, copies }) => {
      const { chain_lookup } = complex.metadata;
      const sent = complex.sequence.flatMap((component, token): Atom[] => {
        const [start = 0, end = 0] = complex.token_to_atoms[token] ?? [];
        const chain = complex.chain_id[token] ?? 0;
        const number = token - complex.chain_id.indexOf(chain) + 1;
        return complex.atom_names
          .slice(start, end)
          .map((name, k) => [
            chain_lookup[String(chain)] ?? '',
            component,
            number,
            name,
            complex.atom_elements[start + k]?.toUpperCase() ?? '',
          ]);
      });
      const result = readFoldingResult({ complex });
      const file = writeFoldFile(result, 'MMCIF');
      if (!file.ok) throw new Error(file.reason);
      const cif = readCif(file.text);
      const rows = cif.get('atom_site') ?? [];
      expect(
        rows.map(({ auth_asym_id, auth_comp_id, auth_seq_id, auth_atom_id, type_symbol }) => [
          ...[auth_asym_id, auth_comp_id, Number(auth_seq_id), auth_atom_id, type_symbol],
        ]),
      ).toEqual(sent);
      expect(cif.get('struct_conn')).toBeUndefined();

      // Copies are one entity.
      const entities = new Map(rows.map((row) => [row.auth_asym_id, row.label_entity_id]));
      for (const group of copies)
        expect(new Set(group.map((c) => entities.get(chain_lookup[String(c)]))).size).toBe(1);
      // The scheme has a line for each residue of a polymer, and what has no coordinates is marked.
      const polymers = result.chains.filter(({ kind }) => kind !== 'ligand');
      const scheme = cif.get('pdbx_poly_seq_scheme') ?? [];
      expect(scheme.map(({ mon_id }) => mon_id)).toEqual(
        polymers.flatMap(({ tokenStart, tokenEnd }) => complex.sequence.slice(tokenStart, tokenEnd)),
      );
      expect(scheme.filter(({ pdb_mon_id }) => pdb_mon_id === '?').length).toBe(
        polymers
          .flatMap(({ tokenStart, tokenEnd }) => complex.token_to_atoms.slice(tokenStart, tokenEnd))
          .filter(([start, end]) => start === end).length,
      );

      const pdb = writeFoldFile(result, 'PDB');
      if (!pdb.ok) return;
      const lines = pdb.text.split('\n').filter((line) => /^(?:ATOM|HETATM)/.test(line));
      const read = lines.map(
        (line): Atom => [
          line.charAt(21),
          line.slice(17, 20).trim(),
          Number(line.slice(22, 26)),
          line.slice(12, 16).trim(),
          line.slice(76, 78).trim(),
        ],
      );
      expect(byChain(read)).toEqual(byChain(sent));
    }),
    { numRuns: 200 },
  );
});
