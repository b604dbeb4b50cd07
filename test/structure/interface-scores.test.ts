// Scores of interfaces against a naive reckoning, written from the papers: ipSAE (Dunbrack 2025),
// pDockQ (Bryant et al. 2022), pDockQ2 (Zhu et al. 2023), LIS (Kim et al. 2024).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainPairScores } from '../../src/structure/fold/interface-scores.ts';
import { readFoldingResult } from '../../src/structure/fold/result.ts';
import { runs } from '../property-runs.ts';
import { smallFold } from './fold.ts';

interface Residue {
  readonly chain: number;
  readonly name: string;
  readonly at: readonly number[];
  /** 0 to 100. */
  readonly plddt: number;
}

const ATOMS: Readonly<Record<string, readonly string[]>> = {
  ALA: ['CA', 'CB'],
  GLY: ['CA'],
  A: ["C1'", "C3'"],
  DA: ["C1'", "C3'"],
  ATP: ['PG', 'N1'],
};
const names = ['A', 'B', 'C', 'D'];

/**
 * A folding result; the last atom of each residue is the one whose distances count, the others are
 * far away.
 */
function createFold(residues: readonly Residue[], pae: readonly (readonly number[])[] | null) {
  let end = 0;
  const atoms = residues.flatMap(({ name, at }) =>
    (ATOMS[name] ?? []).map((atom, k, all) => ({
      atom,
      at: k === all.length - 1 ? [...at] : [999, 999, 999],
    })),
  );
  return readFoldingResult({
    complex: {
      sequence: residues.map(({ name }) => name),
      atom_positions: atoms.map(({ at }) => at),
      atom_elements: atoms.map(({ atom }) => atom.charAt(0)),
      atom_names: atoms.map(({ atom }) => atom),
      atom_hetero: residues.flatMap(({ name }) => (ATOMS[name] ?? []).map(() => name === 'ATP')),
      token_to_atoms: residues.map(({ name }) => {
        const start = end;
        end += ATOMS[name]?.length ?? 0;
        return [start, end];
      }),
      chain_id: residues.map(({ chain }) => chain),
      plddt: residues.map(({ plddt }) => plddt / 100),
      metadata: { chain_lookup: Object.fromEntries(names.map((name, k) => [String(k), name])) },
    },
    ptm: 0.5,
    ...(pae === null ? {} : { pae }),
  });
}

const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
const isNucleic = ({ name }: Residue) => name === 'A' || name === 'DA';

/** Reckons the scores of two chains as the papers describe them. */
function reckon(
  residues: readonly Residue[],
  pae: readonly (readonly number[])[] | null,
  a: number,
  b: number,
) {
  const findPlaces = (chain: number) => residues.flatMap((one, i) => (one.chain === chain ? [i] : []));
  const [inA, inB] = [findPlaces(a), findPlaces(b)];
  const of = (i: number) => residues[i] ?? expect.fail();
  const error = (i: number, j: number) => pae?.[i]?.[j] ?? Number.NaN;
  const least = [...inA, ...inB].some((i) => isNucleic(of(i))) ? 2 : 1;
  const ipsae = (from: number[], to: number[]) =>
    Math.max(
      ...from.map((i) => {
        const near = to.map((j) => error(i, j)).filter((one) => one < 10);
        const cubic = near.length < 27 ? 0 : 1.24 * (near.length - 15) ** (1 / 3) - 1.8;
        const d0 = Math.max(least, cubic);
        return near.length === 0 ? 0 : mean(near.map((one) => 1 / (1 + (one / d0) ** 2)));
      }),
    );
  const lis = (from: number[], to: number[]) => {
    const near = from.flatMap((i) => to.map((j) => error(i, j)).filter((one) => one < 12));
    return near.length === 0 ? 0 : mean(near.map((one) => (12 - one) / 12));
  };
  const contacts = inA.flatMap((i) =>
    inB.flatMap((j) =>
      Math.hypot(...[0, 1, 2].map((k) => (of(i).at[k] ?? 0) - (of(j).at[k] ?? 0))) <= 8
        ? [[i, j] as const]
        : [],
    ),
  );
  const plddt = mean([...new Set(contacts.flat())].map((i) => of(i).plddt));
  const x = plddt * Math.log10(contacts.length);
  const term = (cells: (readonly [number, number])[]) =>
    plddt * mean(cells.map(([i, j]) => 1 / (1 + (error(i, j) / 10) ** 2)));
  const x2 = Math.max(term(contacts.map(([i, j]) => [i, j])), term(contacts.map(([i, j]) => [j, i])));
  const touch = contacts.length > 0;
  const both = [...inA.flatMap((i) => inB.flatMap((j) => [error(i, j), error(j, i)]))];
  return {
    ipsae: ipsae(inA, inB),
    ipsaeMax: Math.max(ipsae(inA, inB), ipsae(inB, inA)),
    pDockQ: touch ? 0.724 / (1 + Math.exp(-0.052 * (x - 152.611))) + 0.018 : 0,
    pDockQ2: touch ? 1.31 / (1 + Math.exp(-0.075 * (x2 - 84.733))) + 0.005 : 0,
    lis: (lis(inA, inB) + lis(inB, inA)) / 2,
    meanPae: mean(both),
    minPae: Math.min(...both),
  };
}

const findScores = (pairs: readonly ChainPairScores[], a: string, b: string) =>
  pairs.find((pair) => pair.a === a && pair.b === b);

const close = (scores: object) =>
  Object.fromEntries(Object.entries(scores).map(([name, value]) => [name, expect.closeTo(value, 5)]));

