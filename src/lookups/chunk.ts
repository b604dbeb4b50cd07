// Splits a list of hashes into the parts of a look-up.

/** Largest number of hashes in a part (spec, section Limits). */
export const PART_SIZE = 500;
/** Largest number of hashes in a look-up. */
export const MAX_HASHES = 50_000;

/** A list of hashes in parts. */
export interface Chunking {
  /** Each hash once, in order of first appearance; part `i` starts at `i * 500`. */
  readonly unique: readonly string[];
  readonly duplicateCount: number;
  /** Number of hashes in each part. */
  readonly sizes: readonly number[];
}

/**
 * Removes repeated hashes and splits the rest into parts of 500. Hashes must be normalised
 * (trimmed, lower case).
 */
export function chunkHashes(hashes: readonly string[]): Chunking {
  const unique = [...new Set(hashes)];
  const sizes = Array.from({ length: Math.ceil(unique.length / PART_SIZE) }, (_, part) =>
    Math.min(PART_SIZE, unique.length - part * PART_SIZE),
  );
  return { unique, duplicateCount: hashes.length - unique.length, sizes };
}

/** The hashes of one part. */
export const hashesOfChunk = (unique: readonly string[], part: number): readonly string[] =>
  unique.slice(part * PART_SIZE, (part + 1) * PART_SIZE);
