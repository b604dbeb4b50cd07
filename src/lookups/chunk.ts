// From a list of hashes as somebody pasted it to parts that the upstream takes. Pure.

/** Hashes in one part at most (spec, section Limits). */
export const PART_SIZE = 500;
/** Hashes in one look-up at most. */
export const MAX_HASHES = 50_000;

/** A list of hashes, cut. */
export interface Chunking {
  /** Each hash once, in the order of its first appearance; part `i` holds those from `i * 500` on. */
  readonly unique: readonly string[];
  readonly duplicateCount: number;
  /** How many hashes each part holds. */
  readonly sizes: readonly number[];
}

/** Drops repeated hashes and cuts the rest into parts of 500. Hashes must be normalised (trimmed, lower case). */
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
