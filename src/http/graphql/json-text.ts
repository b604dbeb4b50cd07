// Escapes text for JSON, bytes to bytes: a structure is 100 kB of ASCII lines, for which decoding
// to a string, escaping and encoding take three times as long.

/** How far escaping has come: bytes read and bytes written. */
export interface Progress {
  read: number;
  written: number;
}

const NEWLINE = 10;
const BACKSLASH_N = 0x5c6e;

/**
 * Whether four bytes need no escape in JSON: printable ASCII other than quote and backslash. Tests
 * all four at once by the borrows that smaller bytes leave.
 */
const isPlain = (four: number): boolean => {
  const quote = four ^ 0x22222222;
  const backslash = four ^ 0x5c5c5c5c;
  const small = (four - 0x20202020) & ~four;
  const quotes = (quote - 0x01010101) & ~quote;
  const backslashes = (backslash - 0x01010101) & ~backslash;
  return ((four | small | quotes | backslashes) & 0x80808080) === 0;
};

const isPlainByte = (byte: number): boolean => byte >= 0x20 && byte < 0x80 && byte !== 0x22 && byte !== 0x5c;

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/**
 * Copies text in which only line ends need escapes, up to the first other byte or the end of the
 * target.
 *
 * @param from - the position to continue at; advanced
 * @returns false before a byte that needs more: continue there with {@link escaped}
 */
export function escapeLines(text: Uint8Array, room: Uint8Array, from: Progress): boolean {
  const source = viewOf(text);
  const target = viewOf(room);
  const { byteLength } = source;
  const { byteLength: end } = target;
  let { read, written } = from;
  let plain = true;
  // A byte may become two.
  while (read < byteLength && written + 2 <= end) {
    while (read + 4 <= byteLength && written + 4 <= end) {
      const four = source.getInt32(read, true);
      if (!isPlain(four)) break;
      target.setInt32(written, four, true);
      read += 4;
      written += 4;
    }
    if (read >= byteLength || written + 2 > end) break;
    const byte = source.getUint8(read);
    plain = byte === NEWLINE || isPlainByte(byte);
    if (!plain) break;
    if (byte === NEWLINE) target.setUint16(written, BACKSLASH_N);
    else target.setUint8(written, byte);
    written += byte === NEWLINE ? 2 : 1;
    read += 1;
  }
  from.read = read;
  from.written = written;
  return plain;
}

const beginning = new TextDecoder();
const further = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Any UTF-8 text escaped for a JSON string.
 *
 * @param isBeginning - whether a byte order mark is dropped
 */
export const escaped = (source: Uint8Array, isBeginning: boolean): Buffer =>
  Buffer.from(JSON.stringify((isBeginning ? beginning : further).decode(source)).slice(1, -1));
