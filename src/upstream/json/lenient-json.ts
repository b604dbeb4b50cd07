// JSON as Python services write it: NaN and Infinity, which JSON lacks, are read as null, and an escaped
// half of a surrogate pair, which many clients refuse, as U+FFFD.
import { BACKSLASH, BRACKET_BIT, CLOSE, COLON, COMMA, OPEN, QUOTE } from './json-scan.ts';

/** JSON that cannot be read. It never says what stands there. */
export class JsonError extends SyntaxError {
  constructor(message = 'The JSON is not valid, or ends too early.') {
    super(message);
    this.name = 'JsonError';
  }
}

/** The beginning of a string, or one of the three words where a value may stand. */
const NEXT = /"|-?\bInfinity\b|\bNaN\b/g;

/** The end of a string whose first character is at `from`; -1 when it does not end. */
function afterString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let unescaped = quote;
    while (unescaped > from && text.charCodeAt(unescaped - 1) === BACKSLASH) unescaped -= 1;
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

/** An escaped backslash, a pair, or half of one, which alone is captured. */
const ESCAPE =
  /\\(?:\\|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2}))/g;

const wellFormed = (text: string): string =>
  text.includes('\\u') ? text.replace(ESCAPE, (part, half) => (half === undefined ? part : '\\ufffd')) : text;

/** Levels of nesting. An honest answer has ten; the parser holds 40 bytes and more for each. */
const MAX_DEPTH = 1_000;
/** Objects, lists and members: up to 400 bytes each until they are read. A result has one for each atom. */
const MAX_PARTS = 500_000;
/** Values in lists: 10 bytes each. Embeddings of 10,000 tokens may have 40 million. */
const MAX_VALUES = 50_000_000;
/** Shorter texts cannot hold that many. */
const SHORT = 2 * MAX_PARTS;

function countUpTo(text: string, character: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0 && count < most; at = text.indexOf(character, at + 1))
    count += 1;
  return count;
}

/** Whether the text is nested too deeply, or would take far more memory than it has bytes. */
function isTooMuch(text: string): boolean {
  if (text.length <= 2 * MAX_DEPTH) return false;
  const opened = () => countUpTo(text, '[', MAX_DEPTH + 1) + countUpTo(text, '{', MAX_DEPTH + 1);
  if (text.length <= SHORT && opened() <= MAX_DEPTH) return false;
  let [depth, parts, values] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = afterString(text, at + 1);
      if (end < 0) return false;
      at = end - 1;
    } else if (code === COMMA) values += 1;
    else if (code === COLON) parts += 1;
    else if ((code | BRACKET_BIT) === OPEN) {
      depth += 1;
      parts += 1;
    } else if ((code | BRACKET_BIT) === CLOSE) depth -= 1;
    if (depth > MAX_DEPTH || parts > MAX_PARTS || values > MAX_VALUES) return true;
  }
  return false;
}

/**
 * Parses JSON text; `NaN`, `Infinity` and `-Infinity` are null, half of a surrogate pair is U+FFFD, and a
 * byte order mark is dropped.
 *
 * @throws JsonError, also for text that is nested more than 1,000 levels deep, or holds more values
 *   than any answer
 */
export function parseLenient(text: string): unknown {
  const plain = wellFormed(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  if (isTooMuch(plain)) throw new JsonError('The JSON is nested too deeply, or holds too many values.');
  try {
    return JSON.parse(plain) as unknown;
  } catch {
    try {
      return JSON.parse(withNulls(plain)) as unknown;
    } catch {
      throw new JsonError();
    }
  }
}
