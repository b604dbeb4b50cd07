/**
 * Lays the backbone N, CA, C of a chain: ideal bond lengths and angles throughout (Engh and Huber),
 * phi and psi of the predicted helices and strands, and loops chosen greedily so that the chain
 * stays compact and clear of itself.
 */
import { hashText, randomFrom } from './random.ts';
import { spatialGrid } from './spatial-grid.ts';
import { place, placePoint, toBond } from './vector.ts';

/** Coordinates of N, CA and C of each residue: nine numbers a residue. Psi is in degrees. */
export interface Backbone {
  readonly points: Float64Array;
  readonly psi: Float64Array;
}

type Torsions = readonly [phi: number, psi: number];

const HELIX: Torsions = [-62.5, -42];
const STRAND: Torsions = [-118, 133];
// Basins of the Ramachandran map that a loop residue may sit in: polyproline II, beta, alpha right,
// alpha left.
const LOOP: readonly Torsions[] = [
  [-68, 145],
  [-110, 125],
  [-70, -32],
  [-90, 5],
  [57, 42],
];
const PROLINE: readonly Torsions[] = [
  [-65, 145],
  [-65, -30],
];
const TRIES = 8;
const LONGEST_LOOP = 7;

const isGlycine = (letter: string): boolean => letter === 'G';
const isProline = (letter: string): boolean => letter === 'P';

/** Ideal geometry of a residue, from the one before it: its N, its CA and its C. */
const geometry = (n: [number, number], ca: [number, number], c: [number, number]) => ({
  n: toBond(...n),
  ca: toBond(...ca),
  c: toBond(...c),
});
const USUAL = geometry([1.329, 116.6], [1.458, 121.7], [1.525, 111]);
const GLYCINE = geometry([1.329, 116.6], [1.451, 121.7], [1.516, 112.5]);
const PROLINE_BONDS = geometry([1.341, 116.9], [1.466, 120.6], [1.525, 111.8]);

function toGeometry(letter: string): typeof USUAL {
  if (isGlycine(letter)) return GLYCINE;
  return isProline(letter) ? PROLINE_BONDS : USUAL;
}

function loopTorsions(letter: string, next: string, random: () => number): Torsions {
  const basins = isProline(letter) ? PROLINE : LOOP;
  // Alpha left is for glycine and asparagine; before proline only the extended basins are open.
  const open =
    next === 'P' ? 2 : letter === 'G' || letter === 'N' ? basins.length : Math.min(basins.length, 4);
  const [phi, psi] = basins[Math.floor(random() * Math.min(open, basins.length))] ?? HELIX;
  const spread = isProline(letter) ? 4 : 14;
  const flip = isGlycine(letter) && random() < 0.3 ? -1 : 1;
  return [flip * (phi + spread * (random() - 0.5)), flip * (psi + 2 * spread * (random() - 0.5))];
}

/**
 * Pieces to lay at once: a loop with the helix or strand after it, so that the loop is judged by
 * where that goes.
 */
function pieces(states: string): { start: number; end: number }[] {
  const cuts: { start: number; end: number }[] = [];
  let start = 0;
  for (let i = 1; i <= states.length; i++) {
    const endsElement = i === states.length || (states[i - 1] !== 'C' && states[i] !== states[i - 1]);
    const longLoop = states[i - 1] === 'C' && states[i] === 'C' && i - start >= LONGEST_LOOP;
    if (endsElement || longLoop) {
      cuts.push({ start, end: i });
      start = i;
    }
  }
  return cuts;
}

// Nearest that points of residues far apart in the chain may come, in ångström, by kind: CA, C and
// side-chain bulk.
const CLOSEST = [4.0, 3.6, 4.2] as const;
/** The cost of a clash before its depth is counted. */
const CLASH = 60;
/** A piece that costs no more is taken without another try. */
const GOOD_ENOUGH = 25;
const POINTS = CLOSEST.length;
const REDRAWS = 2;
const REACH = 4.2;
/**
 * Radius of the ball that a chain is packed into, over the cube root of its length, in ångström.
 */
const BALL = 3.8;

/**
 * Where the side chain's bulk is, near enough for a clash check: this far from CA along the CA–CB
 * bond.
 */
const BULK = 2.4;

/**
 * Writes the points of residue i that must not clash into `probe`: CA, C and the side chain's bulk.
 */
