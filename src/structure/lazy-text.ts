// A large text that is unpacked only when it is written, so that a response with hundreds of them
// need not hold all. JSON.stringify sees a string.

const decoder = new TextDecoder();

/** A text that is kept packed. */
export class LazyText {
  /** Bytes of the text, in UTF-8. */
  readonly size: number;
  readonly #unpack: () => Uint8Array;

  /** @param unpack - called whenever the text is read; nothing writes to its bytes */
  constructor(size: number, unpack: () => Uint8Array) {
    this.size = size;
    this.#unpack = unpack;
  }
  /** The text in UTF-8. */
  bytes(): Uint8Array {
    return this.#unpack();
  }
  /** Invalid UTF-8 reads as U+FFFD, and a leading byte order mark is dropped. */
  toJSON(): string {
    return decoder.decode(this.bytes());
  }
}

/** A text that may be packed, as a string. */
export const readText = (text: string | LazyText): string =>
  typeof text === 'string' ? text : text.toJSON();
