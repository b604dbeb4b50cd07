// How large an archive may be, and the error of one that is damaged or larger.

/** An archive, or a member of one, that cannot be read. Its message quotes no content. */
export class ArchiveError extends Error {
  /** Whether the archive ends too early: another try may bring all of it. */
  readonly isTruncated: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isTruncated?: boolean } = {}) {
    super(message, options);
    this.name = 'ArchiveError';
    this.isTruncated = options.isTruncated === true;
  }
}

export interface ArchiveLimits {
  /** Bytes of the archive. */
  readonly bytes: number;
  /** Bytes of all its members, unpacked. */
  readonly unpackedBytes: number;
  readonly members: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

/** One long protein among few may take so much. */
const BASE_BYTES = 12 * MiB;
/**
 * For proteins of 2,000 residues on average. A residue takes some 150 bytes of structure and 600 of
 * activations, compressed; the activations of all features take up to 200 KiB a protein.
 */
const BYTES_PER_PROTEIN = 512 * KiB;
const BYTES_PER_PROTEIN_BY_RESIDUE = 1536 * KiB;
/** Structures and lists of numbers become four times smaller when they are compressed. */
const UNPACKED_TO_PACKED = 4;

/**
 * Limits of the archive that answers a bulk look-up.
 *
 * @param asked - `perResidue`: whether activations along the sequence were requested
 */
export function archiveLimits(asked: {
  readonly proteins: number;
  readonly perResidue: boolean;
}): ArchiveLimits {
  const bytesPerProtein = asked.perResidue ? BYTES_PER_PROTEIN_BY_RESIDUE : BYTES_PER_PROTEIN;
  const bytes = BASE_BYTES + asked.proteins * bytesPerProtein;
  return { bytes, unpackedBytes: UNPACKED_TO_PACKED * bytes, members: 100 + 4 * asked.proteins };
}
