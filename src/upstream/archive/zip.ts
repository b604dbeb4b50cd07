// Reads a zip archive that is whole in memory. yauzl reads the list of members; their data are
// unpacked and checked here, because yauzl checks no CRC of a buffer.
import { crc32, inflateRawSync } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { ArchiveError, type ArchiveLimits } from './archive-limits.ts';

const STORED = 0;
/** The smallest buffer that zlib unpacks into. */
const MIN_CHUNK_BYTES = 64;

/** A member as the archive has it: plain data, which a thread can take. */
export interface ZipMember {
  readonly name: string;
  /** Its data, compressed or not; a part of the archive's buffer. */
  readonly packed: Uint8Array;
  readonly isCompressed: boolean;
  /** Bytes of its data, unpacked. */
  readonly size: number;
  readonly crc: number;
}

async function openZip(archive: Buffer): Promise<ZipFile> {
  try {
    return await fromBufferPromise(archive, { lazyEntries: true });
  } catch (error) {
    // The list of members stands at the end.
    const isTruncated = archive.length === 0 || archive.toString('latin1', 0, 2) === 'PK';
    throw toArchiveError(error, { isTruncated });
  }
}

const toArchiveError = (cause: unknown, options: { readonly isTruncated?: boolean } = {}): ArchiveError =>
  cause instanceof ArchiveError
    ? cause
    : new ArchiveError(
        options.isTruncated === true ? 'The archive ends too early.' : 'The archive is damaged.',
        { ...options, cause },
      );

/**
 * The members of an archive, folders left out, not yet unpacked.
 *
 * @throws ArchiveError for a damaged list of members, or above the limits
 */
export async function* readZip(archive: Buffer, limits: ArchiveLimits): AsyncGenerator<ZipMember> {
  const zip = await openZip(archive);
  if (zip.entryCount > limits.members)
    throw new ArchiveError(`The archive has more than ${limits.members} members.`);
  let unpackedBytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue;
      unpackedBytes += entry.uncompressedSize;
      if (unpackedBytes > limits.unpackedBytes)
        throw new ArchiveError(`The archive holds more than ${limits.unpackedBytes} bytes.`);
      yield await toMember(zip, entry, archive);
    }
  } catch (error) {
    throw toArchiveError(error);
  }
}

async function toMember(zip: ZipFile, entry: Entry, archive: Buffer): Promise<ZipMember> {
  const { fileName: name, compressedSize, uncompressedSize: size, crc32: crc } = entry;
  if (!entry.canDecodeFileData())
    throw new ArchiveError('A member of the archive is encrypted, or compressed in an unknown way.');
  const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const packed = archive.subarray(start, start + compressedSize);
  return { name, packed, isCompressed: entry.compressionMethod !== STORED, size, crc };
}

/**
 * Unpacks a member into a buffer of its size: zlib would else grow and join several.
 *
 * @throws ArchiveError for data that are not what the list of members says
 */
export function unpackMember({ name, packed, isCompressed, size, crc }: ZipMember): Uint8Array {
  const data = isCompressed ? inflate(packed, size) : packed;
  if (data?.length !== size || crc32(data) !== crc) throw new ArchiveError(`A member is damaged: ${name}.`);
  return data;
}

/** @returns undefined for data that are damaged, or longer than they should be */
function inflate(packed: Uint8Array, size: number): Uint8Array | undefined {
  const bytes = Math.max(MIN_CHUNK_BYTES, size + 1);
  try {
    return inflateRawSync(packed, { chunkSize: bytes, maxOutputLength: bytes });
  } catch {
    return undefined;
  }
}
