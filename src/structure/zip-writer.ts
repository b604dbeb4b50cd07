// Writes a ZIP archive piece by piece: each entry is deflated when its turn comes, and only the
// directory at the end of the archive stays in memory. Beyond 4 GiB it has the records of ZIP64.
// Names of records and fields are those of PKWARE's APPNOTE.TXT. There are fewer than 65,535
// entries: five for each of at most 2,000 tasks.
import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';

const deflate = promisify(deflateRaw);

const LOCAL_FILE_HEADER = 0x04034b50;
const CENTRAL_FILE_HEADER = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;
const ZIP64_END_OF_DIRECTORY = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;

/** Sizes and offsets from here on need ZIP64. */
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;
/** Versions of the format that a reader needs: 2.0, and 4.5 for ZIP64. */
const VERSION = 20;
const VERSION_64 = 45;
/** Names are UTF-8. */
const FLAGS = 0x0800;
const METHODS = { stored: 0, deflated: 8 } as const;

/** Date and time as MS-DOS has them, in UTC. */
function dosTime(at: Date): number {
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return date * 0x1_0000 + time;
}

/** Little-endian fields, each with its number of bytes. */
function fields(...values: readonly (readonly [bytes: 2 | 4 | 8, value: number])[]): Buffer {
  const buffer = Buffer.alloc(values.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of values) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at);
    else buffer.writeUIntLE(value, at, bytes);
    at += bytes;
  }
  return buffer;
}

export interface ZipOptions {
  /** The time of all entries; now when absent. */
  readonly modified?: Date;
  /** Bytes before the archive, for tests of large archives. */
  readonly offset?: number;
}

export interface ZipWriter {
  /** The pieces of one entry. @throws RangeError for a content of 4 GiB or more */
  entry(name: string, content: Uint8Array, method?: keyof typeof METHODS): Promise<Uint8Array[]>;
  /** The directory, which ends the archive. */
  end(): Uint8Array;
}

interface Entry {
  readonly name: Buffer;
  readonly method: keyof typeof METHODS;
  readonly modified: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
}

/** The fields that both headers of an entry have. */
const entryFields = (entry: Entry, version: number, extraBytes: number): Buffer =>
  fields(
    ...([
      [2, version],
      [2, FLAGS],
      [2, METHODS[entry.method]],
      [4, entry.modified],
    ] as const),
    ...([
      [4, entry.crc],
      [4, entry.packedBytes],
      [4, entry.bytes],
    ] as const),
    ...([
      [2, entry.name.byteLength],
      [2, extraBytes],
    ] as const),
  );

const localHeader = (entry: Entry): Buffer =>
  Buffer.concat([fields([4, LOCAL_FILE_HEADER]), entryFields(entry, VERSION, 0), entry.name]);

/** The header in the directory, with the offset at which the entry begins. */
function centralHeader(entry: Entry, offset: number): Buffer {
  const isFar = offset >= MAX_32;
  const extra = isFar ? fields([2, 1], [2, 8], [8, offset]) : Buffer.alloc(0);
  return Buffer.concat([
    fields([4, CENTRAL_FILE_HEADER], [2, VERSION_64]),
    entryFields(entry, isFar ? VERSION_64 : VERSION, extra.byteLength),
    // No comment, first disk, no attributes.
    fields([2, 0], [2, 0], [2, 0], [4, 0], [4, isFar ? MAX_32 : offset]),
    entry.name,
    extra,
  ]);
}

/** The records behind the directory, which say where it begins. */
function endRecords(entries: number, offset: number, bytes: number): Buffer {
  const isLarge = offset + bytes >= MAX_32;
  const zip64 = isLarge
    ? [
        fields([4, ZIP64_END_OF_DIRECTORY], [8, 44], [2, VERSION_64], [2, VERSION_64], [4, 0], [4, 0]),
        fields([8, entries], [8, entries], [8, bytes], [8, offset]),
        fields([4, ZIP64_LOCATOR], [4, 0], [8, offset + bytes], [4, 1]),
      ]
    : [];
  const count = isLarge ? MAX_16 : entries;
  return Buffer.concat([
    ...zip64,
    fields([4, END_OF_DIRECTORY], [2, 0], [2, 0], [2, count], [2, count]),
    fields([4, isLarge ? MAX_32 : bytes], [4, isLarge ? MAX_32 : offset], [2, 0]),
  ]);
}

export function createZipWriter({ modified: time = new Date(), offset = 0 }: ZipOptions = {}): ZipWriter {
  const modified = dosTime(time);
  const directory: Buffer[] = [];
  let at = offset;

  return {
    async entry(name, content, method = 'deflated') {
      const packed = method === 'deflated' ? await deflate(content) : content;
      const [bytes, packedBytes] = [content.byteLength, packed.byteLength];
      if (bytes >= MAX_32 || packedBytes >= MAX_32) throw new RangeError('too large');
      const entry = { name: Buffer.from(name), method, modified, crc: crc32(content), packedBytes, bytes };
      const header = localHeader(entry);
      directory.push(centralHeader(entry, at));
      at += header.byteLength + packedBytes;
      return [header, packed];
    },
    end() {
      const headers = Buffer.concat(directory);
      return Buffer.concat([headers, endRecords(directory.length, at, headers.byteLength)]);
    },
  };
}
