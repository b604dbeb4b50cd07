// Folds of the sandbox, looked at from outside: distances, bonds, scores computed again from the
// errors, flags, failures.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/property-runs.ts';
import { type FoldRequest, fold } from '../../src/folding/fold.ts';
import type { FoldAllAtomInput } from '../../src/folding/input.ts';
import type { FoldingResultJson } from '../../src/folding/result.ts';

const BETA = 'MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLS';

const request = (input: FoldAllAtomInput, more: Partial<FoldRequest> = {}): FoldRequest => ({
  model: 'foldmodel2-2026-05-cutoff-2025',
  input,
  repeatIndex: 0,
  includePae: true,
  includePairChainsIptm: true,
  includeEmbeddings: false,
  createdAt: '2026-05-01T00:00:00.000Z',
  ...more,
});

async function folded(input: FoldAllAtomInput, more: Partial<FoldRequest> = {}): Promise<FoldingResultJson> {
  const outcome = await fold(request(input, more));
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome.result;
}

type Point = readonly number[];
const apart = (a: Point, b: Point): number => Math.hypot(...a.map((x, k) => x - (b[k] ?? 0)));

/** Atoms of each token with their names. */
function listTokens({ complex }: FoldingResultJson) {
  return complex.token_to_atoms.map(([start, end], t) => ({
    name: complex.sequence[t] ?? '',
    chain: complex.chain_id[t] ?? -1,
    atoms: Array.from({ length: end - start }, (_, k) => ({
      name: complex.atom_names[start + k] ?? '',
      element: complex.atom_elements?.[start + k] ?? '',
      at: complex.atom_positions[start + k] ?? [],
    })),
  }));
}

const atomAt = (result: FoldingResultJson, token: number, name: string): Point => {
  const found = listTokens(result)[token]?.atoms.find((atom) => atom.name === name);
  if (found === undefined) throw new Error(`no atom ${name} in token ${token}`);
  return found.at;
};

/** The nearest approach of atoms of different chains, tokens in `but` left out. */
function nearest(result: FoldingResultJson, but: readonly number[] = []): number {
  const atoms = listTokens(result).flatMap((token, t) =>
    but.includes(t) ? [] : token.atoms.map((atom) => ({ at: atom.at, chain: token.chain })),
  );
  let least = Number.POSITIVE_INFINITY;
  for (const [i, a] of atoms.entries()) {
    for (let j = i + 1; j < atoms.length; j++) {
      const b = atoms[j];
      if (b !== undefined && b.chain !== a.chain) least = Math.min(least, apart(a.at, b.at));
    }
  }
  return least;
}

const letters = (alphabet: string, most: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: 3, maxLength: most }).map((list) => list.join(''));
const part = fc.oneof(
  letters('ACDEFGHIKLMNPQRSTVWY', 40).map((sequence) => ({ type: 'protein' as const, sequence })),
  letters('ACGU', 14).map((sequence) => ({ type: 'rna' as const, sequence })),
  letters('ACGT', 14).map((sequence) => ({ type: 'dna' as const, sequence })),
  fc.constantFrom('ATP', 'MG', 'NAG', 'GOL').map((code) => ({ type: 'ligand' as const, ccd: [code] })),
);

