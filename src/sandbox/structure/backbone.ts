/**
 * Lays the backbone N, CA, C of a chain: ideal bond lengths and angles throughout (Engh and Huber), phi and psi of
 * the predicted helices and strands, and loops chosen greedily so that the chain stays compact and clear of itself.
 * Must not know of side chains.
 */
import { hashText, randomFrom } from './random.ts';
import { spatialGrid } from './spatial-grid.ts';
import { add, cross, distance, place, scale, sub, unit, type Vec } from './vector.ts';

export interface BackboneResidue {
  n: Vec;
  ca: Vec;
  c: Vec;
  phi: number;
  psi: number;
}

type Torsions = readonly [phi: number, psi: number];

const HELIX: Torsions = [-62.5, -42];
const STRAND: Torsions = [-118, 133];
// Basins of the Ramachandran map that a loop residue may sit in: polyproline II, beta, alpha right, alpha left.
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
const TRIES = 18;
const LONGEST_LOOP = 7;

const isGlycine = (letter: string): boolean => letter === 'G';
const isProline = (letter: string): boolean => letter === 'P';

function caAngle(letter: string): number {
  if (isGlycine(letter)) return 112.5;
  return isProline(letter) ? 111.8 : 111;
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

/** The next residue after `last`, from last's psi and its own phi; omega is 180°. */
function extend(last: BackboneResidue, letter: string, [phi, psi]: Torsions): BackboneResidue {
  const proline = isProline(letter);
  const n = place(last.n, last.ca, last.c, proline ? 1.341 : 1.329, proline ? 116.9 : 116.6, last.psi);
  const ca = place(
    last.ca,
    last.c,
    n,
    isGlycine(letter) ? 1.451 : proline ? 1.466 : 1.458,
    proline ? 120.6 : 121.7,
    180,
  );
  const c = place(last.c, n, ca, isGlycine(letter) ? 1.516 : 1.525, caAngle(letter), phi);
  return { n, ca, c, phi, psi };
}

function first(letter: string, [phi, psi]: Torsions): BackboneResidue {
  const n: Vec = [0, 0, 0];
  const ca: Vec = [1.458, 0, 0];
  return { n, ca, c: place([0, 1, 0], n, ca, 1.525, caAngle(letter), 60), phi, psi };
}

/** Where the side chain's bulk is, near enough for a clash check: 2.4 Å from CA along the CA–CB bond. */
function bulk({ n, ca, c }: BackboneResidue): Vec {
  const b = sub(ca, n);
  const d = sub(c, ca);
  const out = add(scale(unit(cross(b, d)), -0.58), unit(sub(scale(ca, 2), add(n, c))));
  return add(ca, scale(unit(out), 2.4));
}

/** Pieces to lay at once: a loop with the helix or strand after it, so that the loop is judged by where that goes. */
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

const CLOSEST_CA = 4.6;
const CLOSEST_BULK = 4.0;
const REACH = 7.5;

/**
 * @param sequence one-letter codes
 * @param states H, E or C per residue
 * @param plddt 0 to 1 per residue: what is uncertain is left to stick out instead of being packed
 */
export function layBackbone(
  sequence: string,
  states: string,
  plddt: readonly number[],
  salt = 0,
): BackboneResidue[] {
  const random = randomFrom(hashText(sequence, salt));
  const chain: BackboneResidue[] = [];
  const grid = spatialGrid(REACH);
  const radius = 2.6 * Math.cbrt(Math.max(8, sequence.length));
  let centre: Vec = [0, 0, 0];

  const drawPiece = (start: number, end: number): BackboneResidue[] => {
    const drawn: BackboneResidue[] = [];
    for (let i = start; i < end; i++) {
      const letter = sequence.charAt(i);
      const state = states[i];
      const jitter = () => 3 * (random() - 0.5);
      const [phi, psi]: Torsions =
        state === 'H' ? HELIX : state === 'E' ? STRAND : loopTorsions(letter, sequence.charAt(i + 1), random);
      const torsions: Torsions = state === 'C' ? [phi, psi] : [phi + jitter(), psi + jitter()];
      const last = drawn.at(-1) ?? chain.at(-1);
      drawn.push(last === undefined ? first(letter, torsions) : extend(last, letter, torsions));
    }
    return drawn;
  };

  /** Lower is better: clashes count most, then distance from the centre, less the contacts made. */
  const cost = (piece: readonly BackboneResidue[], start: number): number => {
    let clash = 0;
    let contact = 0;
    let far = 0;
    piece.forEach((residue, k) => {
      const i = start + k;
      const see = (point: Vec, closest: number) =>
        grid.near(point[0], point[1], point[2], (tag, squared) => {
          if (i - tag < 4) return;
          const d = Math.sqrt(squared);
          if (d < closest) clash += (closest - d) ** 2 + 0.3;
          else contact += 1;
        });
      see(residue.ca, CLOSEST_CA);
      see(bulk(residue), CLOSEST_BULK);
      const out = distance(residue.ca, centre) - radius * 0.5;
      far += (out > 0 ? out : 0) * ((plddt[i] ?? 0) > 0.65 ? 1 : -0.25);
    });
    return 14 * clash + (1.1 * far - 0.5 * contact) / Math.sqrt(piece.length);
  };

  for (const { start, end } of pieces(states)) {
    let best = drawPiece(start, end);
    if (start > 0) {
      let lowest = cost(best, start);
      for (let t = 1; t < TRIES || (lowest > 40 && t < 3 * TRIES); t++) {
        const other = drawPiece(start, end);
        const value = cost(other, start);
        if (value < lowest) [best, lowest] = [other, value];
      }
    }
    best.forEach((residue, k) => {
      const b = bulk(residue);
      grid.add(...residue.ca, start + k);
      grid.add(...b, start + k);
      chain.push(residue);
      centre = add(centre, scale(sub(residue.ca, centre), 1 / chain.length));
    });
  }
  return chain;
}
