// The residues of a polymer that its result must repeat: all but modified ones and letters of no
// residue, which the service may name as it likes.
import { hash } from 'node:crypto';
import type { Chain } from './chain.ts';
import { LETTERS } from './polymers.ts';

export interface FixedResidues {
  /** MD5 of the sequence with an X at each of `openPositions`. */
  readonly hash: string;
  /** 0-based. */
  readonly openPositions: readonly number[];
}

/** Positions that are stored of one chain; of more the residues are not compared. */
const MAX_OPEN_POSITIONS = 100;

/** @returns MD5 of a sequence with an X at each of these positions */
export function hashFixedResidues(sequence: string, openPositions: readonly number[]): string {
  const letters = sequence.split('');
  for (const position of openPositions) if (position < letters.length) letters[position] = 'X';
  return hash('md5', letters.join(''));
}

/** The residues that the result of a chain must repeat; undefined for a ligand. */
export function readFixedResidues(chain: Chain): FixedResidues | undefined {
  if (chain.type === 'ligand') return undefined;
  const { type, sequence, modifications } = chain;
  const open = new Set(modifications.map(({ position }) => position));
  const known = LETTERS[type];
  for (let at = 0; at < sequence.length && open.size <= MAX_OPEN_POSITIONS; at += 1)
    if (!known.includes(sequence.charAt(at))) open.add(at);
  if (open.size > MAX_OPEN_POSITIONS) return undefined;
  const openPositions = [...open].sort((a, b) => a - b);
  return { hash: hashFixedResidues(sequence, openPositions), openPositions };
}
