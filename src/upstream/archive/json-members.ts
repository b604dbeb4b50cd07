// The members of one large JSON object, each as the bytes of its value, without holding the whole
// object. It scans the structure only.

import {
  BACKSLASH,
  OPEN as BRACE,
  BRACKET_BIT,
  CLOSE as CLOSING,
  COLON,
  COMMA,
  nextStop,
  QUOTE,
  stopsAt,
} from '../json/json-scan.ts';

const NULL = Buffer.from('null');

/** One member of the outermost object. */
export interface JsonMember {
  readonly key: string;
  /** The value as it stands, JSON. */
  readonly value: Buffer;
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

type Walk = ReturnType<typeof openWalk>;

/** Scans the next bytes. @returns the members that end in them, and any error after these */
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
 * Scans the object as its bytes arrive. Yields all members that end in a chunk together, to save
 * promises.
 *
 * @param drop - keys of members' own members to drop: values longer than a chunk are not held and
 *   become `null`
 * @param most - maximum bytes of a value
 * @throws JsonMembersError
 */
export async function* jsonMembers(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
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
  const take = () => {
    const all = Buffer.concat(held);
    held = [];
    heldLength = 0;
    return all;
  };
  const takeMember = (): JsonMember => ({ key, value: take() });
  const walkOver = (bytes: Buffer, members: JsonMember[]): void => {
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
        if (depth === 2) dropping = false;
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
        if (drop.has(keyOf(Buffer.concat(inner).subarray(0, -1)))) {
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
