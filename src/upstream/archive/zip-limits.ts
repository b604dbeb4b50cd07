// Limits on the memory and the entry names of an archive.
import { ArchiveError } from './archive-error.ts';

/** Bounds on what is read; all sizes in bytes, uncompressed unless said. */
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

const GIB = 1024 ** 3;

/** Room for 500 proteins of 2,000 residues with all their activations, several times over. */
export const defaultZipLimits: ZipLimits = {
  entries: 5_000,
  entryBytes: 4 * GIB,
  totalBytes: 6 * GIB,
  ratio: 250,
  nameBytes: 512,
  keptBytes: 128 * 1024 ** 2,
};

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
