// Drops members with certain names from JSON as its bytes arrive, so that they are never held. It
// only scans the structure; broken JSON comes out broken.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
/** With this bit set, both opening brackets are `{` and both closing ones `}`. */
const BRACKET_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;
const NULL = Buffer.from('null');

/**
 * The same JSON, in which the values of all members with these names, at any depth, are `null`.
 *
 * @param names - in ASCII, as they stand on the wire
 */
export async function* removeMembers(
  chunks: AsyncIterable<Uint8Array>,
  names: ReadonlySet<string>,
): AsyncGenerator<Uint8Array> {
  const longest = Math.max(...[...names].map((name) => name.length));
  /** The last string, up to one character more than the longest name: a key if a colon follows. */
  let string = '';
  let inString = false;
  let escaped = false;
  /** Undefined outside a value that is dropped, else how deep inside it the reader is. */
  let depth: number | undefined;

  for await (const chunk of chunks) {
    let from = depth === undefined ? 0 : chunk.length;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        if (inString && depth === undefined && string.length <= longest) string += String.fromCharCode(byte);
      } else if (byte === QUOTE) {
        inString = true;
        string = '';
      } else if (depth === undefined) {
        if (byte === COLON && names.has(string)) {
          yield chunk.subarray(from, at + 1);
          yield NULL;
          depth = 0;
          from = chunk.length;
        }
      } else if ((byte | BRACKET_BIT) === OPENING) depth += 1;
      else if (depth > 0) {
        if ((byte | BRACKET_BIT) === CLOSING) depth -= 1;
      } else if (byte === COMMA || (byte | BRACKET_BIT) === CLOSING) {
        depth = undefined;
        from = at;
      }
    }
    if (from < chunk.length) yield chunk.subarray(from);
  }
}