function probeResidue(points: Float64Array, i: number, probe: Float64Array): void {
  const at = 9 * i;
  const x = points[at + 3] ?? 0;
  const y = points[at + 4] ?? 0;
  const z = points[at + 5] ?? 0;
  const bx = x - (points[at] ?? 0);
  const by = y - (points[at + 1] ?? 0);
  const bz = z - (points[at + 2] ?? 0);
  const cx = points[at + 6] ?? 0;
  const cy = points[at + 7] ?? 0;
  const cz = points[at + 8] ?? 0;
  const dx = cx - x;
  const dy = cy - y;
  const dz = cz - z;
  // The bond to CB leans from the bisector of the two bonds, turned outwards, to the side that
  // makes the residue L.
  const ux = bx - dx;
  const uy = by - dy;
  const uz = bz - dz;
  const wx = by * dz - bz * dy;
  const wy = bz * dx - bx * dz;
  const wz = bx * dy - by * dx;
  const out = 1 / Math.sqrt(ux * ux + uy * uy + uz * uz);
  const lean = -0.58 / Math.sqrt(wx * wx + wy * wy + wz * wz);
  const ox = ux * out + wx * lean;
  const oy = uy * out + wy * lean;
  const oz = uz * out + wz * lean;
  const reach = BULK / Math.sqrt(ox * ox + oy * oy + oz * oz);
  probe[0] = x;
  probe[1] = y;
  probe[2] = z;
  probe[3] = cx;
  probe[4] = cy;
  probe[5] = cz;
  probe[6] = x + ox * reach;
  probe[7] = y + oy * reach;
  probe[8] = z + oz * reach;
}

