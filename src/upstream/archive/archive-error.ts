// The typed error of a damaged archive.

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
