// Mutates a founder into a homolog: conservative substitutions at sites that change at their own
// pace, short insertions and deletions, and domain borders that move along.

import { inventSequence } from './invent.ts';
import type { Random } from './random.ts';
import { substitute } from './substitution.ts';

/** A domain on a sequence: 0-based, half-open. */
export interface DomainHit {
  readonly pfam: string;
  readonly start: number;
  readonly end: number;
}

/** The sequence from which a family starts. */
export interface Ancestor {
  readonly sequence: string;
  readonly domains: readonly DomainHit[];
  /**
   * How fast each site changes, 1 on average; shared by the whole family, so that its conserved
   * sites stay conserved.
   */
  readonly pace: Float64Array;
  /**
   * The residue of a known relative at each site, '' where none is aligned; families with a
   * relative only.
   */
  readonly kin?: readonly string[];
}

/** Draws how fast each site of a founder changes. Sites inside domains change more slowly. */
export function drawPace(random: Random, length: number, domains: readonly DomainHit[]): Float64Array {
  const pace = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    const inside = domains.some(({ start, end }) => i >= start && i < end);
    pace[i] = Math.min(3, -Math.log(1 - random.next())) * (inside ? 0.95 : 1.25);
  }
  return pace;
}

/** Chance of an indel at a site, for each unit of divergence. */
const INDEL = 0.015;

/**
 * A homolog.
 *
 * @param divergence share of the sites that change, 0 to about 0.7
 * @param lean share of the sites that take the residue of the family's relative first
 */
export function evolve(random: Random, ancestor: Ancestor, divergence: number, lean: number) {
  const moved = new Int32Array(ancestor.sequence.length + 1);
  let sequence = ancestor.sequence.charAt(0);
  moved[0] = 0;
  for (let i = 1; i < ancestor.sequence.length; i++) {
    moved[i] = sequence.length;
    const pace = ancestor.pace[i] ?? 1;
    const indel = random.next();
    const odds = INDEL * divergence * pace;
    if (indel < odds) continue;
    if (indel < odds * 2) sequence += inventSequence(random, 1 + random.whole(4));
    const related = ancestor.kin?.[i] ?? '';
    const own = related !== '' && random.next() < lean ? related : ancestor.sequence.charAt(i);
    sequence += random.next() < Math.min(0.95, divergence * pace) ? substitute(random, own) : own;
  }
  moved[ancestor.sequence.length] = sequence.length;
  const domains = ancestor.domains.map(({ pfam, start, end }) => ({
    pfam,
    start: moved[start] ?? 0,
    end: moved[end] ?? sequence.length,
  }));
  return { sequence, domains };
}
