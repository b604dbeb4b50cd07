// The members of one large JSON object, each as the bytes of its value, without holding the whole
// object. It scans the structure only.

import {
  BACKSLASH,
  BRACKET_BIT,
  CLOSE,
  COLON,
  COMMA,
  nextStop,
  OPEN,
  QUOTE,
  stopsAt,
} from '../json/json-scan.ts';
import { JsonError } from '../json/lenient-json.ts';

/** One member of the outermost object. */
export interface JsonMember {
  readonly key: string;
  /** The value as it stands, JSON. */
  readonly value: Buffer;
}

const IN_STRING = stopsAt('"\\');
const OUTSIDE = stopsAt('"[]{}:,');
/** Within a value, commas and colons divide nothing that is looked at. */
const DEEP = stopsAt('"[]{}');

const keyOf = (bytes: Buffer): string => {
  try {
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof parsed === 'string') return parsed;
  } catch {
    // Said below.
  }
  throw new JsonError('A key is not a JSON string.');
};

/**
 * Scans the object as its bytes arrive. Yields all members that end in a chunk together, to save
 * promises.
 *
 * @param most - maximum bytes of a value
 * @throws JsonError
 */
export async function* jsonMembers(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  most: number,
): AsyncGenerator<readonly JsonMember[]> {
  const walk = openWalk(most);
  for await (const chunk of chunks) {
    const members: JsonMember[] = [];
    try {
      walk.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), members);
    } catch (failure) {
      // What stood before the failure is whole.
      if (members.length > 0) yield members;
      throw failure;
    }
    if (members.length > 0) yield members;
  }
  walk.end();
}

function openWalk(most: number) {
  let depth = 0;
  let inString = false;
  let escaped = false;
  let ended = false;
  let key = '';
  /** Bytes of the key or value that is being read. */
  let held: Buffer[] = [];
  let heldLength = 0;
  let inValue = false;
  const take = () => {
    const all = Buffer.concat(held);
    held = [];
    heldLength = 0;
    return all;
  };
  const walkOver = (bytes: Buffer, members: JsonMember[]): void => {
    let from = 0;
    /** Holds what stands before this place; the byte there divides and is left out. */
    const keep = (to: number) => {
      if (to > from) {
        heldLength += to - from;
        if (heldLength > most) throw new JsonError(`A member is longer than ${most} bytes.`);
        held.push(bytes.subarray(from, to));
      }
      from = to + 1;
    };
    const endMember = (at: number) => {
      keep(at);
      if (inValue) members.push({ key, value: take() });
      inValue = false;
    };
    for (let at = 0; at < bytes.length; at++) {
      if (escaped) {
        escaped = false;
        continue;
      }
      at = nextStop(bytes, at, inString ? IN_STRING : depth > 1 ? DEEP : OUTSIDE);
      const byte = bytes[at] ?? 0;
      if (inString) {
        escaped = byte === BACKSLASH;
        if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if ((byte | BRACKET_BIT) === OPEN) {
        if (depth === 0) {
          if (byte !== OPEN || ended) throw new JsonError('This is not a JSON object.');
          from = at + 1;
        }
        depth += 1;
      } else if ((byte | BRACKET_BIT) === CLOSE) {
        depth -= 1;
        if (depth !== 0) continue;
        endMember(at);
        ended = true;
      } else if (depth === 1 && byte === COMMA) endMember(at);
      else if (depth === 1 && byte === COLON && !inValue) {
        keep(at);
        key = keyOf(take());
        inValue = true;
      }
    }
    if (depth > 0) keep(bytes.length);
  };
  return {
    take: walkOver,
    end() {
      if (!ended) throw new JsonError('The JSON object ends too early.');
    },
  };
}
