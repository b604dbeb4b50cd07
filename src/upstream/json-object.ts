// The members of a JSON object that is there as bytes, each as its bytes, without parsing any: of a record most of the bytes are seldom
// asked for. It looks only at what divides JSON and says nothing of whether values are valid.
import { afterSpace, afterString, afterValue, CLOSE, COLON, COMMA, OPEN, QUOTE } from './json-scan.ts';

/**
 * Divides an object into its members, by their names. Of two members with one name the later counts.
 *
 * @returns undefined for anything that is not plainly an object: a parser may know better
 */
export function objectMembers(bytes: Buffer): Map<string, Buffer> | undefined {
  const members = new Map<string, Buffer>();
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== OPEN) return undefined;
  at = afterSpace(bytes, at + 1);
  while (bytes[at] === QUOTE) {
    const end = afterString(bytes, at);
    const colon = afterSpace(bytes, end);
    if (end === -1 || bytes[colon] !== COLON) return undefined;
    const key = bytes.toString('utf8', at + 1, end - 1);
    if (key.includes('\\')) return undefined;
    const start = afterSpace(bytes, colon + 1);
    const stop = afterValue(bytes, start);
    if (stop <= start) return undefined;
    members.set(key, bytes.subarray(start, stop));
    at = afterSpace(bytes, stop);
    if (bytes[at] !== COMMA) break;
    at = afterSpace(bytes, at + 1);
    if (bytes[at] !== QUOTE) return undefined;
  }
  return bytes[at] === CLOSE && afterSpace(bytes, at + 1) === bytes.length ? members : undefined;
}
