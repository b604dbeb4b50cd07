// The proteins of the stand-in service: numbered, each with a sequence of its own and the MD5 of
// that as its hash. Every process computes them from the number alone, so that answers can be
// checked; knows no HTTP and no archive.
import { createHash } from 'node:crypto';
import { openNumbers } from './numbers.ts';

const AMINO_ACIDS = 'ALGVESKIDTRPNFQYHMCW';
/** Residues of a protein: a PDB text of about 30 KB, a record of about 40. */
const RESIDUES = 47;
/** The last residues spell the number; structure, scores and features are those of the template. */
const SPELLED = 7;
/** Residues that a protein shares with its template. */
export const BEGINNING = RESIDUES - SPELLED;
/** How many templates there are. */
const TEMPLATES = 16;

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const digits = (hash: string, start: number): number => Number.parseInt(hash.slice(start, start + 4), 16);

/** A sequence by a small generator of numbers with a fixed seed. */
function makeSequence(template: number): string {
  let state = 2_654_435_761 * (template + 1);
  return Array.from({ length: RESIDUES }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return AMINO_ACIDS[Math.floor((state / 2 ** 32) ** 1.3 * AMINO_ACIDS.length)] ?? 'A';
  }).join('');
}

/** The sequence of each template. */
export const TEMPLATE_SEQUENCES: readonly string[] = Array.from({ length: TEMPLATES }, (_, n) =>
  makeSequence(n),
);
const beginnings = TEMPLATE_SEQUENCES.map((sequence) => sequence.slice(0, BEGINNING));

/** The template of which the n-th protein is made. */
export const toTemplate = (n: number): number => n % TEMPLATES;

/** The sequence of the n-th protein. */
export function spellSequence(n: number): string {
  let spelled = '';
  let rest = n;
  for (let place = 0; place < SPELLED; place += 1) {
    spelled += AMINO_ACIDS.charAt(rest % AMINO_ACIDS.length);
    rest = Math.floor(rest / AMINO_ACIDS.length);
  }
  return `${beginnings[toTemplate(n)] ?? ''}${spelled}`;
}

/** The hash of the n-th protein. */
export const toHash = (n: number): string => md5(spellSequence(n));

/** A list of so many, from the n-th on. */
export const listHashes = (from: number, length: number): string[] =>
  Array.from({ length }, (_, n) => toHash(from + n));

/**
 * The number of the protein with a hash; undefined where no protein that has been asked for so far
 * has it.
 */
export const findNumber = openNumbers(toHash);

/** The representative of its cluster: its own where the hash begins with c. */
export const toRepresentative = (hash: string): string => `c${hash.slice(1)}`;

/** The template whose features are those of a cluster. */
export const clusterTemplate = (representative: string): number => digits(representative, 28) % TEMPLATES;

/** The fields that are particular to a cluster. */
export const clusterFacts = (representative: string) => ({
  protein_hash: representative,
  cluster_size: 1 + (digits(representative, 28) % 500),
  cluster_pct_characterized: digits(representative, 26) % 101,
  protein_name: `Family ${representative.slice(-8)}`,
});

/** The fields that are particular to a protein. */
export const toAccession = (hash: string): string => `UPI${hash.slice(-10).toUpperCase()}`;
