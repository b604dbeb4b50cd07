// Archives out of entries that were compressed once: an answer of 500 structures costs little more
// than its bytes. Texts that differ from answer to answer go in uncompressed between pieces that
// were compressed before. It knows no protein.
import { constants, crc32, deflateRawSync } from 'node:zlib';

/** A piece of a member's content and the same as deflate blocks that need nothing before them. */
export interface Piece {
  readonly raw: Buffer;
  readonly blocks: Buffer;
}

/** A member ready to be written. */
export interface Entry {
  /** ASCII. */
  readonly name: string;
  readonly crc: number;
  readonly size: number;
  readonly packed: readonly Buffer[];
  readonly packedSize: number;
}

/** An empty block that is the last one. */
const LAST = Buffer.from([1, 0, 0, 0xff, 0xff]);
/** The most that a stored block holds. */
const STORED = 65_535;
/** The first of January 1980. */
const DATE = 0x21;

/**
 * Compresses a piece for good. Blocks end on a byte and are not the last, so that others can
 * follow.
 */
export function packPiece(text: string | Buffer): Piece {
  const raw = Buffer.from(text);
  return { raw, blocks: deflateRawSync(raw, { level: 6, finishFlush: constants.Z_SYNC_FLUSH }) };
}

/** A short piece as it is. @throws RangeError when it does not fit into one stored block */
export function plainPiece(text: string): Piece {
  const raw = Buffer.from(text);
  if (raw.length > STORED)
    throw new RangeError(`A plain piece of ${raw.length} bytes; at most ${STORED} fit.`);
  const blocks = Buffer.allocUnsafe(5 + raw.length);
  blocks[0] = 0;
  blocks.writeUInt16LE(raw.length, 1);
  blocks.writeUInt16LE(raw.length ^ 0xffff, 3);
  raw.copy(blocks, 5);
  return { raw, blocks };
}

/** A member out of pieces. */
export function makeEntry(name: string, pieces: readonly Piece[]): Entry {
  let crc = 0;
  let size = 0;
  let packedSize = LAST.length;
  for (const { raw, blocks } of pieces) {
    crc = crc32(raw, crc);
    size += raw.length;
    packedSize += blocks.length;
  }
  return {
    name,
    crc,
    size,
    packedSize,
    packed: [...pieces.map(({ blocks }) => blocks), LAST],
  };
}

/** The same member under another name. */
export const renamed = ({ crc, size, packed, packedSize }: Entry, name: string): Entry => ({
  name,
  crc,
  size,
  packed,
  packedSize,
});

function header(entry: Entry, offset: number | null): Buffer {
  const central = offset !== null;
  const start = central ? 6 : 4;
  const buffer = Buffer.alloc((central ? 46 : 30) + entry.name.length);
  buffer.writeUInt32LE(central ? 0x02014b50 : 0x04034b50, 0);
  if (central) buffer.writeUInt16LE(20, 4);
  buffer.writeUInt16LE(20, start);
  buffer.writeUInt16LE(8, start + 4);
  buffer.writeUInt16LE(DATE, start + 8);
  buffer.writeUInt32LE(entry.crc, start + 10);
  buffer.writeUInt32LE(entry.packedSize, start + 14);
  buffer.writeUInt32LE(entry.size, start + 18);
  buffer.writeUInt16LE(entry.name.length, start + 22);
  if (central) buffer.writeUInt32LE(offset, 42);
  buffer.write(entry.name, central ? 46 : 30, 'latin1');
  return buffer;
}

/** An archive on its way: its length is known before its bytes are put together. */
export interface Zip {
  readonly byteLength: number;
  /** Its bytes in order, in pieces of some hundred kilobytes. */
  pieces(): Generator<Buffer, void, undefined>;
}

/**
 * Bytes of the first piece, and of those that follow: a reader can begin before all has come.
 */
const FIRST_PIECE = 16 * 1024;
const PIECE = 256 * 1024;

const computeLength = ({ name, packedSize }: Entry): number =>
  30 + name.length + packedSize + 46 + name.length;

function* listParts(entries: readonly Entry[]): Generator<Buffer, void, undefined> {
  const offsets: number[] = [];
  let at = 0;
  for (const entry of entries) {
    offsets.push(at);
    const local = header(entry, null);
    yield local;
    yield* entry.packed;
    at += local.length + entry.packedSize;
  }
  const directory = entries.map((entry, i) => header(entry, offsets[i] ?? 0));
  yield* directory;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(
    directory.reduce((sum, one) => sum + one.length, 0),
    12,
  );
  end.writeUInt32LE(at, 16);
  yield end;
}

/** The whole archive. */
export function writeZip(entries: readonly Entry[]): Zip {
  return {
    byteLength: entries.reduce((sum, entry) => sum + computeLength(entry), 22),
    *pieces() {
      let gathered: Buffer[] = [];
      let length = 0;
      let enough = FIRST_PIECE;
      for (const part of listParts(entries)) {
        gathered.push(part);
        length += part.length;
        if (length < enough) continue;
        yield Buffer.concat(gathered, length);
        gathered = [];
        length = 0;
        enough = PIECE;
      }
      if (length > 0) yield Buffer.concat(gathered, length);
    },
  };
}
