// JSON as Python services write it: NaN and Infinity stand where JSON has no word for them and are read as null.
// It knows neither files nor threads.
import { errorPosition } from './json-position.ts';

/** JSON that cannot be read. Says where, never what stands there. */
export class JsonError extends SyntaxError {
  /** 0-based offset in characters; undefined where the text ends too early. */
  readonly position: number | undefined;
  constructor(position: number | undefined) {
    super(
      position === undefined ? 'The JSON ends too early.' : `The JSON is not valid at character ${position}.`,
    );
    this.name = 'JsonError';
    this.position = position;
  }
}

/** A string, or one of the three words where a value may stand. Strings are matched so that words inside them are left alone. */
const WORDS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b/gs;

/**
 * Parses JSON text; `NaN`, `Infinity` and `-Infinity` are null, and a byte order mark is passed over.
 *
 * @throws JsonError
 */
export function parseLenient(text: string): unknown {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  try {
    return JSON.parse(plain) as unknown;
  } catch {
    try {
      return JSON.parse(plain.replace(WORDS, (word) => (word.startsWith('"') ? word : 'null'))) as unknown;
    } catch {
      throw new JsonError(errorPosition(plain));
    }
  }
}
