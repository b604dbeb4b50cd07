// Finds where a JSON text is invalid. JSON.parse only sometimes says, and then quotes the text.

const SPACE = /[ \t\r\n]*/y;
/**
 * A part of a string. Strings are matched in parts, as megabytes at once would overflow the
 * matcher.
 */
const STRING_PART = /[^"\\\p{Cc}]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/uy;
/** The words of Python count as values: they are read as null. */
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|NaN|-?Infinity/y;

/**
 * @returns the 0-based character where the text stops being JSON; undefined when it only ends too
 *   early
 */
export function errorPosition(text: string): number | undefined {
  /** The brackets that are open, as the characters that close them. */
  const open: string[] = [];
  let at = 0;
  let want: 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'more' = 'value';
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const matchString = (): boolean => {
    if (text[at] !== '"') return false;
    const start = at;
    at += 1;
    while (match(STRING_PART));
    if (text[at] === '"') {
      at += 1;
      return true;
    }
    at = start;
    return false;
  };
  for (;;) {
    match(SPACE);
    if (want === 'more' && open.length === 0) return at < text.length ? at : undefined;
    if (at >= text.length) return undefined;
    const sign = text[at] ?? '';
    if (want !== 'value' && want !== 'key' && want !== 'colon' && sign === open.at(-1)) {
      open.pop();
      at += 1;
      want = 'more';
    } else if (want === 'more') {
      if (sign !== ',') return at;
      at += 1;
      want = open.at(-1) === '}' ? 'key' : 'value';
    } else if (want === 'colon') {
      if (sign !== ':') return at;
      at += 1;
      want = 'value';
    } else if (want === 'key' || want === 'first key') {
      if (!matchString()) return at;
      want = 'colon';
    } else if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? '}' : ']');
      at += 1;
      want = sign === '{' ? 'first key' : 'first value';
    } else if (matchString() || match(SCALAR)) want = 'more';
    else return at;
  }
}
