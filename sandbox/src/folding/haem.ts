/**
 * Haem b (HEM) by construction: a planar porphyrin of fourfold symmetry around the iron, with its
 * side chains. A conformer generator does not close this ring well.
 */
import { add, place, scale, unit, type Vec } from '../structure/vector.ts';
import type { FoldAtom } from './model.ts';

// One pyrrole with the iron at the origin and the nitrogen up: Fe–N 2.05, N–C 1.37, C–C 1.44, C=C
// 1.36 Å.
const PYRROLE: readonly (readonly [name: string, x: number, y: number])[] = [
  ['N', 0, 2.05],
  ['C1', 1.1, 2.86],
  ['C2', 0.68, 4.24],
  ['C3', -0.68, 4.24],
  ['C4', -1.1, 2.86],
];
const MESO: readonly [number, number] = [-2.43, 2.43];
/** The groups on C2 and C3 of each ring: M methyl, V vinyl, P propionate. */
const RINGS = [
  ['A', 'P', 'M', 'CHB'],
  ['B', 'M', 'V', 'CHC'],
  ['C', 'M', 'V', 'CHD'],
  ['D', 'M', 'P', 'CHA'],
] as const;

/** All 43 heavy atoms, iron at the origin, the ring in the xy plane. */
export function buildHaem(): FoldAtom[] {
  const atoms: FoldAtom[] = [{ name: 'FE', element: 'FE', at: [0, 0, 0] }];
  const put = (name: string, at: Vec): Vec => {
    atoms.push({ name, element: name.charAt(0), at });
    return at;
  };
  RINGS.forEach(([ring, second, third, meso], k) => {
    const turned = (x: number, y: number): Vec => {
      const [cos, sin] = [
        [1, 0],
        [0, 1],
        [-1, 0],
        [0, -1],
      ][k] ?? [1, 0];
      return [x * (cos ?? 1) - y * (sin ?? 0), x * (sin ?? 0) + y * (cos ?? 1), 0];
    };
    for (const [name, x, y] of PYRROLE) put(`${name}${ring}`, turned(x, y));
    put(meso, turned(...MESO));
    for (const [kind, sign] of [
      [second, 1],
      [third, -1],
    ] as const) {
      const carbon = turned(0.68 * sign, 4.24);
      const inner = turned(1.1 * sign, 2.86);
      const outward = unit(turned(0.595 * sign, 0.804));
      const hang = (bond: number): Vec => add(carbon, scale(outward, bond));
      if (kind === 'M') put(`CM${ring}`, hang(1.5));
      else if (kind === 'V')
        put(`CB${ring}`, place(inner, carbon, put(`CA${ring}`, hang(1.46)), 1.32, 126, 35 * sign));
      else {
        const alpha = put(`CA${ring}`, hang(1.51));
        const beta = put(`CB${ring}`, place(inner, carbon, alpha, 1.52, 113, 90));
        const carboxyl = put(`CG${ring}`, place(carbon, alpha, beta, 1.52, 113, 180));
        put(`O1${ring}`, place(alpha, beta, carboxyl, 1.25, 118.5, 20));
        put(`O2${ring}`, place(alpha, beta, carboxyl, 1.25, 118.5, 200));
      }
    }
  });
  return atoms;
}
