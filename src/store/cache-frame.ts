// Values of the cache as bytes: JSON, with binary parts beside it as they are and large parts compressed. It knows no store.
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

const VERSION = 1;
/** Parts from this size on are compressed: of shorter ones, the making of a compressor is most of the time. */
const LARGE = 16 * 1024;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
/** Bytes before each part: whether it is compressed, and its length. */
const PART_HEAD = 5;
/** Stands in the JSON for a binary part, with its number. */
const MARK = '\u0000bytes:';

/** Whether compressing would only cost time: images are compressed already. */
const isDense = (part: Uint8Array): boolean => PNG.equals(part.subarray(0, PNG.length));

/** Whether there are binary parts in a value made of JSON and Buffers. */
function hasBytes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Uint8Array) return true;
  return Array.isArray(value) ? value.some(hasBytes) : Object.values(value).some(hasBytes);
}

/** A value and when it expires, in milliseconds since the epoch. */
export interface Framed {
  readonly value: unknown;
  readonly expires: number | undefined;
}

/** Writes a value made of JSON and Buffers. */
export async function encodeFrame({ value, expires }: Framed): Promise<Buffer> {
  const binary: Uint8Array[] = [];
  const mark = function (this: Record<string, unknown>, key: string, item: unknown): unknown {
    const own = this[key];
    if (!(own instanceof Uint8Array)) return item;
    return `${MARK}${binary.push(own) - 1}`;
  };
  // A function that sees every value makes JSON five times as slow: only pictures and the like need it.
  const json = hasBytes(value) ? JSON.stringify(value, mark) : JSON.stringify(value);
  const parts = await Promise.all(
    [Buffer.from(json), ...binary].map(async (part) => {
      if (part.length < LARGE || isDense(part)) return { flag: 0, part };
      // Quality 1: every protein that is seen comes here, and 4 takes three times as long for a tenth less.
      return { flag: 1, part: await compress(part, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }) };
    }),
  );
  const head = Buffer.alloc(10 + PART_HEAD * parts.length);
  head.writeUInt8(VERSION, 0);
  head.writeUInt8(parts.length, 1);
  head.writeDoubleLE(expires ?? 0, 2);
  for (const [i, { flag, part }] of parts.entries()) {
    head.writeUInt8(flag, 10 + PART_HEAD * i);
    head.writeUInt32LE(part.length, 11 + PART_HEAD * i);
  }
  return Buffer.concat([head, ...parts.map(({ part }) => part)]);
}

/**
 * Reads a value.
 *
 * @returns undefined for bytes of another version, or that are damaged: the value is then asked for anew
 */
export async function decodeFrame(bytes: Buffer): Promise<Framed | undefined> {
  try {
    if (bytes.readUInt8(0) !== VERSION) return undefined;
    const expires = bytes.readDoubleLE(2);
    const heads = 10 + PART_HEAD * bytes.readUInt8(1);
    const found: { compressed: boolean; part: Buffer }[] = [];
    let at = heads;
    for (let head = 10; head < heads; head += PART_HEAD) {
      const end = at + bytes.readUInt32LE(head + 1);
      found.push({ compressed: bytes.readUInt8(head) === 1, part: bytes.subarray(at, end) });
      at = end;
    }
    if (at !== bytes.length) return undefined;
    const parts = found.map(({ compressed, part }) => (compressed ? decompress(part) : part));
    const [json, ...binary] = await Promise.all(parts);
    if (json === undefined) return undefined;
    const unmark = (_: string, item: unknown): unknown =>
      typeof item === 'string' && item.startsWith(MARK) ? binary[Number(item.slice(MARK.length))] : item;
    const text = json.toString('utf8');
    const value: unknown = binary.length === 0 ? JSON.parse(text) : JSON.parse(text, unmark);
    return { value, expires: expires === 0 ? undefined : expires };
  } catch {
    return undefined;
  }
}
