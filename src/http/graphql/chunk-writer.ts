// Writes pieces of JSON as bytes into chunks. Texts are escaped bytes to bytes: a structure is 100 kB
// of ASCII lines, for which decoding to a string, escaping and encoding take three times as long.
import type { LazyText } from '../../structure/lazy-text.ts';

/** How far escaping has come: bytes read and bytes written. */
interface Progress {
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
function escapeLines(text: Uint8Array, room: Uint8Array, from: Progress): boolean {
  const source = viewOf(text);
  const target = viewOf(room);
  const { byteLength } = source;
  const { byteLength: end } = target;
  let { read, written } = from;
  let plain = true;
  for (;;) {
    while (read + 4 <= byteLength && written + 4 <= end) {
      const four = source.getInt32(read, true);
      if (!isPlain(four)) break;
      target.setInt32(written, four, true);
      read += 4;
      written += 4;
    }
    // A byte may become two.
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
const escaped = (source: Uint8Array, isBeginning: boolean): Buffer =>
  Buffer.from(JSON.stringify((isBeginning ? beginning : further).decode(source)).slice(1, -1));

/** Bytes of a chunk: what a connection takes at once, and far less than a millisecond's work. */
const CHUNK_BYTES = 128 * 1024;

/** Gathers bytes in chunks. Each has its own memory, because nothing tells when it has been sent. */
export class ChunkWriter {
  readonly #size: number;
  #target: Buffer<ArrayBuffer> | undefined;
  #used = 0;

  /** @param size - bytes of a chunk, at least 2 */
  constructor(size = CHUNK_BYTES) {
    this.#size = size;
  }
  /** Whether something has been written that was not taken. */
  get hasBytes(): boolean {
    return this.#used > 0;
  }
  /** Writes pieces; gives the chunks that are full meanwhile. */
  *add(pieces: Iterable<string | LazyText>): Generator<Buffer<ArrayBuffer>, void, undefined> {
    for (const piece of pieces) {
      if (typeof piece !== 'string') yield* this.#addText(piece);
      // At most three bytes for each unit of a text.
      else if (piece.length * 3 <= this.#size - this.#used)
        this.#used += this.#room().write(piece, this.#used);
      else yield* this.addBytes(Buffer.from(piece));
    }
  }
  /** The same with bytes as they are. */
  *addBytes(bytes: Uint8Array): Generator<Buffer<ArrayBuffer>, void, undefined> {
    for (let from = 0; from < bytes.length; ) {
      if (this.#used === this.#size) yield this.#chunk();
      const count = Math.min(this.#size - this.#used, bytes.length - from);
      this.#room().set(bytes.subarray(from, from + count), this.#used);
      this.#used += count;
      from += count;
    }
  }
  /** What has been written since the last full chunk; undefined where that is nothing. */
  take(): Buffer<ArrayBuffer> | undefined {
    return this.#used === 0 ? undefined : this.#chunk();
  }

  *#addText(text: LazyText): Generator<Buffer<ArrayBuffer>, void, undefined> {
    const bytes = text.bytes();
    const at: Progress = { read: 0, written: this.#used };
    while (escapeLines(bytes, this.#room(), at)) {
      this.#used = at.written;
      if (at.read === bytes.length) return;
      yield this.#chunk();
      at.written = 0;
    }
    this.#used = at.written;
    yield* this.addBytes(escaped(bytes.subarray(at.read), at.read === 0));
  }
  #room(): Buffer<ArrayBuffer> {
    this.#target ??= Buffer.allocUnsafeSlow(this.#size);
    return this.#target;
  }
  #chunk(): Buffer<ArrayBuffer> {
    const chunk = this.#room().subarray(0, this.#used);
    this.#target = undefined;
    this.#used = 0;
    return chunk;
  }
}
