// What can be wrong with an archive, as one typed error. It knows no archive format and no record.

/**
 * `truncated`: the bytes end too early. `corrupt`: they are no archive, or the compressed data are damaged. `checksum`, `size`: an
 * entry is not what its header says. `directory`: the list of contents at the end disagrees with the entries. `name`: a name
 * that could reach outside the archive, or a name twice. `limit`: more than is allowed. `unsupported`: encrypted, or an
 * unknown compression. `content`: the entry is whole, but what it holds cannot be read.
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
  /** Name of the entry that is lost; undefined when it is not one entry, or the name is not known or not printable. */
  readonly entry: string | undefined;
  constructor(code: ArchiveErrorCode, message: string, entry?: string, options?: ErrorOptions) {
    super(entry === undefined ? message : `${message} (${entry})`, options);
    this.name = 'ArchiveError';
    this.code = code;
    this.entry = entry;
  }
}
