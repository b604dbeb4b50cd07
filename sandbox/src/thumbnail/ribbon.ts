/**
 * The cartoon of a chain as triangles: a spline through the CA atoms with a cross-section that is a
 * round tube in loops, a flat band in helices and an arrow in strands. Knows no colours and no
 * pixels.
 */
import type { ProteinModel, ResidueModel } from '../structure/protein.ts';
import { add, cross, distance, dot, scale, sub, unit, type Vec } from '../structure/vector.ts';

export interface Mesh {
  /** Per vertex x, y, z in ångström, and the unit normal. */
  positions: Float64Array;
  normals: Float64Array;
  /** Three vertex numbers a triangle. */
  triangles: Uint32Array;
  /** Residue number per triangle. */
  residues: Uint32Array;
}

const SIDES = 12;
const MOST_SECTIONS = 4200;

interface Guide {
  at: Vec;
  side: Vec;
  state: string;
}

const atomAt = (residue: ResidueModel, name: string): Vec => {
  const atom = residue.atoms.find((a) => a.name === name);
  return atom ? [atom.x, atom.y, atom.z] : [0, 0, 0];
};

/**
 * One guide a residue: where the ribbon passes and which way its width lies (Carson and Bugg's
 * peptide planes).
 */
function guides({ residues, secondary }: ProteinModel): Guide[] {
  const ca = residues.map((residue) => atomAt(residue, 'CA'));
  const sides: Vec[] = [];
  residues.forEach((residue, i) => {
    const here = ca[i] ?? [0, 0, 0];
    const along = sub(ca[i + 1] ?? here, ca[i + 1] ? here : (ca[i - 1] ?? here));
    const plane = cross(along, sub(atomAt(residue, 'O'), here));
    const side = unit(cross(plane, along));
    const last = sides.at(-1);
    // Strands turn each peptide over: without this the band would twist by 180° at every residue.
    sides.push(last && dot(last, side) < 0 ? scale(side, -1) : side);
  });
  return ca.map((at, i) => {
    const state = secondary[i] ?? 'C';
    const [before, after] = [ca[i - 1], ca[i + 1]];
    // A strand's zigzag is drawn straight.
    const flat = state === 'E' && before && after ? add(scale(at, 0.5), scale(add(before, after), 0.25)) : at;
    const near = [sides[i - 1], sides[i], sides[i], sides[i + 1]].reduce<Vec>(
      (sum, s) => (s ? add(sum, s) : sum),
      [0, 0, 0],
    );
    return { at: flat, side: unit(near), state };
  });
}

const cubic = (p0: Vec, p1: Vec, p2: Vec, p3: Vec, t: number): Vec => {
  const [t2, t3] = [t * t, t * t * t];
  const weights = [-t + 2 * t2 - t3, 2 - 5 * t2 + 3 * t3, t + 4 * t2 - 3 * t3, t3 - t2];
  return scale(
    [p0, p1, p2, p3].reduce<Vec>((sum, p, k) => add(sum, scale(p, weights[k] ?? 0)), [0, 0, 0]),
    0.5,
  );
};

/**
 * Half width and half thickness, in ångström, at `t` of the way from residue i to i + 1, all times
 * `wide`.
 */
function profile(list: readonly Guide[], i: number, t: number, wide: number): readonly [number, number] {
  const coil = 0.42 * wide;
  const size = (k: number): readonly [number, number] => {
    const state = list[k]?.state ?? 'C';
    if (state === 'H') return [1.6 * wide, 0.36 * wide];
    return state === 'E' ? [1.35 * wide, 0.38 * wide] : [coil, coil];
  };
  const state = list[i]?.state;
  const toEnd = [0, 1, 2].find((k) => list[i + k + 1]?.state !== 'E');
  // The last residue and a half of a strand is its arrow head.
  if (state === 'E' && toEnd !== undefined && toEnd <= 1) {
    const left = toEnd + 1 - t;
    return left > 1.6 ? [1.35 * wide, 0.38 * wide] : [Math.max(coil, (2.4 * wide * left) / 1.6), 0.38 * wide];
  }
  const [from, to] = [size(i), size(i + 1)];
  const ease = t * t * (3 - 2 * t);
  return [from[0] + (to[0] - from[0]) * ease, from[1] + (to[1] - from[1]) * ease];
}

/** The distance from the middle of the chain to its farthest residue, in ångström. */
function reach(list: readonly Guide[]): number {
  const middle = scale(
    list.reduce<Vec>((sum, { at }) => add(sum, at), [0, 0, 0]),
    1 / Math.max(1, list.length),
  );
  return list.reduce((far, { at }) => Math.max(far, distance(at, middle)), 0);
}

export function ribbonMesh(model: ProteinModel): Mesh {
  const list = guides(model);
  const n = list.length;
  const steps = Math.max(3, Math.min(10, Math.floor(MOST_SECTIONS / Math.max(1, n))));
  // A chain that reaches far is drawn small, so it is drawn thicker to stay visible.
  const wide = Math.min(1.7, Math.max(1, reach(list) / 29));
  const sections = Math.max(0, (n - 1) * steps + 1);
  const positions = new Float64Array(sections * SIDES * 3);
  const normals = new Float64Array(sections * SIDES * 3);
  const rings = Math.max(0, sections - 1);
  const triangles = new Uint32Array(rings * SIDES * 6 + (sections > 0 ? 2 * (SIDES - 2) * 3 : 0));
  const residues = new Uint32Array(triangles.length / 3);
  const guide = (k: number): Guide =>
    list[Math.min(n - 1, Math.max(0, k))] ?? { at: [0, 0, 0], side: [1, 0, 0], state: 'C' };

  let fill = 0;
  const triangle = (a: number, b: number, c: number, residue: number): void => {
    triangles.set([a, b, c], fill * 3);
    residues[fill++] = residue;
  };
  for (let s = 0; s < sections; s++) {
    const i = Math.min(n - 2, Math.floor(s / steps));
    const t = n < 2 ? 0 : s / steps - i;
    const [g0, g1, g2, g3] = [guide(i - 1), guide(i), guide(i + 1), guide(i + 2)];
    const at = cubic(g0.at, g1.at, g2.at, g3.at, t);
    const tangent = unit(
      sub(cubic(g0.at, g1.at, g2.at, g3.at, t + 0.02), cubic(g0.at, g1.at, g2.at, g3.at, t - 0.02)),
    );
    const rough = add(scale(g1.side, 1 - t), scale(g2.side, t));
    const side = unit(sub(rough, scale(tangent, dot(rough, tangent))));
    const up = cross(tangent, side);
    const [w, h] = profile(list, i, t, wide);
    for (let k = 0; k < SIDES; k++) {
      const angle = (2 * Math.PI * (k + 0.5)) / SIDES;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const v = (s * SIDES + k) * 3;
      positions.set(add(at, add(scale(side, w * cos), scale(up, h * sin))), v);
      normals.set(unit(add(scale(side, cos / w), scale(up, sin / h))), v);
    }
    const residue = Math.min(n - 1, i + (t >= 0.5 ? 1 : 0));
    if (s < rings)
      for (let k = 0; k < SIDES; k++) {
        const [a, b] = [s * SIDES + k, s * SIDES + ((k + 1) % SIDES)];
        triangle(a, b, a + SIDES, residue);
        triangle(b, b + SIDES, a + SIDES, residue);
      }
  }
  for (const base of sections > 0 ? [0, rings * SIDES] : [])
    for (let k = 1; k + 1 < SIDES; k++) triangle(base, base + k, base + k + 1, base === 0 ? 0 : n - 1);
  return { positions, normals, triangles, residues };
}
