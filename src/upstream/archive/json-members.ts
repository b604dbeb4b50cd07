// The members of one large JSON object, each as the bytes of its value, without ever holding the whole object. It
// looks only at what divides JSON (strings, brackets, commas) and leaves the values to a parser.

import {
  afterSpace,
  afterString,
  BACKSLASH,
  OPEN as BRACE,
  BRACKET_BIT,
  CLOSE as CLOSING,
  COLON,
  COMMA,
  nextStop,
  QUOTE,
  stopsAt,
} from '../json-scan.ts';
import { type AfterValue, valuesIn } from '../json-vector.ts';

const NULL = Buffer.from('null');

/** Where the value of a member's own member stands in the member's value. */
interface JsonPart {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** One member of the outermost object. */
export interface JsonMember {
  readonly key: string;
  /** The value as it stands, JSON. */
  readonly value: Buffer;
  /** The value's own members where it is an object. */
  readonly parts: readonly JsonPart[];
}

/** A member's value as text, with `null` in place of those of its parts that are not wanted. */
export function textWithout({ value, parts }: JsonMember, unwanted: ReadonlySet<string>): string {
  let text = '';
  let from = 0;
  for (const { key, start, end } of parts) {
    if (!unwanted.has(key)) continue;
    text += `${value.toString('utf8', from, start)}null`;
    from = end;
  }
  return text + value.toString('utf8', from);
}

const IN_STRING = stopsAt('"\\');
const OUTSIDE = stopsAt('"[]{}:,');
/** Below the members' own members, commas and colons divide nothing that is looked at. */
const DEEP = stopsAt('"[]{}');

/** The object ends too early, or is none. */
export class JsonMembersError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonMembersError';
  }
}

const keyOf = (bytes: Buffer): string => {
  try {
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof parsed === 'string') return parsed;
  } catch {
    // Said below.
  }
  throw new JsonMembersError('A key is no JSON string.');
};

/** What a key may be made of for its bytes to be its text. */
const PLAIN_KEY = /^[\w ()-]*$/;

/** A key that is plainly one, with the place behind its colon; undefined for what is to be looked at more closely. */
function plainKey(bytes: Buffer, from: number): { readonly key: string; readonly end: number } | undefined {
  if (bytes[from] !== QUOTE) return undefined;
  const end = afterString(bytes, from);
  const colon = end === -1 ? -1 : afterSpace(bytes, end);
  if (bytes[colon] !== COLON) return undefined;
  const key = bytes.toString('latin1', from + 1, end - 1);
  return PLAIN_KEY.test(key) ? { key, end: afterSpace(bytes, colon + 1) } : undefined;
}

/**
 * A member that is an object and all here, as nearly all are, with the place behind it: a quarter of the work of looking at each byte for where
 * a piece may end. Undefined for any other.
 */
function wholeMember(
  bytes: Buffer,
  from: number,
  after: AfterValue,
): { readonly member: JsonMember; readonly end: number } | undefined {
  const own = plainKey(bytes, afterSpace(bytes, from));
  if (own === undefined || bytes[own.end] !== BRACE) return undefined;
  const parts: JsonPart[] = [];
  let at = afterSpace(bytes, own.end + 1);
  while (bytes[at] !== CLOSING) {
    const inner = plainKey(bytes, at);
    const end = inner === undefined ? -1 : after(inner.end);
    if (inner === undefined || end <= inner.end) return undefined;
    parts.push({ key: inner.key, start: inner.end - own.end, end: end - own.end });
    at = afterSpace(bytes, end);
    if (bytes[at] === CLOSING) break;
    if (bytes[at] !== COMMA) return undefined;
    at = afterSpace(bytes, at + 1);
    if (bytes[at] !== QUOTE) return undefined;
  }
  const end = afterSpace(bytes, at + 1);
  if (bytes[end] !== COMMA && bytes[end] !== CLOSING) return undefined;
  return { member: { key: own.key, value: bytes.subarray(own.end, at + 1), parts }, end };
}

/** Is given members that have come to their end. */
type UseMembers = (members: readonly JsonMember[]) => void;

type Walk = ReturnType<typeof openWalk>;

/** Goes over the next bytes. @returns the members that end in them, and what is wrong behind these */
function walkOn(
  walk: Walk,
  bytes: Uint8Array,
): { readonly members: JsonMember[]; readonly failure: unknown } {
  const members: JsonMember[] = [];
  try {
    walk.take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), members);
    return { members, failure: undefined };
  } catch (failure) {
    return { members, failure };
  }
}

/**
 * Walks the object as its bytes arrive. Yields those members that have come to their end, together: hundreds in one piece, each of which
 * would be a handful of promises by itself.
 *
 * @param drop - keys of the members' own members that are not wanted: where they go on beyond a piece they are never held, and `null`
 *   stands in their place
 * @param most - bytes that one value may have
 * @throws JsonMembersError
 */
