// Ligands of a fold: several components in one chain, copies, haem, and SMILES that cannot be read.
import { describe, expect, it } from 'vitest';
import { component, componentCodes } from '../../src/folding/components.ts';
import { type FoldRequest, fold } from '../../src/folding/fold.ts';
import type { FoldAllAtomInput } from '../../src/folding/input.ts';
import { checkSmiles } from '../../src/folding/ligand.ts';
import type { FoldingResultJson } from '../../src/folding/result.ts';

const request = (input: FoldAllAtomInput): FoldRequest => ({
  model: 'foldmodel2-2026-05-cutoff-2025',
  input,
  repeatIndex: 0,
  includePae: false,
  includePairChainsIptm: false,
  includeEmbeddings: false,
});

async function folded(input: FoldAllAtomInput): Promise<FoldingResultJson['complex']> {
  const outcome = await fold(request(input));
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome.result.complex;
}

const apart = (a: readonly number[] = [], b: readonly number[] = []): number =>
  Math.hypot(...a.map((x, k) => x - (b[k] ?? 0)));

describe('ligands', () => {
  it('are one chain of several components, with a token each, clear of one another', async () => {
    const complex = await folded({ sequences: [{ type: 'ligand', ccd: ['nag', 'BMA', 'MG'] }] });
    expect(complex.sequence).toEqual(['NAG', 'BMA', 'MG']);
    expect(complex.token_to_atoms.map(([start, end]) => end - start)).toEqual([15, 12, 1]);
    const token = (atom: number): number =>
      complex.token_to_atoms.findIndex(([start, end]) => atom >= start && atom < end);
    complex.atom_positions.forEach((a, i) => {
      complex.atom_positions.slice(0, i).forEach((b, j) => {
        if (token(i) !== token(j)) expect(apart(a, b)).toBeGreaterThan(3);
      });
    });
  });

  it('have the same shape in copies, under different ids', async () => {
    const complex = await folded({
      sequences: [{ type: 'ligand', id: ['X', 'Y'], smiles: 'CC(=O)Oc1ccccc1C(=O)O' }],
    });
    expect(complex.metadata.chain_lookup).toEqual({ '0': 'X', '1': 'Y' });
    const [[, half = 0] = []] = complex.token_to_atoms;
    expect(complex.atom_names.slice(0, half)).toEqual(complex.atom_names.slice(half));
    for (let i = 0; i < half; i++)
      for (let j = 0; j < i; j++)
        expect(
          Math.abs(
            apart(complex.atom_positions[i], complex.atom_positions[j]) -
              apart(complex.atom_positions[half + i], complex.atom_positions[half + j]),
          ),
        ).toBeLessThan(0.005);
  });

  it('keep the iron of haem in the middle of its nitrogens', async () => {
    const complex = await folded({
      sequences: [
        { type: 'protein', sequence: 'MKTAYIAKQR' },
        { type: 'ligand', ccd: ['HEM'] },
      ],
    });
    const at = (name: string): number[] | undefined =>
      complex.atom_positions[complex.atom_names.indexOf(name)];
    for (const name of ['NA', 'NB', 'NC', 'ND']) expect(apart(at('FE'), at(name))).toBeCloseTo(2.05, 2);
    expect(complex.atom_hetero.filter((hetero) => hetero)).toHaveLength(43);
  });

  it('fail with a reason, which the check gives beforehand, where their SMILES cannot be read', async () => {
    for (const smiles of [
      'C1CC',
      'c1ccccc',
      'C(C',
      '[C',
      'C%',
      '*',
      '[H][H]',
      'C(C)(C)(C)(C)C',
      'not a molecule',
      '',
    ]) {
      const reason = checkSmiles(smiles);
      expect(reason).toEqual(expect.any(String));
      expect(await fold(request({ sequences: [{ type: 'ligand', smiles }] }))).toEqual({
        ok: false,
        error: { code: 'LIGAND_FAILED', message: reason },
      });
    }
    for (const smiles of ['CCO', '[Zn+2]', 'CC(=O)[O-].[Na+]', 'C[N+](C)(C)C', 'OS(=O)(=O)O', 'C%10CCCCC%10'])
      expect(checkSmiles(smiles)).toBeNull();
    for (const code of componentCodes()) expect(checkSmiles(component(code)?.smiles ?? '')).toBeNull();
  });
});
