// The members of a JSON object as byte ranges, without parsing any: most bytes of a record are
// seldom selected. It scans the structure only and validates no value.
import { afterSpace, afterString, afterValue, CLOSE, COLON, COMMA, OPEN, QUOTE } from './json-scan.ts';

/**
 * A member: byte offsets of its name (`from`), its value (`start`) and its end (`stop`, exclusive).
 */
export interface Member {
  readonly name: string;
  readonly from: number;
  readonly start: number;
  readonly stop: number;
}

/**
 * Splits an object into its members, in order. Of duplicate names the later counts.
 *
 * @returns undefined for anything that is not plainly an object: a parser may know better
 */
export function objectMembers(bytes: Buffer): Member[] | undefined {
  const members: Member[] = [];
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== OPEN) return undefined;
  at = afterSpace(bytes, at + 1);
  while (bytes[at] === QUOTE) {
    const from = at;
    const end = afterString(bytes, from);
    const colon = afterSpace(bytes, end);
    if (end === -1 || bytes[colon] !== COLON) return undefined;
    const name = bytes.toString('utf8', from + 1, end - 1);
    if (name.includes('\\')) return undefined;
    const start = afterSpace(bytes, colon + 1);
    const stop = afterValue(bytes, start);
    if (stop <= start) return undefined;
    members.push({ name, from, start, stop });
    at = afterSpace(bytes, stop);
    if (bytes[at] !== COMMA) break;
    at = afterSpace(bytes, at + 1);
    if (bytes[at] !== QUOTE) return undefined;
  }
  return bytes[at] === CLOSE && afterSpace(bytes, at + 1) === bytes.length ? members : undefined;
}
