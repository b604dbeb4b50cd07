// Entries of the cache's second tier as bytes: a number, the length of a JSON text in bytes, the text,
// and the Buffers that the value holds.
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, brotliDecompress, constants } from 'node:zlib';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** Shorter entries stay as they are: making a compressor takes most of the time. */
const COMPRESS_FROM_BYTES = 16 * 1024;
/**
 * Longer ones are compressed in a thread, which costs three times as much but does not stop the event loop.
 */
const COMPRESS_HERE_BYTES = 128 * 1024;
/** Images hardly shrink; reading them must not cost a decompression. */
const MAX_COMPRESSED_SHARE = 0.9;
/** Quality 4 takes three times as long for a tenth less. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

const PLAIN = 0;
const COMPRESSED = 1;
/** Bytes before the JSON: how the rest is stored, and its length. */
const HEAD = 5;

/** A value and when it expires, in milliseconds since the epoch. */
export interface EncodedEntry {
  readonly value: unknown;
  readonly expires?: number | undefined;
}

/** The JSON of an entry. */
interface Written extends EncodedEntry {
  /** Bytes of each Buffer behind it. */
  readonly sizes?: readonly number[];
}

/** Stands in the JSON for a Buffer, with its number. */
const BUFFER_MARK = '\u0000bytes:';

const hasBuffers = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (value instanceof Uint8Array || (!('toJSON' in value) && Object.values(value).some(hasBuffers)));

/**
 * The same with a mark in place of each Buffer, and the Buffers in a list. A replacer of JSON.stringify
 * would be given them as lists of their bytes: a third of a second for the catalogue's 7 MB.
 */
function withMarks(value: unknown, buffers: Uint8Array[]): unknown {
  if (value instanceof Uint8Array) return `${BUFFER_MARK}${buffers.push(value) - 1}`;
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  if (Array.isArray(value)) return value.map((item) => withMarks(item, buffers));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withMarks(item, buffers)]));
}

/** The JSON, and the Buffers that it refers to. JSON, because values may have a `toJSON`. */
function toParts({ value, expires }: EncodedEntry): [json: string, buffers: Uint8Array[]] {
  if (!hasBuffers(value)) return [JSON.stringify({ expires, value }), []];
  const buffers: Uint8Array[] = [];
  const marked = withMarks(value, buffers);
  return [JSON.stringify({ sizes: buffers.map(({ length }) => length), expires, value: marked }), buffers];
}

function toBytes(entry: EncodedEntry): Buffer {
  const [json, buffers] = toParts(entry);
  const length = Buffer.byteLength(json);
  const bytes = Buffer.allocUnsafe(HEAD + length + buffers.reduce((sum, buffer) => sum + buffer.length, 0));
  bytes[0] = PLAIN;
  bytes.writeUInt32LE(length, 1);
  bytes.write(json, HEAD);
  let at = HEAD + length;
  for (const buffer of buffers) {
    bytes.set(buffer, at);
    at += buffer.length;
  }
  return bytes;
}

/** @param bytes - uncompressed */
function fromBytes(bytes: Buffer): EncodedEntry {
  const end = HEAD + bytes.readUInt32LE(1);
  const json = bytes.toString('utf8', HEAD, end);
  // Only this codec writes what it reads.
  const { value, expires, sizes = [] } = JSON.parse(json) as Written;
  if (sizes.reduce((sum, size) => sum + size, end) !== bytes.length)
    throw new RangeError('A part is missing.');
  if (sizes.length === 0) return { value, expires };
  let at = end;
  const buffers = sizes.map((size) => {
    at += size;
    return bytes.subarray(at - size, at);
  });
  const reviver = (_: string, item: unknown): unknown =>
    typeof item === 'string' && item.startsWith(BUFFER_MARK)
      ? buffers[Number(item.slice(BUFFER_MARK.length))]
      : item;
  return { value: (JSON.parse(json, reviver) as Written).value, expires };
}

/** @throws whatever the `toJSON` of the value throws */
export async function encodeEntry(entry: EncodedEntry): Promise<Buffer> {
  const bytes = toBytes(entry);
  if (bytes.length < COMPRESS_FROM_BYTES) return bytes;
  const compressed =
    bytes.length < COMPRESS_HERE_BYTES ? brotliCompressSync(bytes, QUALITY) : await compress(bytes, QUALITY);
  return compressed.length < bytes.length * MAX_COMPRESSED_SHARE
    ? Buffer.concat([Buffer.of(COMPRESSED), compressed])
    : bytes;
}

/** @returns undefined for damaged bytes: the value is then fetched again */
export async function decodeEntry(bytes: Buffer): Promise<EncodedEntry | undefined> {
  try {
    return fromBytes(bytes[0] === COMPRESSED ? await decompress(bytes.subarray(1)) : bytes);
  } catch {
    return undefined;
  }
}
