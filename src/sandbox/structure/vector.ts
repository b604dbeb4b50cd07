/** Vectors and internal coordinates, in ångström and degrees. Knows nothing of chemistry. */

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

/**
 * Places the next atom from three placed ones (NeRF: natural extension reference frame).
 *
 * @param bond length c–new in ångström
 * @param angle angle b–c–new in degrees
 * @param torsion torsion a–b–c–new in degrees, IUPAC sign
 */
export function place(a: Vec, b: Vec, c: Vec, bond: number, angle: number, torsion: number): Vec {
  // Component by component: this is where most of the time of a model goes, and vectors would be garbage.
  const ux = c[0] - b[0];
  const uy = c[1] - b[1];
  const uz = c[2] - b[2];
  const u = Math.sqrt(ux * ux + uy * uy + uz * uz);
  const [px, py, pz] = u < 1e-9 ? [1, 0, 0] : [ux / u, uy / u, uz / u];
  const wx = b[0] - a[0];
  const wy = b[1] - a[1];
  const wz = b[2] - a[2];
  const vx = wy * pz - wz * py;
  const vy = wz * px - wx * pz;
  const vz = wx * py - wy * px;
  const v = Math.sqrt(vx * vx + vy * vy + vz * vz);
  const [nx, ny, nz] = v < 1e-9 ? [1, 0, 0] : [vx / v, vy / v, vz / v];
  const radial = bond * Math.sin(angle * RADIANS);
  const x = -bond * Math.cos(angle * RADIANS);
  const y = radial * Math.cos(torsion * RADIANS);
  const z = radial * Math.sin(torsion * RADIANS);
  return [
    c[0] + x * px + y * (ny * pz - nz * py) + z * nx,
    c[1] + x * py + y * (nz * px - nx * pz) + z * ny,
    c[2] + x * pz + y * (nx * py - ny * px) + z * nz,
  ];
}

/** The right-handed frame on three atoms: origin at b, x towards c, a in the xy plane with y > 0. */
export interface Frame {
  origin: Vec;
  axes: readonly [Vec, Vec, Vec];
}

export function frameOf(a: Vec, b: Vec, c: Vec): Frame {
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
