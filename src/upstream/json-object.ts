// The members of a JSON object that is there as bytes, each as its bytes, without parsing any: of a record most of the bytes are seldom
// asked for. It looks only at what divides JSON and says nothing of whether values are valid.
import { nextStop, stopsAt } from './archive/json-members.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** With this bit set, both opening brackets are `{` and both closing ones `}`. */
const BRACKET_BIT = 0x20;
const BRACKETS = stopsAt('"[]{}');
const ENDS = stopsAt(',}] \t\r\n');
const SPACES = stopsAt(' \t\r\n');

/** Where a string that begins at `from` has ended; -1 when it does not. */
function afterString(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let back = at;
    while (bytes[back - 1] === BACKSLASH) back -= 1;
    if ((at - back) % 2 === 0) return at + 1;
  }
  return -1;
}

/** Where a value that begins at `from` has ended; -1 when it does not. */
function afterValue(bytes: Buffer, from: number): number {
  const first = bytes[from] ?? 0;
  if (first === QUOTE) return afterString(bytes, from);
  if ((first | BRACKET_BIT) !== OPEN) return nextStop(bytes, from, ENDS);
  let depth = 0;
  for (let at = from; at < bytes.length; ) {
    at = nextStop(bytes, at, BRACKETS);
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = afterString(bytes, at);
      if (at === -1) return -1;
      continue;
    }
    depth += (byte | BRACKET_BIT) === OPEN ? 1 : -1;
    at += 1;
    if (depth === 0) return at;
  }
  return -1;
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (SPACES[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

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
