// The maximum size of an archive of a number of proteins: a larger one is not read.
import type { ZipLimits } from './zip-limits.ts';

/** What was requested. */
export interface ArchiveRequest {
  readonly proteins: number;
  /** Whether activations along the sequence were. */
  readonly perResidue: boolean;
}

/** Bounds on an archive, in bytes. */
export interface ArchiveLimits extends ZipLimits {
  /** Of the archive as it comes. */
  readonly receivedBytes: number;
  /** Of what is held of it in memory. */
  readonly heldBytes: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * Allows for 2,000 residues per protein on average, or one of 20,000 among few: a structure takes
 * 600 bytes a residue (150 compressed), per-residue activations 2,500 (600 compressed),
 * protein-level ones up to 500 KiB.
 */
export function archiveLimits({ proteins, perResidue }: ArchiveRequest): ArchiveLimits {
  const features = 16 * MiB + proteins * (perResidue ? 8 : 1) * MiB;
  const keptBytes = 16 * MiB + proteins * 64 * KiB;
  return {
    entries: 100 + 4 * proteins,
    entryBytes: Math.max(keptBytes, features),
    totalBytes: 64 * MiB + proteins * 2 * MiB + features,
    ratio: 250,
    nameBytes: 512,
    keptBytes,
    receivedBytes: 16 * MiB + proteins * (perResidue ? 4 : 1) * MiB,
    heldBytes: 16 * MiB + proteins * 512 * KiB,
  };
}
