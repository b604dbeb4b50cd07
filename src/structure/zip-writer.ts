// Writes a ZIP archive piece by piece: each entry is deflated when its turn comes, and nothing but
// the directory stays in memory. Archives above 4 GiB have the records of ZIP64.
// Each has fewer than 65,535 entries: five for each of at most 2,000 tasks.
import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';

const deflate = promisify(deflateRaw);

/** Sizes and offsets from here on need ZIP64. */
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;
const VERSION = 20;
const VERSION_64 = 45;
/** Names are UTF-8. */
const FLAGS = 0x0800;
const STORED = 0;
const DEFLATED = 8;

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
  entry(name: string, content: Uint8Array, method?: 'deflated' | 'stored'): Promise<Uint8Array[]>;
  /** The directory, which ends the archive. */
  end(): Uint8Array;
}

export function createZipWriter({ modified: time = new Date(), offset = 0 }: ZipOptions = {}): ZipWriter {
  const modified = dosTime(time);
  const directory: Buffer[] = [];
  let at = offset;

  return {
    async entry(name, content, method = 'deflated') {
      const packed = method === 'deflated' ? await deflate(content) : content;
      if (content.byteLength >= MAX_32 || packed.byteLength >= MAX_32) throw new RangeError('too large');
      const encoded = Buffer.from(name);
      const described = (version: number, extra: number): Buffer =>
        Buffer.concat([
          fields(
            [2, version],
            [2, FLAGS],
            [2, method === 'deflated' ? DEFLATED : STORED],
            [4, modified],
            [4, crc32(content)],
          ),
          fields([4, packed.byteLength], [4, content.byteLength], [2, encoded.byteLength], [2, extra]),
        ]);
      const isFar = at >= MAX_32;
      const far = isFar ? fields([2, 1], [2, 8], [8, at]) : Buffer.alloc(0);
      const local = [fields([4, 0x04034b50]), described(VERSION, 0), encoded, packed];
      directory.push(
        fields([4, 0x02014b50], [2, VERSION_64]),
        described(isFar ? VERSION_64 : VERSION, far.byteLength),
        // No comment, first disk, no attributes; where the entry begins.
        fields([2, 0], [2, 0], [2, 0], [4, 0], [4, isFar ? MAX_32 : at]),
        encoded,
        far,
      );
      at += local.reduce((sum, piece) => sum + piece.byteLength, 0);
      return local;
    },
    end() {
      const entries = directory.length / 5;
      const begin = at;
      const size = directory.reduce((sum, piece) => sum + piece.byteLength, 0);
      const isLarge = begin + size >= MAX_32;
      const large = isLarge
        ? [
            fields([4, 0x06064b50], [8, 44], [2, VERSION_64], [2, VERSION_64], [4, 0], [4, 0]),
            fields([8, entries], [8, entries], [8, size], [8, begin]),
            fields([4, 0x07064b50], [4, 0], [8, begin + size], [4, 1]),
          ]
        : [];
      const counts = isLarge ? MAX_16 : entries;
      const places = fields([4, isLarge ? MAX_32 : size], [4, isLarge ? MAX_32 : begin], [2, 0]);
      const end = [fields([4, 0x06054b50], [2, 0], [2, 0], [2, counts], [2, counts]), places];
      return Buffer.concat([...directory, ...large, ...end]);
    },
  };
}
