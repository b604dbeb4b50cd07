// A large text that is unpacked when it is written and not before, so that an answer of hundreds need not hold them all. Whoever makes
// JSON of it the ordinary way gets a string. It knows neither what the text says nor who writes it.
import { randomUUID } from 'node:crypto';

/** A text that lies packed somewhere. */
export interface LazyText {
  /** Bytes of it, in UTF-8. */
  readonly size: number;
  /**
   * Unpacks it, for this turn of the event loop: whoever needs bytes beyond that copies them. What is no UTF-8 is read as U+FFFD, and a byte
   * order mark at the beginning is no part of the text.
   */
  bytes(): Uint8Array;
  /** The text as `JSON.stringify` takes it. */
  toJSON(): string;
}

/** What a late text is unpacked from. */
export type Packed = Pick<LazyText, 'size' | 'bytes'>;

const decoder = new TextDecoder();

/** Stands for a late text in JSON while it is written around them. Nobody can know it, so that no other string is it. */
const MARK = `late text ${randomUUID()}`;
/** Late texts that are left out of the JSON that is being made; undefined where they belong into it. */
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

/** JSON in two: `around[i]` stands before `texts[i]`, the last of `around` behind them all. */
export interface SplitJson {
  readonly around: readonly string[];
  readonly texts: readonly LazyText[];
}

/** The JSON of a value without the late texts in it. */
export function splitJsonAtLazyTexts(value: object): SplitJson {
  const texts: LazyText[] = [];
  leftOut = texts;
  try {
    const json = JSON.stringify(value);
    return { around: texts.length === 0 ? [json] : json.split(`"${MARK}"`), texts };
  } finally {
    leftOut = undefined;
  }
}
