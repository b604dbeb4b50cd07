// Drops members with certain names from JSON as its bytes arrive, so that they are never held. It
// only scans the structure; broken JSON comes out broken.
import { BACKSLASH, BRACKET_BIT, CLOSE, COLON, COMMA, nextStop, OPEN, QUOTE, stopsAt } from './json-scan.ts';

const NULL = Buffer.from('null');
const IN_STRING = stopsAt('"\\');
const OUTSIDE = stopsAt('":');
const DROPPED = stopsAt('"[]{},');
const DEEP = stopsAt('"[]{}');

/**
 * The same JSON, in which the values of all members with these names, at any depth, are `null`.
 *
 * @param names - in ASCII, as they stand on the wire
 */
export async function* removeMembers(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  names: ReadonlySet<string>,
): AsyncGenerator<Uint8Array> {
  const longest = Math.max(...[...names].map((name) => name.length));
  /** The beginning of the last string: a key if a colon follows. */
  let string = '';
  let inString = false;
  let escaped = false;
  /** Undefined outside a value that is dropped, else how deep inside it the reader is. */
  let depth: number | undefined;

  for await (const chunk of chunks) {
    let from = depth === undefined ? 0 : chunk.length;
    for (let at = 0; at < chunk.length; at++) {
      if (escaped) {
        escaped = false;
        continue;
      }
      const start = at;
      const stops = depth === undefined ? OUTSIDE : depth > 0 ? DEEP : DROPPED;
      at = nextStop(chunk, at, inString ? IN_STRING : stops);
      const byte = chunk[at] ?? 0;
      if (inString) {
        if (depth === undefined && string.length <= longest)
          string += Buffer.from(chunk.subarray(start, Math.min(at, start + longest + 1))).toString('latin1');
        escaped = byte === BACKSLASH;
        // No key of ours has an escape in it.
        if (escaped) string += '\\';
        else if (byte === QUOTE) inString = false;
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
      } else if ((byte | BRACKET_BIT) === OPEN) depth += 1;
      else if (depth > 0) {
        if ((byte | BRACKET_BIT) === CLOSE) depth -= 1;
      } else if (byte === COMMA || (byte | BRACKET_BIT) === CLOSE) {
        depth = undefined;
        from = at;
      }
    }
    if (from < chunk.length) yield chunk.subarray(from);
  }
}
