// Scans JSON bytes without parsing: where a string, a value or white space ends, and the members of
// an object. It validates no value.

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COLON = 0x3a;
export const COMMA = 0x2c;
export const OPEN = 0x7b;
export const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
/** With this bit set, both opening brackets are `{` and both closing ones `}`. */
export const BRACKET_BIT = 0x20;

/** A table of the bytes that {@link nextStop} stops at. */
export const stopsAt = (signs: string): Uint8Array => {
  const stops = new Uint8Array(256);
  for (const sign of signs) stops[sign.charCodeAt(0)] = 1;
  return stops;
};
const BRACKETS = stopsAt('"[]{}');
const ENDS = stopsAt(',}] \t\r\n');
const SPACES = stopsAt(' \t\r\n');

/** The next structural byte, four tested at a time: nearly all of the features are numbers. */
export function nextStop(bytes: Uint8Array, from: number, stops: Uint8Array): number {
  const stop = (at: number): number => stops[bytes[at] ?? 0] ?? 0;
  let at = from;
  while (at + 3 < bytes.length && stop(at) + stop(at + 1) + stop(at + 2) + stop(at + 3) === 0) at += 4;
  while (at < bytes.length && stop(at) === 0) at += 1;
  return at;
}

/** Bytes of a string tested one by one: most strings are shorter, and indexOf costs as much. */
const SHORT = 64;

/** Where a string that begins at `from` has ended; -1 when it does not. */
export function afterString(bytes: Buffer, from: number): number {
  let at = from + 1;
  for (const end = Math.min(at + SHORT, bytes.length); at < end; at++) {
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  for (let quote = bytes.indexOf(QUOTE, at); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let back = quote;
    while (back > at && bytes[back - 1] === BACKSLASH) back -= 1;
    if ((quote - back) % 2 === 0) return quote + 1;
  }
  return -1;
}

/** Bytes of a list for which native searches cost less than a look at each byte. */
const LONG_LIST = 64;

function endOfList(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(CLOSE_LIST, from);
  return end === -1 ? bytes.length : end;
}

/**
 * Whether a long list holds only numbers, words and commas, as nearly all bytes of features do: its
 * end is then the next bracket. The order of the searches keeps nested lists from being searched
 * repeatedly.
 */
function isFlat(bytes: Buffer, from: number, end: number): boolean {
  if (end - from < LONG_LIST || end === bytes.length) return false;
  const list = bytes.subarray(from, end);
  return !list.includes(OPEN_LIST) && !list.includes(OPEN) && !list.includes(QUOTE);
}

/** Strings and brackets in the values of an object: a record has some thousand, at 60 ns each. */
const MAX_STOPS = 500_000;

/** Where a value that begins at `from` has ended; -1 when it does not, or no stops are left for it. */
function afterValue(bytes: Buffer, from: number, stops: { left: number }): number {
  const first = bytes[from] ?? 0;
  if (first === QUOTE) return afterString(bytes, from);
  if ((first | BRACKET_BIT) !== OPEN) return nextStop(bytes, from, ENDS);
  let depth = 0;
  /** The next end of a list, where it is still ahead. */
  let listEnd = -1;
  for (let at = from; at < bytes.length && stops.left > 0; stops.left -= 1) {
    at = nextStop(bytes, at, BRACKETS);
    const byte = bytes[at] ?? 0;
    if (byte === OPEN_LIST) {
      if (listEnd < at) listEnd = endOfList(bytes, at);
      if (isFlat(bytes, at + 1, listEnd)) {
        at = listEnd + 1;
        if (depth === 0) return at;
        continue;
      }
    }
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

/** A member: byte offsets of its value (`start`) and of its end (`stop`, exclusive). */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly stop: number;
}

/** The member of a name: of duplicates the later counts. */
export const memberNamed = (members: readonly Member[], name: string): Member | undefined =>
  members.findLast((member) => member.name === name);

/** A name without its quotes; undefined where its escapes are no JSON. */
function nameIn(text: string): string | undefined {
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Given the name of a member and where its value begins; says where the value has ended, or -1. */
type AfterMember = (name: string, start: number) => number;

/** Where an object that begins at `from` has ended; -1 for anything that is not plainly an object. */
function afterObject(bytes: Buffer, from: number, afterMember: AfterMember): number {
  if (bytes[from] !== OPEN) return -1;
  let at = afterSpace(bytes, from + 1);
  while (bytes[at] === QUOTE) {
    const end = afterString(bytes, at);
    const colon = afterSpace(bytes, end);
    if (end === -1 || bytes[colon] !== COLON) return -1;
    const name = nameIn(bytes.toString('utf8', at, end));
    if (name === undefined) return -1;
    const start = afterSpace(bytes, colon + 1);
    const stop = afterMember(name, start);
    if (stop <= start) return -1;
    at = afterSpace(bytes, stop);
    if (bytes[at] !== COMMA) break;
    at = afterSpace(bytes, at + 1);
    if (bytes[at] !== QUOTE) return -1;
  }
  return bytes[at] === CLOSE ? at + 1 : -1;
}

const isEnd = (bytes: Buffer, at: number): boolean => at !== -1 && afterSpace(bytes, at) === bytes.length;

/** A record has twenty. Each takes 100 bytes, also where it stands on six. */
const MAX_MEMBERS = 1_000;

/** Reads the members of an object into a list. @returns where the object has ended, or -1 */
function collectMembers(bytes: Buffer, from: number, members: Member[], stops: { left: number }): number {
  return afterObject(bytes, from, (name, start) => {
    if (members.length === MAX_MEMBERS) return -1;
    const stop = afterValue(bytes, start, stops);
    members.push({ name, start, stop });
    return stop;
  });
}

/** @returns undefined for anything that is not plainly an object: a parser may know better */
export function objectMembers(bytes: Buffer): Member[] | undefined {
  const members: Member[] = [];
  const end = collectMembers(bytes, afterSpace(bytes, 0), members, { left: MAX_STOPS });
  return isEnd(bytes, end) ? members : undefined;
}

/** A member whose value is an object, with the members of that. */
export interface NestedMember extends Member {
  readonly members: readonly Member[];
}

/** The same of an object whose members are objects, each with its own members. */
export function nestedMembers(bytes: Buffer): NestedMember[] | undefined {
  const all: NestedMember[] = [];
  const stops = { left: MAX_STOPS };
  const end = afterObject(bytes, afterSpace(bytes, 0), (name, start) => {
    const members: Member[] = [];
    const stop = collectMembers(bytes, start, members, stops);
    all.push({ name, start, stop, members });
    return stop;
  });
  return isEnd(bytes, end) ? all : undefined;
}
