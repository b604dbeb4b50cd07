/**
 * The view of a model: its longest axis lies across the picture, its shortest along the
 * view.
 */
import type { ProteinModel } from '../structure/protein.ts';
import { add, cross, dot, scale, unit, type Vec } from '../structure/vector.ts';

type Matrix = [number, number, number, number, number, number];

/**
 * The eigenvector of the largest eigenvalue of a symmetric matrix (xx, xy, xz, yy, yz, zz), by
 * power iteration.
 */
function principal([xx, xy, xz, yy, yz, zz]: Matrix, start: Vec, without?: Vec): Vec {
  let v = start;
  for (let k = 0; k < 200; k++) {
    let w: Vec = [
      xx * v[0] + xy * v[1] + xz * v[2],
      xy * v[0] + yy * v[1] + yz * v[2],
      xz * v[0] + yz * v[1] + zz * v[2],
    ];
    if (without) {
      const d = dot(w, without);
      w = [w[0] - d * without[0], w[1] - d * without[1], w[2] - d * without[2]];
    }
    v = unit(w);
  }
  return v;
}

/**
 * Right, up and towards the viewer, as unit vectors. The signs are fixed by the chain: its start is
 * left and low.
 */
export function toView(model: ProteinModel): readonly [Vec, Vec, Vec] {
  const ca: Vec[] = model.residues.map(({ atoms }) => {
    const atom = atoms.find((a) => a.name === 'CA');
    return atom ? [atom.x, atom.y, atom.z] : [0, 0, 0];
  });
  const n = Math.max(1, ca.length);
  const mean = [0, 1, 2].map((k) => ca.reduce((sum, p) => sum + (p[k] ?? 0), 0) / n);
  const m: Matrix = [0, 0, 0, 0, 0, 0];
  const heading = [0, 0, 0];
  ca.forEach((p, i) => {
    const [x, y, z] = [p[0] - (mean[0] ?? 0), p[1] - (mean[1] ?? 0), p[2] - (mean[2] ?? 0)];
    [x * x, x * y, x * z, y * y, y * z, z * z].forEach((value, k) => {
      m[k] = (m[k] ?? 0) + value;
    });
    [x, y, z].forEach((value, k) => {
      heading[k] = (heading[k] ?? 0) + value * (i - n / 2);
    });
  });
  const towards: Vec = [heading[0] ?? 0, heading[1] ?? 0, heading[2] ?? 0];
  const first = principal(m, unit([1, 0.3, 0.2]));
  const second = principal(m, unit(cross(first, [0.31, 0.62, 0.72])), first);
  const x = dot(first, towards) < 0 ? scale(first, -1) : first;
  const y = dot(second, towards) < 0 ? scale(second, -1) : second;
  return turnedToFit(ca, x, y);
}

/**
 * Turns the picture in its plane, by an eighth at most, so that the chain fills the square best.
 */
function turnedToFit(ca: readonly Vec[], x: Vec, y: Vec): readonly [Vec, Vec, Vec] {
  const span = (axis: Vec): number => {
    const values = ca.map((p) => dot(p, axis));
    return (
      values.reduce((high, v) => Math.max(high, v), Number.NEGATIVE_INFINITY) -
      values.reduce((low, v) => Math.min(low, v), Number.POSITIVE_INFINITY)
    );
  };
  const turns = [0, 10, 20, 30, 40, 45, -10, -20, -30, -40, -45].map((degrees) => {
    const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    const right = add(scale(x, cos), scale(y, sin));
    const up = add(scale(x, -sin), scale(y, cos));
    return { right, up, size: Math.max(span(right), span(up)) };
  });
  const best = turns.reduce((least, turn) => (turn.size < least.size ? turn : least));
  return [best.right, best.up, cross(best.right, best.up)];
}
