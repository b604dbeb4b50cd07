// A large text that is made only when it is written, so that a response with hundreds of them need
// not hold all. JSON.stringify sees a string.

const decoder = new TextDecoder();

/** A text in UTF-8 that is made when it is read. */
export class LazyText {
  /** Bytes that it takes, about. */
  readonly size: number;
  readonly #make: () => Uint8Array;

  /** @param make - called whenever the text is read; nothing writes to its bytes */
  constructor(size: number, make: () => Uint8Array) {
    this.size = size;
    this.#make = make;
  }
  bytes(): Uint8Array {
    return this.#make();
  }
  /** Invalid UTF-8 reads as U+FFFD, and a leading byte order mark is dropped. */
  toJSON(): string {
    return decoder.decode(this.bytes());
  }
}

/** A text that may be lazy, as a string. */
export const readText = (text: string | LazyText): string =>
  typeof text === 'string' ? text : text.toJSON();
