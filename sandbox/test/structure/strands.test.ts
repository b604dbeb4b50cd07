// Measures nucleotides, haem and the component table with formulas of its own.
import { Molecule } from 'openchemlib';
import { describe, expect, it } from 'vitest';
import { component, componentCodes } from '../../src/folding/components.ts';
import { buildHaem } from '../../src/folding/haem.ts';
import { buildStrand } from '../../src/folding/nucleic.ts';

type Point = readonly number[];
const minus = (a: Point, b: Point): number[] => a.map((x, k) => x - (b[k] ?? 0));
const length = (a: Point): number => Math.hypot(...a);
const apart = (a: Point, b: Point): number => length(minus(a, b));
const inner = (a: Point, b: Point): number => a.reduce((sum, x, k) => sum + x * (b[k] ?? 0), 0);
const outer = ([a = 0, b = 0, c = 0]: Point, [x = 0, y = 0, z = 0]: Point): number[] => [
  b * z - c * y,
  c * x - a * z,
  a * y - b * x,
];
const degrees = (cosine: number): number => (Math.acos(Math.max(-1, Math.min(1, cosine))) * 180) / Math.PI;

const BASE: Readonly<Record<string, string>> = {
  A: 'N9 C8 N7 C5 C6 N6 N1 C2 N3 C4',
  G: 'N9 C8 N7 C5 C6 O6 N1 C2 N2 N3 C4',
  C: 'N1 C2 O2 N3 C4 N4 C5 C6',
  U: 'N1 C2 O2 N3 C4 O4 C5 C6',
  T: 'N1 C2 O2 N3 C4 O4 C5 C7 C6',
};
const SUGAR_BONDS = [
  ["O5'", "C5'", 1.425],
  ["C5'", "C4'", 1.51],
  ["C4'", "O4'", 1.453],
  ["C4'", "C3'", 1.524],
  ["C3'", "O3'", 1.423],
  ["C3'", "C2'", 1.524],
  ["C2'", "C1'", 1.528],
  ["C1'", "O4'", 1.415],
] as const;

describe.each([
  ['rna', 'GACUGACUGACUGAC', 2.81, 32.7],
  ['dna', 'GACTGACTGACTGAC', 3.38, 36],
] as const)('a strand of %s', (kind, sequence, rise, twist) => {
  const strand = buildStrand(sequence, kind);
  const places = strand.map(({ atoms }) => new Map(atoms.map(({ name, at }) => [name, at as Point])));
  const at = (i: number, name: string): Point => {
    const found = places[i]?.get(name);
    if (!found) throw new Error(`no ${name} in nucleotide ${i}`);
    return found;
  };

  it('has every heavy atom by its name', () => {
    strand.forEach(({ name, atoms }, i) => {
      const letter = sequence.charAt(i);
      expect(name).toBe(kind === 'rna' ? letter : `D${letter}`);
      const sugar = "O5' C5' C4' O4' C3' O3' C2' C1'".split(' ');
      const wanted = [
        ...(i > 0 ? ['P', 'OP1', 'OP2'] : []),
        ...sugar,
        ...(kind === 'rna' ? ["O2'"] : []),
        ...(BASE[letter] ?? '').split(' '),
      ];
      expect(atoms.map((atom) => atom.name).sort()).toEqual(wanted.sort());
    });
  });

  it('closes its sugars and links its phosphates at ideal lengths, with beta-D sugars', () => {
    for (let i = 0; i < strand.length; i++) {
      for (const [a, b, ideal] of SUGAR_BONDS)
        expect(Math.abs(apart(at(i, a), at(i, b)) - ideal)).toBeLessThan(0.02);
      if (i > 0) {
        expect(apart(at(i - 1, "O3'"), at(i, 'P'))).toBeCloseTo(1.607, 2);
        expect(apart(at(i, 'P'), at(i, "O5'"))).toBeCloseTo(1.593, 2);
      }
      // The base and C5′ stand on one side of the sugar ring, O3′ on the other.
      const nitrogen = at(i, 'AG'.includes(sequence.charAt(i)) ? 'N9' : 'N1');
      const middle = at(i, "C1'").map((x, k) => (x + (at(i, "C4'")[k] ?? 0)) / 2);
      const normal = outer(minus(at(i, "C4'"), at(i, "O4'")), minus(at(i, "C1'"), at(i, "O4'")));
      const side = (p: Point): number => Math.sign(inner(normal, minus(p, middle)));
      expect(side(nitrogen)).toBe(side(at(i, "C5'")));
      expect(side(at(i, "O3'"))).toBe(-side(nitrogen));
    }
  });

  it('winds as its form does, right-handed, with flat bases and nothing touching', () => {
    const bend = (i: number): number[] =>
      minus(minus(at(i, "C1'"), at(i + 1, "C1'")), minus(at(i + 1, "C1'"), at(i + 2, "C1'")));
    const axis = outer(bend(4), bend(5));
    const step = minus(at(5, "C1'"), at(4, "C1'"));
    expect(inner(axis, step) / length(axis)).toBeCloseTo(rise, 1);
    expect(
      Math.abs(degrees(inner(bend(4), bend(5)) / length(bend(4)) / length(bend(5))) - twist),
    ).toBeLessThan(0.5);
    for (let i = 0; i < strand.length; i++) {
      const names = (BASE[sequence.charAt(i)] ?? '').split(' ');
      const [a, b, c] = names.map((name) => at(i, name));
      const normal = outer(minus(b ?? [], a ?? []), minus(c ?? [], a ?? []));
      for (const name of names)
        expect(Math.abs(inner(normal, minus(at(i, name), a ?? [])) / length(normal))).toBeLessThan(0.03);
      for (let j = i + 2; j < strand.length; j++)
        for (const one of places[i]?.values() ?? [])
          for (const two of places[j]?.values() ?? []) expect(apart(one, two)).toBeGreaterThan(2.8);
    }
  });
});

describe('components', () => {
  it('have one name per heavy atom, of its element, no name twice', () => {
    for (const code of componentCodes()) {
      const { smiles, names } = component(code) ?? { smiles: '', names: [] };
      const molecule = Molecule.fromSmiles(smiles, { noCoordinates: true });
      const elements = Array.from({ length: molecule.getAllAtoms() }, (_, i) =>
        molecule.getAtomLabel(i).toUpperCase(),
      );
      expect([code, names.length]).toEqual([code, elements.length]);
      names.forEach((name, i) => {
        expect([code, name, name.startsWith(elements[i] ?? '?')]).toEqual([code, name, true]);
      });
      expect(new Set(names).size).toBe(names.length);
    }
    expect(componentCodes().length).toBeGreaterThan(60);
  });

  it('haem is flat around an iron with four nitrogens at 2.05 Å', () => {
    const atoms = buildHaem();
    expect(atoms).toHaveLength(43);
    expect(new Set(atoms.map(({ name }) => name)).size).toBe(43);
    const nitrogens = atoms.filter(({ element }) => element === 'N');
    expect(nitrogens).toHaveLength(4);
    for (const { at } of nitrogens) expect(length(at)).toBeCloseTo(2.05, 2);
    // Every atom but the iron has a neighbour at bonding distance, and none is nearer than a bond.
    for (const atom of atoms.filter(({ element }) => element !== 'FE')) {
      const near = atoms.filter((other) => other !== atom).map((other) => apart(other.at, atom.at));
      expect(Math.min(...near)).toBeGreaterThan(1.2);
      expect(Math.min(...near)).toBeLessThan(1.55);
    }
  });
});
