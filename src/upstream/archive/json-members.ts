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

/** One member of the outermost object. */
export interface JsonMember {
  readonly key: string;
  /** The value as it stands, JSON. */
  readonly value: Buffer;
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
  const take = () => {
    const all = Buffer.concat(held);
    held = [];
    heldLength = 0;
    return all;
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
      const byte = bytes[at] ?? 0;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      if (byte === QUOTE) inString = true;
      else if ((byte | BRACKET_BIT) === BRACE) {
        if (depth === 0) from = at + 1;
        else keep(at);
        depth += 1;
        if (depth === 1 && (byte !== BRACE || ended)) throw new JsonMembersError('This is no JSON object.');
        if (depth === 2) {
          keep(at + 1);
          inner = [];
          innerObject = byte === BRACE;
          innerKey = innerObject;
        }
      } else if ((byte | BRACKET_BIT) === CLOSING) {
        keep(at);
        if (depth === 2) dropping = false;
        depth -= 1;
        if (depth === 0) {
          if (inValue) yield { key, value: take() };
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
        if (drop.size > 0 && drop.has(keyOf(Buffer.concat(inner).subarray(0, -1)))) {
          held.push(NULL);
          dropping = true;
        }
      } else if (byte === COMMA && depth === 1) {
        keep(at);
        from = at + 1;
        yield { key, value: take() };
        inValue = false;
      } else if (byte === COMMA && depth === 2 && innerObject && !innerKey) {
        keep(at);
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