function grow(sequence: string, states: string, plddt: readonly number[], random: () => number): Backbone {
  const length = sequence.length;
  const points = new Float64Array(9 * length);
  const phi = new Float64Array(length);
  const psi = new Float64Array(length);
  const grid = spatialGrid(REACH);
  const { tags, squares } = grid.found;
  const probe = new Float64Array(9);
  const radius = BALL * Math.cbrt(Math.max(8, length));
  const centre = radius * 0.6;

  const setTurn = (i: number, [ownPhi, ownPsi]: Torsions): void => {
    phi[i] = ownPhi;
    psi[i] = ownPsi;
  };
  const turnAnew = (i: number): void => {
    const state = states[i];
    if (state === 'C') setTurn(i, loopTorsions(sequence.charAt(i), sequence.charAt(i + 1), random));
    else {
      const [ownPhi, ownPsi] = state === 'H' ? HELIX : STRAND;
      setTurn(i, [ownPhi + 5 * (random() - 0.5), ownPsi + 5 * (random() - 0.5)]);
    }
  };
  /**
   * Places residue i after the one before it, from that one's psi and its own phi; omega is 180°.
   */
  const placeResidue = (i: number): void => {
    const { n, ca, c } = toGeometry(sequence.charAt(i));
    const at = 3 * i;
    if (i === 0) {
      // N in the origin and CA on the x axis; C has its torsion to a point beside N.
      const [x, y, z] = place([0, 1, 0], [0, 0, 0], [1.458, 0, 0], 1.525, 111, 60);
      points.set([0, 0, 0, 1.458, 0, 0, x, y, z], 0);
      return;
    }
    placePoint(points, at, at - 3, at - 2, at - 1, n, psi[i - 1] ?? 0);
    placePoint(points, at + 1, at - 2, at - 1, at, ca, 180);
    placePoint(points, at + 2, at - 1, at, at + 1, c, phi[i] ?? 0);
  };

  /**
   * Lower is better: clashes count most, then what lies outside the ball. Gives up beyond `limit`.
   */
  const cost = (start: number, end: number, limit: number): number => {
    let total = 0;
    for (let i = start; i < end && total < limit; i++) {
      probeResidue(points, i, probe);
      for (let kind = 0; kind < POINTS; kind++) {
        const closest = CLOSEST[kind] ?? 4;
        const count = grid.near(probe[3 * kind] ?? 0, probe[3 * kind + 1] ?? 0, probe[3 * kind + 2] ?? 0);
        for (let k = 0; k < count; k++) {
          const squared = squares[k] ?? 0;
          if (i - (tags[k] ?? 0) >= 3 && squared < closest * closest)
            total += CLASH + 4 * (closest - Math.sqrt(squared));
        }
      }
      const x = (probe[0] ?? 0) - centre;
      const y = probe[1] ?? 0;
      const z = probe[2] ?? 0;
      const out = Math.sqrt(x * x + y * y + z * z) - radius;
      if ((plddt[i] ?? 0) > 0.6) total += 2.5 * Math.max(0, out + 4);
      else total += 0.15 * Math.max(0, -out);
    }
    // Where the chain goes on must be free, or the next piece starts in a dead end.
    if (total < limit) {
      const at = 9 * (end - 1);
      const x = points[at + 6] ?? 0;
      const y = points[at + 7] ?? 0;
      const z = points[at + 8] ?? 0;
      const dx = x - (points[at] ?? 0);
      const dy = y - (points[at + 1] ?? 0);
      const dz = z - (points[at + 2] ?? 0);
      const step = 4 / Math.sqrt(dx * dx + dy * dy + dz * dz);
      for (let steps = step; steps <= 2 * step; steps += step) {
        const count = grid.near(x + steps * dx, y + steps * dy, z + steps * dz);
        for (let k = 0; k < count; k++) if ((squares[k] ?? 0) < 16) total += CLASH / 4;
      }
    }
    return total;
  };

  /** The best way so far to lay the piece in hand. */
  const best = {
    points: new Float64Array(9 * length),
    phi: new Float64Array(length),
    psi: new Float64Array(length),
  };
  const keep = (start: number, end: number): void => {
    best.points.set(points.subarray(9 * start, 9 * end), 9 * start);
    best.phi.set(phi.subarray(start, end), start);
    best.psi.set(psi.subarray(start, end), start);
  };
  const restore = (start: number, end: number): void => {
    points.set(best.points.subarray(9 * start, 9 * end), 9 * start);
    phi.set(best.phi.subarray(start, end), start);
    psi.set(best.psi.subarray(start, end), start);
  };
  const layAnew = (start: number, end: number): void => {
    for (let i = start; i < end; i++) {
      turnAnew(i);
      placeResidue(i);
    }
  };
  /**
   * Lays the best again with one residue of its loop changed; what comes before that one stays
   * where it is.
   */
  const layChanged = (start: number, end: number): void => {
    restore(start, end);
    let loop = start;
    while (loop < end && states[loop] === 'C') loop++;
    const changed = start + Math.floor(random() * Math.max(1, loop - start));
    turnAnew(changed);
    for (let i = changed; i < end; i++) placeResidue(i);
  };

  // When a piece cannot be laid without a clash, the one before it is taken back and drawn again.
  const all = pieces(states);
  const redrawn = new Int32Array(all.length);
  for (let p = 0; p < all.length; ) {
    const { start, end } = all[p] ?? { start: 0, end: 0 };
    layAnew(start, end);
    let lowest = start > 0 ? cost(start, end, Number.POSITIVE_INFINITY) : 0;
    keep(start, end);
    for (let t = 1; lowest > GOOD_ENOUGH && t < TRIES; t++) {
      // First search widely, then mend the best so far.
      if (t < TRIES / 2) layAnew(start, end);
      else layChanged(start, end);
      const value = cost(start, end, lowest);
      if (value >= lowest) continue;
      lowest = value;
      keep(start, end);
    }
    const back = all[p - 1];
    if (lowest > CLASH && back && (redrawn[p] ?? 0) < REDRAWS) {
      redrawn[p] = (redrawn[p] ?? 0) + 1;
      grid.shrink(back.start * POINTS);
      p--;
      continue;
    }
    restore(start, end);
    for (let i = start; i < end; i++) {
      probeResidue(points, i, probe);
      for (let k = 0; k < 9; k += 3) grid.add(probe[k] ?? 0, probe[k + 1] ?? 0, probe[k + 2] ?? 0, i);
    }
    p++;
  }
  return { points, psi };
}

/**
 * @param sequence one-letter codes
 * @param states H, E or C per residue
 * @param plddt 0 to 1 per residue: what is uncertain is left to stick out instead of being packed
 * @param salt another number gives another arrangement
 */
export function layBackbone(sequence: string, states: string, plddt: readonly number[], salt = 0): Backbone {
  const random = randomFrom(hashText(sequence, salt));
  return grow(sequence, states, plddt, random);
}
