// JSON as Python services write it: NaN and Infinity, which JSON lacks, are read as null.
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

/** The beginning of a string, or one of the three words where a value may stand. */
const NEXT = /"|-?\bInfinity\b|\bNaN\b/g;

/** The end of a string whose first character is at `from`; -1 when it does not end. */
function afterString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let unescaped = quote;
    while (unescaped > from && text[unescaped - 1] === '\\') unescaped -= 1;
    if ((quote - unescaped) % 2 === 0) return quote + 1;
  }
  return -1;
}

/** The text with null for the three words, those inside strings left alone. */
function withNulls(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  NEXT.lastIndex = 0;
  for (let found = NEXT.exec(text); found !== null; found = NEXT.exec(text)) {
    if (found[0] === '"') {
      const end = afterString(text, NEXT.lastIndex);
      if (end < 0) break;
      NEXT.lastIndex = end;
    } else {
      parts.push(text.slice(copied, found.index), 'null');
      copied = NEXT.lastIndex;
    }
  }
  return `${parts.join('')}${text.slice(copied)}`;
}

/**
 * Parses JSON text; `NaN`, `Infinity` and `-Infinity` are null, and a byte order mark is dropped.
 *
 * @throws JsonError
 */
export function parseLenient(text: string): unknown {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  try {
    return JSON.parse(plain) as unknown;
  } catch {
    try {
      return JSON.parse(withNulls(plain)) as unknown;
    } catch {
      throw new JsonError(errorPosition(plain));
    }
  }
}
