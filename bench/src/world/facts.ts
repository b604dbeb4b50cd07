// What the stand-in service says of any hash, as a function of the hash alone, so that whoever checks an answer can compute it
// too. It knows no HTTP and no archive.
import { createHash } from 'node:crypto';
import { TEMPLATES } from './templates.ts';

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const digits = (hash: string, start: number): number => Number.parseInt(hash.slice(start, start + 4), 16);

const prefixes = new Map<string, string>();

/** The hash of the n-th protein of a kind: each kind of measurement has proteins that no other has asked for. */
export function hashOf(kind: string, n: number): string {
  const prefix = prefixes.get(kind) ?? md5(kind).slice(0, 24);
  prefixes.set(kind, prefix);
  return prefix + n.toString(16).padStart(8, '0');
}

/** A list of so many, from the n-th on. */
export const hashesOf = (kind: string, from: number, length: number): string[] =>
  Array.from({ length }, (_, n) => hashOf(kind, from + n));

/** Which template a protein is made of. */
export const templateOf = (hash: string): number => digits(hash, 28) % TEMPLATES;

/** The representative of its cluster: its own where the hash begins with c. */
export const representativeOf = (hash: string): string => `c${hash.slice(1)}`;

/** What is particular of a cluster. */
export const clusterFacts = (representative: string) => ({
  protein_hash: representative,
  cluster_size: 1 + (digits(representative, 28) % 500),
  cluster_pct_characterized: digits(representative, 26) % 101,
  protein_name: `Family ${representative.slice(-8)}`,
});

/** What is particular of a protein. */
export const accessionOf = (hash: string): string => `UPI${hash.slice(-10).toUpperCase()}`;

/** An accession of six characters for a protein's entry, and the hash that it leads to. */
export const entryHash = (accession: string): string => md5(`entry ${accession}`);
export const accessionFor = (n: number): string =>
  `Q${String(n % 10)}${n.toString(36).toUpperCase().padStart(3, '0').slice(-3)}${String(Math.floor(n / 46_656) % 10)}`;