describe('a fold', () => {
  it('keeps the chains of any mix apart, its scores within bounds and its tables consistent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), async (sequences) => {
        const result = await folded({ sequences });
        const { complex } = result;
        const size = complex.sequence.length;
        expect(nearest(result)).toBeGreaterThan(2.9);
        expect(complex.token_to_atoms).toHaveLength(size);
        expect(complex.plddt).toHaveLength(size);
        expect(complex.token_to_atoms.at(-1)?.[1]).toBe(complex.atom_positions.length);
        expect(result.plddt).toHaveLength(size + sequences.length - 1);
        expect(result.plddt.filter((value) => value === null)).toHaveLength(sequences.length - 1);
        expect(result.pae).toHaveLength(size);
        expect(result.interface_ptm === null).toBe(sequences.length === 1);
        for (const value of [...complex.plddt, result.ptm ?? -1]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: runs(5) },
    );
  });

  it('has pTM, ipTM and pair ipTM that anybody can compute from its errors', async () => {
    const result = await folded({
      sequences: [
        { type: 'protein', id: ['A', 'B'], sequence: BETA },
        { type: 'rna', id: 'R', sequence: 'GGGAAACCC' },
      ],
    });
    const pae = result.pae ?? [];
    const chain = result.complex.chain_id;
    const d0 = (n: number): number => 1.24 * Math.cbrt(Math.max(n, 19) - 15) - 1.8;
    const term = (error: number, d: number): number => 1 / (1 + (error / d) ** 2);
    const mean = (list: number[]): number => list.reduce((sum, x) => sum + x, 0) / list.length;
    const d = d0(pae.length);
    const ptm = Math.max(...pae.map((row) => mean(row.map((error) => term(error, d)))));
    const iptm = Math.max(
      ...pae.map((row, i) =>
        mean(row.filter((_, j) => chain[j] !== chain[i]).map((error) => term(error, d))),
      ),
    );
    expect(result.ptm).toBeCloseTo(ptm, 3);
    expect(result.interface_ptm).toBeCloseTo(iptm, 3);
    const between = (a: number, b: number): number =>
      Math.max(
        ...pae.flatMap((row, i) =>
          chain[i] === a ? [mean(row.filter((_, j) => chain[j] === b).map((error) => term(error, d)))] : [],
        ),
      );
    expect(result.pair_chains_iptm?.[0]?.[2]).toBeCloseTo(Math.max(between(0, 2), between(2, 0)), 3);
  });

  it('is the same for the same input and run, and another for another run', async () => {
    const input: FoldAllAtomInput = {
      sequences: [
        { type: 'protein', sequence: BETA },
        { type: 'ligand', smiles: 'CCO' },
      ],
    };
    expect(await folded(input)).toEqual(await folded(input));
    const again = await folded(input, { repeatIndex: 1 });
    expect(again.complex.atom_positions).not.toEqual((await folded(input)).complex.atom_positions);
    expect(again.complex.sequence).toEqual((await folded(input)).complex.sequence);
  });

  it('holds the matrices and embeddings exactly as the flags say', async () => {
    const input: FoldAllAtomInput = {
      sequences: [
        { type: 'protein', sequence: BETA },
        { type: 'ligand', ccd: ['ATP'] },
      ],
    };
    const bare = await folded(input, { includePae: false, includePairChainsIptm: false });
    for (const key of [
      'pae',
      'pair_chains_iptm',
      'output_embedding_sequence',
      'output_embedding_pair_pooled',
      'residue_index',
      'entity_id',
    ] as const) {
      expect(bare[key], key).toBeNull();
    }
    const full = await folded(input, { includeEmbeddings: true });
    const size = BETA.length + 1;
    expect(full.output_embedding_sequence?.map((row) => row.length)).toEqual(Array(size).fill(128));
    expect(full.output_embedding_pair_pooled?.map((row) => row.length)).toEqual(Array(size).fill(256));
    for (const row of full.output_embedding_sequence ?? []) expect(Math.hypot(...row)).toBeCloseTo(1, 2);
    expect(full.residue_index).toEqual([...Array(BETA.length).keys(), 0]);
    expect(full.entity_id).toEqual([...Array(BETA.length).fill(0), 1]);
  });

  it('bonds what is to be bonded and says what it could not bond', async () => {
    const sequences: FoldAllAtomInput['sequences'] = [
      { type: 'protein', id: 'A', sequence: 'MKCSNGTLLVAEWK' },
      { type: 'ligand', id: 'L', ccd: ['NAG'] },
    ];
    const plain = listTokens(await folded({ sequences }));
    const nd2 = plain[4]?.atoms.findIndex((atom) => atom.name === 'ND2') ?? -1;
    const c1 = plain[14]?.atoms.findIndex((atom) => atom.name === 'C1') ?? -1;
    const bond = { chain_id1: 'A', res_idx1: 4, atom_idx1: nd2, chain_id2: 'L', res_idx2: 0, atom_idx2: c1 };
    const result = await folded({ sequences, covalent_bonds: [bond] });
    expect(apart(atomAt(result, 4, 'ND2'), atomAt(result, 14, 'C1'))).toBeCloseTo(1.45, 2);
    expect(nearest(result, [4, 14])).toBeGreaterThan(2.5);
    const inside = { ...bond, chain_id2: 'A', res_idx2: 12, atom_idx2: 0 };
    const unmade = await folded({ sequences, covalent_bonds: [inside] });
    expect(unmade.warning_messages.join(' ')).toMatch(/A:4 and A:12 was not made/);
  });

  it('counts the atoms of a bond as the dictionary does, without those that leave and from the phosphate', async () => {
    const sequences: FoldAllAtomInput['sequences'] = [
      { type: 'protein', id: 'A', sequence: 'MKCSNGTLLVAEWK' },
      { type: 'ligand', id: 'L', ccd: ['NAG'] },
      { type: 'ligand', id: 'F', ccd: ['NAG'] },
      { type: 'rna', id: 'R', sequence: 'GACU' },
      { type: 'ligand', id: 'M', ccd: ['MAN'] },
    ];
    const result = await folded({
      sequences,
      covalent_bonds: [
        { chain_id1: 'A', res_idx1: 4, atom_idx1: 7, chain_id2: 'L', res_idx2: 0, atom_idx2: 0 },
        { chain_id1: 'R', res_idx1: 0, atom_idx1: 8, chain_id2: 'M', res_idx2: 0, atom_idx2: 10 },
      ],
    });
    expect(apart(atomAt(result, 4, 'ND2'), atomAt(result, 14, 'C1'))).toBeCloseTo(1.45, 2);
    expect(apart(atomAt(result, 16, "O3'"), atomAt(result, 20, 'O6'))).toBeCloseTo(1.45, 2);
    const names = listTokens(result).map(({ atoms }) => atoms.map(({ name }) => name).join(' '));
    expect(names[14]).toBe('C1 C2 C3 C4 C5 C6 C7 C8 N2 O3 O4 O5 O6 O7');
    expect(names[15]).toBe('C1 C2 C3 C4 C5 C6 C7 C8 N2 O1 O3 O4 O5 O6 O7');
  });

  it('brings a binder to its pocket', async () => {
    const sequences: FoldAllAtomInput['sequences'] = [
      { type: 'protein', id: 'A', sequence: BETA },
      { type: 'ligand', id: 'L', ccd: ['NAG'] },
    ];
    const free = await folded({ sequences });
    const middle = (points: Point[]): number[] =>
      [0, 1, 2].map((k) => points.reduce((sum, p) => sum + (p[k] ?? 0), 0) / points.length);
    const gap = (result: FoldingResultJson, residue: number): number => {
      const tokens = listTokens(result);
      const listAtoms = (token: (typeof tokens)[number] | undefined) =>
        token?.atoms.map((atom) => atom.at) ?? [];
      return apart(middle(listAtoms(tokens.at(-1))), middle(listAtoms(tokens[residue])));
    };
    let nearer = 0;
    const sites = [0, 12, 24, 36, 48];
    for (const residue of sites) {
      const pocket = { binder_chain_id: 'L', contacts: [['A', residue] as [string, number]] };
      if (gap(await folded({ sequences, pocket }), residue) <= gap(free, residue)) nearer += 1;
    }
    expect(nearer).toBeGreaterThanOrEqual(4);
  });

  it('trusts a chain more that agrees with its distogram', async () => {
    const sequences: FoldAllAtomInput['sequences'] = [{ type: 'protein', id: 'A', sequence: BETA }];
    const free = await folded({ sequences });
    const traces = listTokens(free).map(
      ({ atoms }) =>
        (atoms.find(({ name }) => name === 'CB') ?? atoms.find(({ name }) => name === 'CA'))?.at ?? [],
    );
    const agreeing = traces.map((a) =>
      traces.map((b) => Math.min(63, Math.max(0, Math.floor((apart(a, b) - 2) / (20 / 64))))),
    );
    const against = agreeing.map((row) => row.map((bin) => (bin > 32 ? 0 : 63)));
    const ptm = async (distogram: number[][]): Promise<number> =>
      (await folded({ sequences, distogram_conditioning: [{ chain_id: 'A', distogram }] })).ptm ?? 0;
    expect(await ptm(agreeing)).toBeGreaterThan(free.ptm ?? 1);
    expect(await ptm(against)).toBeLessThan(free.ptm ?? 0);
  });

  it.each([
    ['SEP', 'S', 'P', 'OG', 1.61],
    ['TPO', 'T', 'P', 'OG1', 1.61],
    ['PTR', 'Y', 'P', 'OH', 1.61],
    ['HYP', 'P', 'OD1', 'CG', 1.42],
    ['M3L', 'K', 'CM3', 'NZ', 1.48],
    ['CME', 'C', 'SD', 'SG', 2.05],
  ])('gives %s its own atoms', async (ccd, parent, added, on, length) => {
    const sequence = `MKA${parent}GLV`;
    const result = await folded({
      sequences: [{ type: 'protein', sequence, modifications: [{ position: 3, ccd }] }],
    });
    expect(result.complex.sequence[3]).toBe(ccd);
    expect(apart(atomAt(result, 3, added), atomAt(result, 3, on))).toBeCloseTo(length, 2);
    const names = listTokens(result)[3]?.atoms.map((atom) => atom.name) ?? [];
    expect(new Set(names).size).toBe(names.length);
  });

  it('makes selenium of the sulphur of MSE and keeps the parent under a name it does not know', async () => {
    const result = await folded({
      sequences: [
        {
          type: 'protein',
          sequence: 'AMAG',
          modifications: [
            { position: 1, ccd: 'MSE' },
            { position: 3, ccd: 'XYZ' },
          ],
        },
      ],
    });
    expect(listTokens(result)[1]?.atoms.find((atom) => atom.name === 'SE')?.element).toBe('SE');
    expect(apart(atomAt(result, 1, 'SE'), atomAt(result, 1, 'CG'))).toBeGreaterThan(1.85);
    expect(result.complex.sequence[3]).toBe('XYZ');
  });

  it('fails where it says that it fails, once as an object and once as a text', async () => {
    const smiles = await fold(request({ sequences: [{ type: 'ligand', smiles: 'C1CC' }] }));
    expect(smiles).toMatchObject({
      ok: false,
      error: { code: 'LIGAND_FAILED', message: expect.stringContaining('C1CC') },
    });
    const large = await fold(request({ sequences: [{ type: 'protein', sequence: 'A'.repeat(2049) }] }));
    expect(large).toEqual({ ok: false, error: 'CUDA out of memory' });
  });
});
