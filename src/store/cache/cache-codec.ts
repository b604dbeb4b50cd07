// Cache entries as bytes: JSON (values may have a `toJSON`) with Buffers beside it, compressed
// where that pays.
import { promisify } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** Shorter entries stay as they are: making a compressor takes most of the time. */
const COMPRESS_FROM_BYTES = 16 * 1024;
/** Images hardly shrink; reading them must not cost a decompression. */
const MAX_COMPRESSED_SHARE = 0.9;
/** Quality 4 takes three times as long for a tenth less. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** Stands in the JSON for a Buffer, with its number. */
const BUFFER_MARK = '\u0000bytes:';

const PLAIN = Buffer.of(0);
const COMPRESSED = Buffer.of(1);

/** A value and when it expires, in milliseconds since the epoch. */
export interface EncodedEntry {
  readonly value: unknown;
  readonly expires?: number | undefined;
}

/** What is serialized of an entry. */
interface Parts {
  readonly json: string;
  readonly buffers: readonly Uint8Array[];
  readonly expires: number | undefined;
}

function hasBuffers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Uint8Array || Object.values(value).some(hasBuffers);
}

function toParts({ value, expires }: EncodedEntry): Parts {
  const buffers: Uint8Array[] = [];
  const replacer = function (this: Record<string, unknown>, key: string, item: unknown): unknown {
    const own = this[key];
    return own instanceof Uint8Array ? `${BUFFER_MARK}${buffers.push(own) - 1}` : item;
  };
  // A replacer makes JSON.stringify five times as slow: only thumbnails need it.
  const json = hasBuffers(value) ? JSON.stringify(value, replacer) : JSON.stringify(value);
  return { json, buffers, expires };
}

function fromParts({ json, buffers, expires }: Parts): EncodedEntry {
  const reviver = (_: string, item: unknown): unknown =>
    typeof item === 'string' && item.startsWith(BUFFER_MARK)
      ? buffers[Number(item.slice(BUFFER_MARK.length))]
      : item;
  const value: unknown = buffers.length === 0 ? JSON.parse(json) : JSON.parse(json, reviver);
  return { value, expires };
}

export async function encodeEntry(entry: EncodedEntry): Promise<Buffer> {
  const bytes = serialize(toParts(entry));
  if (bytes.length < COMPRESS_FROM_BYTES) return Buffer.concat([PLAIN, bytes]);
  const compressed = await compress(bytes, QUALITY);
  return compressed.length < bytes.length * MAX_COMPRESSED_SHARE
    ? Buffer.concat([COMPRESSED, compressed])
    : Buffer.concat([PLAIN, bytes]);
}

/** @returns undefined for damaged bytes: the value is then fetched again */
export async function decodeEntry(bytes: Buffer): Promise<EncodedEntry | undefined> {
  try {
    const body = bytes.subarray(1);
    if (bytes[0] === 0) return fromParts(deserialize(body));
    return bytes[0] === 1 ? fromParts(deserialize(await decompress(body))) : undefined;
  } catch {
    return undefined;
  }
}
