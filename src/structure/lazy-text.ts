// A large text that is unpacked only when it is written, so that a response with hundreds of them
// need not hold all. JSON.stringify sees a string.

/** A text that lies packed somewhere. */
export interface LazyText {
  /** Bytes of it, in UTF-8. */
  readonly size: number;
  /**
   * Unpacks the text, into bytes that nothing writes to. Invalid UTF-8 reads as U+FFFD, and a leading
   * byte order mark is dropped.
   */
  bytes(): Uint8Array;
  /** The text as `JSON.stringify` takes it. */
  toJSON(): string;
}

/** What a lazy text is unpacked from. */
export type Packed = Pick<LazyText, 'size' | 'bytes'>;

const decoder = new TextDecoder();

class PackedText implements LazyText {
  readonly #packed: Packed;

  constructor(packed: Packed) {
    this.#packed = packed;
  }
  get size(): number {
    return this.#packed.size;
  }
  bytes(): Uint8Array {
    return this.#packed.bytes();
  }
  toJSON(): string {
    return decoder.decode(this.bytes());
  }
}

/** @param packed - unpacked when it is read */
export const lazyText = (packed: Packed): LazyText => new PackedText(packed);

export const isLazyText = (value: unknown): value is LazyText => value instanceof PackedText;

/** A text that may be packed, as a string. */
export const readText = (text: string | LazyText): string =>
  typeof text === 'string' ? text : text.toJSON();
