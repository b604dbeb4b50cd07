// The members of one large JSON object, each as the bytes of its value, without ever holding the whole object. It
// looks only at what divides JSON (strings, brackets, commas) and leaves the values to a parser.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACE = 0x7b;
/** With this bit set, both opening brackets are `{` and both closing ones `}`. */
const BRACKET_BIT = 0x20;
const CLOSING = 0x7d;
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

/** A member's value with `null` in place of those of its parts that are not wanted. */
export function withoutParts({ value, parts }: JsonMember, unwanted: ReadonlySet<string>): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { key, start, end } of parts) {
    if (!unwanted.has(key)) continue;
    pieces.push(value.subarray(from, start), NULL);
    from = end;
  }
  return from === 0 ? value : Buffer.concat([...pieces, value.subarray(from)]);
}

/** A table of the bytes that {@link nextStop} stops at. */
export const stopsAt = (signs: string): Uint8Array => {
  const stops = new Uint8Array(256);
  for (const sign of signs) stops[sign.charCodeAt(0)] = 1;
  return stops;
};
const IN_STRING = stopsAt('"\\');
const OUTSIDE = stopsAt('"[]{}:,');
/** Below the members' own members, commas and colons divide nothing that is looked at. */
const DEEP = stopsAt('"[]{}');

/** The next byte that means something, looked for four at a time: nearly all of an archive's features are numbers. */
export function nextStop(bytes: Uint8Array, from: number, stops: Uint8Array): number {
  const stop = (at: number): number => stops[bytes[at] ?? 0] ?? 0;
  let at = from;
  while (at + 3 < bytes.length && stop(at) + stop(at + 1) + stop(at + 2) + stop(at + 3) === 0) at += 4;
  while (at < bytes.length && stop(at) === 0) at += 1;
  return at;
}

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

/**
 * Walks the object as its bytes arrive.
 *
 * @param drop - keys of the members' own members that are not wanted: their values are replaced by `null` and never held
 * @param most - bytes that one value may have
 * @throws JsonMembersError
 */
export async function* jsonMembers(
  chunks: AsyncIterable<Uint8Array>,
  drop: ReadonlySet<string>,
  most: number,
): AsyncGenerator<JsonMember> {
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
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
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
          if (inValue) yield takeMember();
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
        yield takeMember();
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
  }
  if (!ended) throw new JsonMembersError('The JSON object ends too early.');
}
