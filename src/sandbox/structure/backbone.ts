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
const TRIES = 8;
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

// Nearest that points of residues far apart in the chain may come, in ångström, by kind: CA, C and side-chain bulk.
const CLOSEST = [4.0, 3.6, 4.2] as const;
/** What a clash costs before its depth is counted. */
const CLASH = 60;
/** A piece that costs no more is taken without another try. */
const GOOD_ENOUGH = 25;
const POINTS = CLOSEST.length;
const REDRAWS = 2;
const REACH = 4.2;
/** Radius of the ball that a chain is packed into, over the cube root of its length, in ångström. */
const BALL = 3.8;

function grow(
  sequence: string,
  states: string,
  plddt: readonly number[],
  random: () => number,
): BackboneResidue[] {
  const chain: BackboneResidue[] = [];
  const grid = spatialGrid(REACH);
  const radius = BALL * Math.cbrt(Math.max(8, sequence.length));
  const centre: Vec = [radius * 0.6, 0, 0];

  /** Draws a piece anew, or like another one but for a single loop residue. */
  const drawPiece = (start: number, end: number, like?: readonly BackboneResidue[]): BackboneResidue[] => {
    const drawn: BackboneResidue[] = [];
    const loop = Math.max(1, states.slice(start, end).search(/[HE]|$/));
    const changed = start + Math.floor(random() * loop);
    const turnOf = (i: number): Torsions => {
      const model = like?.[i - start];
      if (model && i !== changed) return [model.phi, model.psi];
      if (states[i] === 'C') return loopTorsions(sequence.charAt(i), sequence.charAt(i + 1), random);
      const [phi, psi] = states[i] === 'H' ? HELIX : STRAND;
      return [phi + 5 * (random() - 0.5), psi + 5 * (random() - 0.5)];
    };
    for (let i = start; i < end; i++) {
      const last = drawn.at(-1) ?? chain.at(-1);
      const letter = sequence.charAt(i);
      drawn.push(last === undefined ? first(letter, turnOf(i)) : extend(last, letter, turnOf(i)));
    }
    return drawn;
  };

  const points = (residue: BackboneResidue): Vec[] => [residue.ca, residue.c, bulk(residue)];

  /** Lower is better: clashes count most, then what lies outside the ball. Gives up beyond `limit`. */
  const cost = (piece: readonly BackboneResidue[], start: number, limit: number): number => {
    let total = 0;
    for (let k = 0; k < piece.length && total < limit; k++) {
      const residue = piece[k];
      if (!residue) break;
      const i = start + k;
      points(residue).forEach(([x, y, z], kind) => {
        grid.near(x, y, z, (tag, squared) => {
          const closest = CLOSEST[kind] ?? 4;
          if (i - tag >= 3 && squared < closest * closest)
            total += CLASH + 4 * (closest - Math.sqrt(squared));
        });
      });
      const out = distance(residue.ca, centre) - radius;
      if ((plddt[i] ?? 0) > 0.6) total += 2.5 * Math.max(0, out + 4);
      else total += 0.15 * Math.max(0, -out);
    }
    // Where the chain goes on must be free, or the next piece starts in a dead end.
    const end = piece.at(-1);
    if (end && total < limit) {
      const onward = unit(sub(end.c, end.n));
      for (const ahead of [4, 8])
        grid.near(...add(end.c, scale(onward, ahead)), (_, squared) => {
          if (squared < 16) total += CLASH / 4;
        });
    }
    return total;
  };

  // When a piece cannot be laid without a clash, the one before it is taken back and drawn again.
  const all = pieces(states);
  const redrawn = new Int32Array(all.length);
  for (let p = 0; p < all.length; ) {
    const { start, end } = all[p] ?? { start: 0, end: 0 };
    let best = drawPiece(start, end);
    let lowest = start > 0 ? cost(best, start, Number.POSITIVE_INFINITY) : 0;
    for (let t = 1; lowest > GOOD_ENOUGH && t < TRIES; t++) {
      // First search widely, then mend the best so far.
      const other = drawPiece(start, end, t < TRIES / 2 ? undefined : best);
      const value = cost(other, start, lowest);
      if (value < lowest) [best, lowest] = [other, value];
    }
    const back = all[p - 1];
    if (lowest > CLASH && back && (redrawn[p] ?? 0) < REDRAWS) {
      redrawn[p] = (redrawn[p] ?? 0) + 1;
      chain.length = back.start;
      grid.shrink(back.start * POINTS);
      p--;
      continue;
    }
    best.forEach((residue, k) => {
      for (const point of points(residue)) grid.add(...point, start + k);
      chain.push(residue);
    });
    p++;
  }
  return chain;
}

/**
 * @param sequence one-letter codes
 * @param states H, E or C per residue
 * @param plddt 0 to 1 per residue: what is uncertain is left to stick out instead of being packed
 * @param salt another number gives another arrangement
 */
export function layBackbone(
  sequence: string,
  states: string,
  plddt: readonly number[],
  salt = 0,
): BackboneResidue[] {
  const random = randomFrom(hashText(sequence, salt));
  return grow(sequence, states, plddt, random);
}
