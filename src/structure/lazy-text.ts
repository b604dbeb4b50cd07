// A large text that is made only when it is written, so that a response with hundreds of them need
// not hold all. JSON.stringify sees a string.
import { isAscii } from 'node:buffer';

const decoder = new TextDecoder();

/** The same bytes as a Buffer. */
export const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/**
 * Text in UTF-8. Invalid UTF-8 reads as U+FFFD, and a leading byte order mark is dropped. Most
 * structures are ASCII, which is read in a fifth of the time.
 */
export const decodeText = (bytes: Uint8Array): string =>
  isAscii(bytes) ? toBuffer(bytes).toString('latin1') : decoder.decode(bytes);

/** A text that is made when it is read. */
export class LazyText {
  /** Bytes that it takes, about. */
  readonly size: number;
  readonly #make: () => string | Uint8Array;

  /** @param make - called whenever the text is read; nothing writes to its bytes */
  constructor(size: number, make: () => string | Uint8Array) {
    this.size = size;
    this.#make = make;
  }
  bytes(): Buffer {
    const made = this.#make();
    return typeof made === 'string' ? Buffer.from(made) : toBuffer(made);
  }
  toJSON(): string {
    const made = this.#make();
    return typeof made === 'string' ? made : decodeText(made);
  }
  /** The same text as JSON.stringify returns; lines in ASCII take half the time. */
  stringify(): string {
    const text = this.toJSON();
    const isPlain = text.isWellFormed() && !ESCAPED.some((character) => text.includes(character));
    return isPlain ? `"${text.replaceAll('\n', '\\n')}"` : JSON.stringify(text);
  }
}

/**
 * The characters that JSON escapes, except line feeds. Thirty searches take a third of the time of
 * a pattern.
 */
const ESCAPED = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code))
  .filter((character) => character !== '\n')
  .concat('"', '\\');

/** A text that may be lazy, as a string. */
export const readText = (text: string | LazyText): string =>
  typeof text === 'string' ? text : text.toJSON();

/** The same in UTF-8; nothing writes to it. */
export const readBytes = (text: string | LazyText): Buffer =>
  typeof text === 'string' ? Buffer.from(text) : text.bytes();
