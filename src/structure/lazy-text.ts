// A large text that is unpacked only when it is written, so that a response with hundreds of them
// need not hold all. JSON.stringify sees a string.
import { randomUUID } from 'node:crypto';

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

/** What a late text is unpacked from. */
export type Packed = Pick<LazyText, 'size' | 'bytes'>;

const decoder = new TextDecoder();

/** Marks a lazy text in the JSON around it. Random, so that no other string equals it. */
const MARK = `late text ${randomUUID()}`;
/** Lazy texts left out of the JSON that is being written; undefined when JSON includes them. */
let leftOut: LazyText[] | undefined;

class Late implements LazyText {
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
    if (leftOut === undefined) return decoder.decode(this.bytes());
    leftOut.push(this);
    return MARK;
  }
}

/** @param packed - unpacked when it is read */
export const lazyText = (packed: Packed): LazyText => new Late(packed);

export const isLazyText = (value: unknown): value is LazyText => value instanceof Late;

/** A text that may be a late one, as a string. */
export const readText = (text: string | LazyText): string =>
  typeof text === 'string' ? text : text.toJSON();

/** JSON in pieces: strings, and between them the late texts, without the quotes around each. */
export type JsonPieces = readonly (string | LazyText)[];

/** The JSON of a value with the late texts in it still packed. The first and the last piece are strings. */
export function splitJsonAtLazyTexts(value: object): JsonPieces {
  const texts: LazyText[] = [];
  leftOut = texts;
  try {
    const json = JSON.stringify(value);
    if (texts.length === 0) return [json];
    return json.split(MARK).flatMap((around, i) => {
      const text = texts[i];
      return text === undefined ? around : [around, text];
    });
  } finally {
    leftOut = undefined;
  }
}
