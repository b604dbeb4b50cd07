// Structures of Atlas proteins, built when they are asked for and kept for a while within a byte budget. It must not
// know which proteins have one, or HTTP.
import { LRUCache } from 'lru-cache';
import { predictConfidence } from '../structure/confidence.ts';
import { bulkPdb, proteinPdb } from '../structure/pdb.ts';
import { buildProtein } from '../structure/protein.ts';
import { type Colouring, renderThumbnail } from '../thumbnail/thumbnail.ts';

/** Confidence of a structure, all 0 to 1. */
export interface Confidence {
  readonly plddt: readonly number[];
  readonly meanPlddt: number;
  readonly ptm: number;
}

/** Makes the texts and pictures of a structure. Everything is a function of the sequence alone. */
export interface Structures {
  confidence(sequence: string): Confidence;
  /** The single-record form: four REMARK lines, then atoms. */
  recordPdb(sequence: string): string;
  /** The zip-member form: `REMARK ptm`, `REMARK mean_plddt`, then atoms. */
  memberPdb(sequence: string): string;
  /** A PNG of 512 x 512 pixels. */
  thumbnail(sequence: string, colouring: Colouring): Buffer;
}

/** Budget for texts and pictures together; a structure of 300 residues is about 0.2 MB. */
const BUDGET_BYTES = 24 * 2 ** 20;

/** Structures with one cache of that many bytes. */
export function createStructures(budgetBytes: number = BUDGET_BYTES): Structures {
  const cache = new LRUCache<string, string | Buffer>({
    maxSize: budgetBytes,
    sizeCalculation: (made, key) => made.length + key.length,
  });
  const text = (key: string, make: () => string): string => {
    const kept = cache.get(key);
    if (typeof kept === 'string') return kept;
    const made = make();
    cache.set(key, made);
    return made;
  };
  return {
    confidence: predictConfidence,
    recordPdb: (sequence) => text(`record ${sequence}`, () => proteinPdb(buildProtein(sequence))),
    memberPdb: (sequence) => text(`member ${sequence}`, () => bulkPdb(buildProtein(sequence))),
    thumbnail(sequence, colouring) {
      const key = `${JSON.stringify(colouring)} ${sequence}`;
      const kept = cache.get(key);
      if (typeof kept === 'object') return kept;
      const made = renderThumbnail(buildProtein(sequence), colouring);
      cache.set(key, made);
      return made;
    },
  };
}
