// Serializes a result to bytes while they are written: large texts are unpacked and escaped one at
// a time, so that an answer with hundreds needs little more memory than one of them.
import type { LazyText, SplitJson } from '../../structure/lazy-text.ts';
import { escaped, escapeLines, type Progress } from './json-text.ts';

/** Fills the start of a buffer with the next bytes. @returns how many; 0 at the end */
export type FillBuffer = (target: Buffer) => number;

export interface Body {
  /** Approximate length in bytes; infinity when unknown. */
  readonly byteLength: number;
  /** Begins to make the bytes. */
  open(): FillBuffer;
}

/** Room that makes another piece worthwhile: with fewer bytes left, a buffer counts as full. */
export const BUFFER_BYTES = 16;

/** Writes bytes as they are. @returns whether there is more to write of them */
function copied(bytes: Uint8Array, at: Progress, target: Buffer): boolean {
  const count = Math.min(bytes.length - at.read, target.length - at.written);
  target.set(bytes.subarray(at.read, at.read + count), at.written);
  at.read += count;
  at.written += count;
  return at.read < bytes.length;
}

/** Writes a text in its JSON form. */
function openText(text: LazyText): (at: Progress, target: Buffer) => boolean {
  let lines: Uint8Array | undefined;
  let rest: Buffer | undefined;
  return (at, target) => {
    if (rest !== undefined) return copied(rest, at, target);
    const bytes = lines ?? text.bytes();
    const isBeginning = lines === undefined;
    const isPlain = escapeLines(bytes, target, at);
    if (isPlain && at.read === bytes.length) return false;
    if (isPlain) {
      // The bytes are ours in this turn only.
      lines = bytes.slice(at.read);
      at.read = 0;
      return true;
    }
    rest = escaped(bytes.subarray(at.read), isBeginning && at.read === 0);
    at.read = 0;
    return copied(rest, at, target);
  };
}

/** Makes a body of what stands around texts and of the texts. */
export function openBody({ around, texts }: SplitJson): Body {
  const quoted = around.map((json, i) =>
    Buffer.from(`${i === 0 ? '' : '"'}${json}${i === texts.length ? '' : '"'}`),
  );
  const sizes = [...quoted.map(({ length }) => length), ...texts.map((text) => 1.03 * text.size)];
  return {
    byteLength: Math.ceil(sizes.reduce((sum, size) => sum + size, 0)),
    open() {
      let part = 0;
      let write: ((at: Progress, target: Buffer) => boolean) | undefined;
      const at: Progress = { read: 0, written: 0 };
      const next = () => {
        const [bytes, text] = [quoted[part >> 1], texts[part >> 1]];
        if (part % 2 === 1) return text === undefined ? undefined : openText(text);
        return bytes === undefined ? undefined : (to: Progress, target: Buffer) => copied(bytes, to, target);
      };
      return (target) => {
        at.written = 0;
        while (at.written + BUFFER_BYTES <= target.length) {
          write ??= next();
          if (write === undefined) break;
          if (write(at, target)) break;
          write = undefined;
          part += 1;
          at.read = 0;
        }
        return at.written;
      };
    },
  };
}

/**
 * Largest body that is serialized in one piece. Equals the default limit of the response cache for
 * one entry.
 */
export const STREAM_THRESHOLD_BYTES = 2_000_000;
/** Bytes of a piece: what a connection takes at once, and far less than a millisecond's work. */
export const CHUNK_BYTES = 128 * 1024;

/** Memory for encoding texts; allocated once. */
const ENCODED = 256 * 1024;
const encoder = new TextEncoder();
let encoded: Uint8Array<ArrayBuffer> | undefined;

/**
 * The bytes of a text. `Buffer.from` reads non-ASCII text twice, which takes longer than copying.
 */
export function bytesOf(text: string | Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  if (typeof text !== 'string') return text;
  // At most three bytes for each unit of a text.
  if (text.length * 3 > ENCODED) return Buffer.from(text);
  encoded ??= new Uint8Array(ENCODED);
  return Buffer.from(encoded.subarray(0, encoder.encodeInto(text, encoded).written));
}

/** All bytes of a body. */
export function toBuffer(body: string | Body): Buffer<ArrayBuffer> {
  if (typeof body === 'string') return bytesOf(body);
  const fill = body.open();
  const filled: Buffer<ArrayBuffer>[] = [];
  const known = Number.isFinite(body.byteLength);
  // Most often the first holds all.
  for (
    let size = known ? body.byteLength + BUFFER_BYTES : STREAM_THRESHOLD_BYTES;
    ;
    size = known ? 4096 : STREAM_THRESHOLD_BYTES
  ) {
    const target = Buffer.allocUnsafe(size);
    const count = fill(target);
    if (count > 0) filled.push(target.subarray(0, count));
    if (count < target.length - BUFFER_BYTES || count === 0) break;
  }
  const [only] = filled;
  return filled.length === 1 && only !== undefined ? only : Buffer.concat(filled);
}