describe('scores of interfaces', () => {
  it('are for two residues those reckoned by hand', () => {
    const residues = [
      { chain: 0, name: 'ALA', at: [0, 0, 0], plddt: 80 },
      { chain: 1, name: 'ALA', at: [5, 0, 0], plddt: 80 },
    ];
    const { chainPairs } = createFold(residues, [
      [0.25, 3],
      [6, 0.25],
    ]);
    // One contact, whose logarithm is 0; x of pDockQ2 is 80 / (1 + 0.3²) = 73.39.
    const common = { ipsaeMax: 0.1, pDockQ: 0.018259, pDockQ2: 0.39715, lis: 0.625, meanPae: 4.5, minPae: 3 };
    expect(chainPairs).toEqual([
      // 1 / (1 + 3²) and 1 / (1 + 6²).
      { a: 'A', b: 'B', iptm: null, ...close({ ...common, ipsae: 0.1 }) },
      { a: 'B', b: 'A', iptm: null, ...close({ ...common, ipsae: 0.027027 }) },
    ]);
  });

  it('take d0 from the number of residues, from 27 on', () => {
    const of = (count: number) => {
      const residues = Array.from({ length: count + 1 }, (_, k) => ({
        ...{ chain: k === 0 ? 0 : 1, name: 'ALA', at: [k * 100, 0, 0], plddt: 50 },
      }));
      return findScores(
        createFold(
          residues,
          residues.map(() => residues.map(() => 2)),
        ).chainPairs,
        'A',
        'B',
      )?.ipsae;
    };
    expect(of(26)).toBeCloseTo(0.2, 5);
    // d0 of 27 is 1.0389, of 142 it is 1.24 * 127^(1/3) - 1.8 = 4.4330.
    expect(of(27)).toBeCloseTo(0.212485, 5);
    expect(of(142)).toBeCloseTo(0.830885, 4);
  });

  it('are for any complex those of the papers', () => {
    const residue = fc.record({
      chain: fc.nat(2),
      at: fc.tuple(...[12, 12, 12].map((max) => fc.double({ min: 0, max, noNaN: true }))),
      plddt: fc.double({ min: 1, max: 100, noNaN: true }),
    });
    const cases = fc
      .tuple(
        fc.array(residue, { minLength: 2, maxLength: 60 }),
        fc.array(fc.constantFrom('ALA', 'GLY', 'A', 'DA'), { minLength: 3, maxLength: 3 }),
      )
      .chain(([list, kinds]) => {
        const residues = list
          .toSorted((a, b) => a.chain - b.chain)
          .map((one): Residue => ({ ...one, name: kinds[one.chain] ?? 'ALA' }));
        const row = fc.array(fc.double({ min: 0.2, max: 31.75, noNaN: true }), {
          minLength: residues.length,
          maxLength: residues.length,
        });
        const pae = fc.array(row, { minLength: residues.length, maxLength: residues.length });
        return fc.tuple(fc.constant(residues), pae);
      });
    fc.assert(
      fc.property(cases, ([residues, pae]) => {
        const chains = [...new Set(residues.map(({ chain }) => chain))];
        const { chainPairs } = createFold(residues, pae);
        expect(chainPairs).toHaveLength(chains.length * (chains.length - 1));
        for (const a of chains)
          for (const b of chains)
            if (a !== b)
              expect(findScores(chainPairs, names[a] ?? '', names[b] ?? '')).toMatchObject(
                close(reckon(residues, pae, a, b)),
              );
      }),
      { numRuns: runs(60) },
    );
  });

  it('are for a ligand errors only, and without errors there is pDockQ', () => {
    const residues = [
      { chain: 0, name: 'ALA', at: [0, 0, 0], plddt: 90 },
      { chain: 1, name: 'ATP', at: [3, 0, 0], plddt: 90 },
      { chain: 2, name: 'GLY', at: [6, 0, 0], plddt: 90 },
    ];
    const none = {
      iptm: null,
      ipsae: null,
      ipsaeMax: null,
      pDockQ2: null,
      lis: null,
      meanPae: null,
      minPae: null,
    };
    const pae = residues.map((_, r) => residues.map((_one, c) => r + 2 * c));
    const { chainPairs } = createFold(residues, pae);
    expect(findScores(chainPairs, 'A', 'B')).toEqual({
      ...{ ...none, a: 'A', b: 'B', pDockQ: null, meanPae: 1.5, minPae: 1 },
    });
    expect(findScores(chainPairs, 'A', 'C')?.ipsae).toBeGreaterThan(0);
    expect(createFold(residues, null).chainPairs).toEqual([
      { ...none, a: 'A', b: 'C', pDockQ: expect.closeTo(0.018259, 5) },
      { ...none, a: 'C', b: 'A', pDockQ: expect.closeTo(0.018259, 5) },
    ]);
  });

  it('go by the row of the Ca where a modified residue has a row for each atom', () => {
    const fold = smallFold();
    // Chain A is MET, GLY and SEP, whose Ca is its second atom.
    const rows = [0, 1, 2, 2, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const pae = rows.map((_, r) => rows.map((_one, c) => (r === 3 && c === 7 ? 1 : 20)));
    const { chainPairs, misfits } = readFoldingResult({ ...fold, pae });
    expect(misfits.pae).toBeNull();
    expect(findScores(chainPairs, 'A', 'B')).toMatchObject({
      ipsae: 0.5,
      lis: expect.closeTo(11 / 24, 5),
      minPae: 1,
    });
    const elsewhere = rows.map((_, r) => rows.map((_one, c) => (r === 4 && c === 7 ? 1 : 20)));
    const other = readFoldingResult({ ...fold, pae: elsewhere }).chainPairs;
    expect(findScores(other, 'A', 'B')).toMatchObject({ ipsae: 0, lis: 0, minPae: 1 });
  });
});
