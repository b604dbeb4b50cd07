// Writes a ZIP archive as a stream of pieces. Whole members carry their sizes in the local header;
// streamed members, and whole ones on demand, have a data descriptor behind them. Compression runs
// on zlib's threads, several members at once.
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, crc32, createDeflateRaw, deflateRaw } from 'node:zlib';

/** One member: its whole content, or its content piece by piece. */
export type ZipMember =
  | { readonly name: string; readonly data: Buffer }
  | { readonly name: string; readonly pieces: AsyncIterable<Buffer> };

interface Entry {
  readonly name: Buffer;
  readonly flags: number;
  readonly offset: number;
  crc: number;
  packed: number;
  size: number;
}

const LEVEL = { level: constants.Z_BEST_SPEED };
const deflate = promisify<Buffer, { level: number }, Buffer>(deflateRaw);
/** Members compressed at the same time. */
const AHEAD = 4;
const STREAMED = 0x08;
/** The first of January 1980: archives with the same content have the same bytes. */
const DATE = 0x21;

/** The fields that local and central headers share. */
function fields({ name, flags, crc, packed, size }: Entry): Buffer {
  const buffer = Buffer.alloc(26);
  buffer.writeUInt16LE(20, 0);
  buffer.writeUInt16LE(flags, 2);
  buffer.writeUInt16LE(8, 4);
  buffer.writeUInt16LE(DATE, 8);
  buffer.writeUInt32LE(crc, 10);
  buffer.writeUInt32LE(packed, 14);
  buffer.writeUInt32LE(size, 18);
  buffer.writeUInt16LE(name.length, 22);
  return buffer;
}

const signature = (text: string): Buffer => Buffer.from(`PK${text}`, 'latin1');

const localHeader = (entry: Entry): Buffer =>
  Buffer.concat([signature('\x03\x04'), fields(entry), entry.name]);

function centralHeader(entry: Entry): Buffer {
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(entry.offset, 10);
  return Buffer.concat([signature('\x01\x02'), Buffer.from([20, 0]), fields(entry), tail, entry.name]);
}

function descriptor({ crc, packed, size }: Entry): Buffer {
  const buffer = Buffer.alloc(12);
  buffer.writeUInt32LE(crc, 0);
  buffer.writeUInt32LE(packed, 4);
  buffer.writeUInt32LE(size, 8);
  return Buffer.concat([signature('\x07\x08'), buffer]);
}

function endOfCentralDirectory(count: number, size: number, offset: number): Buffer {
  const buffer = Buffer.alloc(18);
  buffer.writeUInt16LE(count, 4);
  buffer.writeUInt16LE(count, 6);
  buffer.writeUInt32LE(size, 8);
  buffer.writeUInt32LE(offset, 12);
  return Buffer.concat([signature('\x05\x06'), buffer]);
}

/**
 * The archive, piece by piece, in the order of its members.
 *
 * @param options.zipDescriptors whether whole members have a data descriptor, too
 */
export async function* zipArchive(
  members: AsyncIterable<ZipMember>,
  { zipDescriptors }: { readonly zipDescriptors: boolean },
): AsyncGenerator<Buffer> {
  const entries: Entry[] = [];
  let offset = 0;
  const place = (piece: Buffer): Buffer => {
    offset += piece.length;
    return piece;
  };
  const open = (name: string, flags: number): Entry => {
    const entry = { name: Buffer.from(name), flags, offset, crc: 0, packed: 0, size: 0 };
    entries.push(entry);
    return entry;
  };

  async function* whole(name: string, data: Buffer, packing: Promise<Buffer>): AsyncGenerator<Buffer> {
    const packed = await packing;
    const entry = open(name, zipDescriptors ? STREAMED : 0);
    if (zipDescriptors) yield place(localHeader(entry));
    entry.crc = crc32(data);
    entry.packed = packed.length;
    entry.size = data.length;
    if (!zipDescriptors) yield place(localHeader(entry));
    yield place(packed);
    if (zipDescriptors) yield place(descriptor(entry));
  }

  async function* streamed(name: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const entry = open(name, STREAMED);
    yield place(localHeader(entry));
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const piece of pieces) {
        entry.crc = crc32(piece, entry.crc);
        entry.size += piece.length;
        yield piece;
      }
    }
    const source = Readable.from(counted(), { objectMode: true, highWaterMark: 2 });
    const packer = createDeflateRaw(LEVEL);
    source.on('error', (error) => packer.destroy(error));
    try {
      for await (const piece of source.pipe(packer)) {
        if (!Buffer.isBuffer(piece)) continue;
        entry.packed += piece.length;
        yield place(piece);
      }
    } finally {
      // A reader that stops also stops the making.
      source.destroy();
    }
    yield place(descriptor(entry));
  }

  const waiting: AsyncGenerator<Buffer>[] = [];
  for await (const member of members) {
    if ('data' in member) waiting.push(whole(member.name, member.data, deflate(member.data, LEVEL)));
    else waiting.push(streamed(member.name, member.pieces));
    while (waiting.length > AHEAD) yield* waiting.shift() ?? [];
  }
  for (const one of waiting) yield* one;
  const start = offset;
  for (const entry of entries) yield place(centralHeader(entry));
  yield endOfCentralDirectory(entries.length, offset - start, start);
}