export async function* jsonMembers(
  chunks: AsyncIterable<Uint8Array>,
  drop: ReadonlySet<string>,
  most: number,
): AsyncGenerator<readonly JsonMember[]> {
  const walk = openWalk(drop, most);
  for await (const chunk of chunks) {
    const { members, failure } = walkOn(walk, chunk);
    // What stood before the failure is whole.
    if (members.length > 0) yield members;
    if (failure !== undefined) throw failure;
  }
  walk.end();
}

/** The same where all bytes are here. @param use - done with the members when it returns */
export function eachJsonMember(
  bytes: Uint8Array,
  drop: ReadonlySet<string>,
  most: number,
  use: UseMembers,
): void {
  const walk = openWalk(drop, most);
  const { members, failure } = walkOn(walk, bytes);
  if (members.length > 0) use(members);
  if (failure !== undefined) throw failure;
  walk.end();
}

function openWalk(drop: ReadonlySet<string>, most: number) {
  let depth = 0;
  let inString = false;
  let escaped = false;
  let ended = false;
  let key = '';
  /** Bytes of the key or value that is being read at depth 1, and of the key at depth 2. */
  let held: Buffer[] = [];
  let heldLength = 0;
  let inner: Buffer[] = [];
  let inValue = false;
  let innerObject = false;
  let innerKey = false;
  let dropping = false;
  let parts: JsonPart[] = [];
  /** The part whose value is being read: its key and where it begins. */
  let part = { key: '', start: 0 };
  const take = () => {
    const all = Buffer.concat(held);
    held = [];
    heldLength = 0;
    return all;
  };
  const takeMember = (): JsonMember => {
    const member = { key, value: take(), parts };
    parts = [];
    return member;
  };
  const walkOver = (bytes: Buffer, members: JsonMember[]): void => {
    let from = 0;
    const after = valuesIn(bytes);
    const keep = (to: number) => {
      if (to > from && depth > 0 && !dropping) {
        const piece = bytes.subarray(from, to);
        heldLength += piece.length;
        if (heldLength > most) throw new JsonMembersError(`A member is longer than ${most} bytes.`);
        held.push(piece);
        if (depth === 2 && innerKey) inner.push(piece);
      }
      from = to;
    };
    for (let at = 0; at < bytes.length; at++) {
      if (escaped) {
        escaped = false;
        continue;
      }
      if (at === from && depth === 1 && !inValue && !inString && heldLength === 0) {
        const whole = wholeMember(bytes, at, after);
        if (whole !== undefined && whole.member.value.length <= most) {
          members.push(whole.member);
          from = whole.end + 1;
          at = whole.end;
          if (bytes[at] === COMMA) continue;
          depth = 0;
          ended = true;
          continue;
        }
      }
      at = nextStop(bytes, at, inString ? IN_STRING : depth > 2 ? DEEP : OUTSIDE);
      const byte = bytes[at] ?? 0;
      if (inString) {
        if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      if (byte === QUOTE) inString = true;
      else if ((byte | BRACKET_BIT) === BRACE) {
        if (depth === 0) from = at + 1;
        else if (depth === 1) keep(at);
        depth += 1;
        if (depth === 1 && (byte !== BRACE || ended)) throw new JsonMembersError('This is no JSON object.');
        if (depth === 2) {
          keep(at + 1);
          inner = [];
          innerObject = byte === BRACE;
          innerKey = innerObject;
        }
      } else if ((byte | BRACKET_BIT) === CLOSING) {
        if (depth <= 2) keep(at);
        if (depth === 2) {
          dropping = false;
          if (innerObject && !innerKey) parts.push({ ...part, end: heldLength });
        }
        depth -= 1;
        if (depth === 0) {
          if (inValue) members.push(takeMember());
          inValue = false;
          ended = true;
        }
      } else if (byte === COLON && depth === 1 && !inValue) {
        keep(at);
        from = at + 1;
        key = keyOf(take());
        inValue = true;
      } else if (byte === COLON && depth === 2 && innerKey) {
        keep(at + 1);
        innerKey = false;
        part = { key: keyOf(Buffer.concat(inner).subarray(0, -1)), start: heldLength };
        if (drop.has(part.key)) {
          held.push(NULL);
          heldLength += NULL.length;
          dropping = true;
        }
      } else if (byte === COMMA && depth === 1) {
        keep(at);
        from = at + 1;
        members.push(takeMember());
        inValue = false;
      } else if (byte === COMMA && depth === 2 && innerObject && !innerKey) {
        keep(at);
        parts.push({ ...part, end: heldLength });
        dropping = false;
        keep(at + 1);
        inner = [];
        innerKey = true;
      }
    }
    keep(bytes.length);
  };
  return {
    take: walkOver,
    end() {
      if (!ended) throw new JsonMembersError('The JSON object ends too early.');
    },
  };
}
