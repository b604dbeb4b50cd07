// What the stand-in service says of any hash, as a function of the hash alone, so that whoever checks an answer can compute it
// too. It knows no HTTP and no archive.
import { createHash } from 'node:crypto';
import { TEMPLATES } from './templates.ts';

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const digits = (hash: string, start: number): number => Number.parseInt(hash.slice(start, start + 4), 16);

/** The hash of the n-th protein of a kind: each kind of measurement has proteins that no other has asked for. */
export const hashOf = (kind: string, n: number): string => md5(`${kind} ${n}`);

/** Which template a protein is made of. */
export const templateOf = (hash: string): number => digits(hash, 28) % TEMPLATES;

/** The representative of its cluster: one protein in sixteen is its own. */
export const representativeOf = (hash: string): string => `c${hash.slice(1)}`;

/** What is particular of a cluster. */
export const clusterFacts = (representative: string) => ({
  protein_hash: representative,
  cluster_size: 1 + (digits(representative, 1) % 500),
  cluster_pct_characterized: digits(representative, 5) % 101,
  protein_name: `Family ${representative.slice(1, 9)}`,
});

/** What is particular of a protein. */
export const accessionOf = (hash: string): string => `UPI${hash.slice(1, 11).toUpperCase()}`;

/** An accession of six characters for a protein's entry, and the hash that it leads to. */
export const entryHash = (accession: string): string => md5(`entry ${accession}`);
export const accessionFor = (n: number): string =>
  `Q${String(n % 10)}${n.toString(36).toUpperCase().padStart(3, '0').slice(-3)}${String(Math.floor(n / 46_656) % 10)}`;
