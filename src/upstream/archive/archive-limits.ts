// What an archive may be: the limits on its bytes, entries and names, and the typed error of one that
// is damaged or beyond them.

/**
 * `truncated`: the bytes end too early. `corrupt`: no archive, or damaged compressed data.
 * `checksum`, `size`: an entry contradicts its header. `directory`: the central directory
 * contradicts the entries. `name`: a duplicate name or one that could reach outside the archive.
 * `limit`: over a limit. `unsupported`: encrypted, or an unknown compression. `content`: the entry
 * is whole but unreadable.
 */
export type ArchiveErrorCode =
  | 'truncated'
  | 'corrupt'
  | 'checksum'
  | 'size'
  | 'directory'
  | 'name'
  | 'limit'
  | 'unsupported'
  | 'content';

/** A part of an archive that cannot be had. Its message names the entry, never the contents. */
export class ArchiveError extends Error {
  readonly code: ArchiveErrorCode;
  /** Name of the lost entry; undefined unless it is one entry with a printable name. */
  readonly entry: string | undefined;
  constructor(code: ArchiveErrorCode, message: string, entry?: string, options?: ErrorOptions) {
    super(entry === undefined ? message : `${message} (${entry})`, options);
    this.name = 'ArchiveError';
    this.code = code;
    this.entry = entry;
  }
}

/** The same error with the name of the entry that it is about; any other error as it is. */
export const withEntryName = (error: unknown, entry: string | undefined): unknown =>
  error instanceof ArchiveError && error.entry === undefined && entry !== undefined
    ? new ArchiveError(error.code, error.message, entry, { cause: error.cause })
    : error;

/** Bounds on what is read of an archive; all sizes in bytes, uncompressed unless said. */
export interface ZipLimits {
  readonly entries: number;
  readonly entryBytes: number;
  readonly totalBytes: number;
  /** Uncompressed over compressed, counted once an entry is larger than 4 MiB. */
  readonly ratio: number;
  readonly nameBytes: number;
  /** Maximum bytes that `bytes()` and `text()` of one entry hold; a larger one can be streamed. */
  readonly keptBytes: number;
}

const RATIO_FROM = 4 * 1024 ** 2;

/** @throws ArchiveError `limit` for an entry that is or would be too large */
export function checkSize(limits: ZipLimits, entry: string, size: number, compressed: number): void {
  if (size > limits.entryBytes) {
    throw new ArchiveError('limit', `An entry is larger than ${limits.entryBytes} bytes.`, entry);
  }
  if (size > RATIO_FROM && size > compressed * limits.ratio) {
    throw new ArchiveError('limit', `An entry inflates more than ${limits.ratio} times.`, entry);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A name as text: UTF-8 where it is, else one character a byte. */
function decodeName(raw: string): string {
  if (/^[ -~]*$/.test(raw)) return raw;
  try {
    return decoder.decode(Buffer.from(raw, 'latin1'));
  } catch {
    return raw;
  }
}

/**
 * The entry's name, when it is a plain relative path.
 *
 * @param raw - the name's bytes, one character each
 * @returns the name, or the error for a name that could reach elsewhere or cannot be shown
 */
export function safeName(raw: string, limits: ZipLimits): string | ArchiveError {
  if (raw.length > limits.nameBytes) {
    return new ArchiveError('limit', `An entry's name is longer than ${limits.nameBytes} bytes.`);
  }
  const name = decodeName(raw);
  const parts = name.split('/');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (name === '' || /[\u0000-\u001f\u007f\\]/.test(name)) {
    return new ArchiveError('name', "An entry's name is empty or holds characters that no path needs.");
  }
  if (name.startsWith('/') || /^[a-z]:/i.test(name) || parts.includes('..') || parts.includes('.')) {
    return new ArchiveError('name', "An entry's name leaves the archive.", name);
  }
  return name;
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
 *
 * @param perResidue - whether activations along the sequence were requested
 */
export function archiveLimits({
  proteins,
  perResidue,
}: {
  readonly proteins: number;
  readonly perResidue: boolean;
}): ArchiveLimits {
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
