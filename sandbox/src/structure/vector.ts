/** Vectors and internal coordinates, in ångström and degrees. */

export type Vec = readonly [number, number, number];

const RADIANS = Math.PI / 180;

export const add = (a: Vec, b: Vec): Vec => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a: Vec, s: number): Vec => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const norm = (a: Vec): number => Math.sqrt(dot(a, a));
export const distance = (a: Vec, b: Vec): number => norm(sub(a, b));
export const cross = (a: Vec, b: Vec): Vec => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** The unit vector; a vector without length gives the x axis, so that no caller meets NaN. */
export function unit(a: Vec): Vec {
  const n = norm(a);
  return n < 1e-9 ? [1, 0, 0] : scale(a, 1 / n);
}

/** The form in which `placePoint` takes a bond length (ångström) and an angle (degrees). */
export interface Bond {
  readonly along: number;
  readonly across: number;
}

export const toBond = (length: number, angle: number): Bond => ({
  along: -length * Math.cos(angle * RADIANS),
  across: length * Math.sin(angle * RADIANS),
});

/**
 * Places a point from three placed ones (NeRF: natural extension reference frame), all in one array
 * of coordinates: point k has its x at 3k. Makes no objects, because most of the time of a model is
 * spent here.
 *
 * @param to the point to be written
 * @param torsion torsion a–b–c–to in degrees, IUPAC sign
 */
export function placePoint(
  points: Float64Array,
  to: number,
  a: number,
  b: number,
  c: number,
  { along, across }: Bond,
  torsion: number,
): void {
  const bx = points[3 * b] ?? 0;
  const by = points[3 * b + 1] ?? 0;
  const bz = points[3 * b + 2] ?? 0;
  const cx = points[3 * c] ?? 0;
  const cy = points[3 * c + 1] ?? 0;
  const cz = points[3 * c + 2] ?? 0;
  let px = cx - bx;
  let py = cy - by;
  let pz = cz - bz;
  const u = Math.sqrt(px * px + py * py + pz * pz);
  // Points that coincide or lie in a line leave an axis open: x is taken.
  px = u < 1e-9 ? 1 : px / u;
  py = u < 1e-9 ? 0 : py / u;
  pz = u < 1e-9 ? 0 : pz / u;
  const wx = bx - (points[3 * a] ?? 0);
  const wy = by - (points[3 * a + 1] ?? 0);
  const wz = bz - (points[3 * a + 2] ?? 0);
  let nx = wy * pz - wz * py;
  let ny = wz * px - wx * pz;
  let nz = wx * py - wy * px;
  const v = Math.sqrt(nx * nx + ny * ny + nz * nz);
  nx = v < 1e-9 ? 1 : nx / v;
  ny = v < 1e-9 ? 0 : ny / v;
  nz = v < 1e-9 ? 0 : nz / v;
  const y = across * Math.cos(torsion * RADIANS);
  const z = across * Math.sin(torsion * RADIANS);
  points[3 * to] = cx + along * px + y * (ny * pz - nz * py) + z * nx;
  points[3 * to + 1] = cy + along * py + y * (nz * px - nx * pz) + z * ny;
  points[3 * to + 2] = cz + along * pz + y * (nx * py - ny * px) + z * nz;
}

const four = new Float64Array(12);

/**
 * Places the next atom from three placed ones.
 *
 * @param bond length c–new in ångström
 * @param angle angle b–c–new in degrees
 * @param torsion torsion a–b–c–new in degrees, IUPAC sign
 */
export function place(a: Vec, b: Vec, c: Vec, bond: number, angle: number, torsion: number): Vec {
  four.set(a, 0);
  four.set(b, 3);
  four.set(c, 6);
  placePoint(four, 3, 0, 1, 2, toBond(bond, angle), torsion);
  return [four[9] ?? 0, four[10] ?? 0, four[11] ?? 0];
}

/**
 * The right-handed frame on three atoms: origin at b, x towards c, a in the xy plane with y > 0.
 */
export interface Frame {
  origin: Vec;
  axes: readonly [Vec, Vec, Vec];
}

export function toFrame(a: Vec, b: Vec, c: Vec): Frame {
  const x = unit(sub(c, b));
  const ba = sub(a, b);
  const y = unit(sub(ba, scale(x, dot(ba, x))));
  return { origin: b, axes: [x, y, cross(x, y)] };
}

export const toWorld = (f: Frame, p: Vec): Vec =>
  add(f.origin, add(add(scale(f.axes[0], p[0]), scale(f.axes[1], p[1])), scale(f.axes[2], p[2])));

export function toLocal(f: Frame, p: Vec): Vec {
  const d = sub(p, f.origin);
  return [dot(d, f.axes[0]), dot(d, f.axes[1]), dot(d, f.axes[2])];
}
