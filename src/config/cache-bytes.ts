// How much memory each cache of a process may take, in bytes. docs/capacity.md has the same table,
// and a test fills every cache beyond its limit.

const MiB = 1024 * 1024;

/** The names of the caches as the metrics have them. */
export const CACHE_BYTES = {
  /** Responses of public operations and files, with their requests. */
  responses: 32 * MiB,
  /** Parsed and validated documents. */
  documents: 16 * MiB,
  /** Documents that cannot be parsed. */
  'document-errors': 2 * MiB,
  /** Parts of proteins, and their records as they came. */
  proteins: 32 * MiB,
  /** Sequences, accessions and sources of proteins, which never change. */
  identities: 8 * MiB,
  clusters: 32 * MiB,
  searches: 16 * MiB,
  features: 32 * MiB,
  uniprot: 16 * MiB,
  thumbnails: 64 * MiB,
  /** The catalogue as it came. */
  catalogue: 32 * MiB,
} as const;

export type CacheName = keyof typeof CACHE_BYTES;
