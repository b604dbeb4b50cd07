// Reads `cluster_info.json` record by record. As one text a parser would make an object with a key for each protein of it, and no key comes
// twice: each is written into tables that V8 keeps until a full collection, and each makes it a new kind of object, which takes longer
// than all else that is in there. It knows nothing of what the records say.
import { afterSpace, afterString, CLOSE, COLON, COMMA, OPEN, QUOTE } from '../json-scan.ts';
import { valuesIn } from '../json-vector.ts';
import { JsonError, parseLenient } from '../lenient-json.ts';

/** The members of an object. Of two with one name the later counts. */
type Members = Map<string, unknown>;

/** What the file says. */
export interface ClusterMembers {
  /** By representative. */
  readonly clusters: ReadonlyMap<string, unknown>;
  /** The representative of each protein. */
  readonly proteins: ReadonlyMap<string, unknown>;
}

/** What a text may be made of for its bytes to be its characters. */
const PLAIN = /^[\w -]*$/;

/** A plain string that begins at `from`, and where it has ended. */
function plainString(
  bytes: Buffer,
  from: number,
): { readonly text: string; readonly end: number } | undefined {
  const end = bytes[from] === QUOTE ? afterString(bytes, from) : -1;
  const text = end === -1 ? '"' : bytes.toString('latin1', from + 1, end - 1);
  return PLAIN.test(text) ? { text, end } : undefined;
}

/** @returns where the value that begins at `from` has ended; undefined where it is not plainly one */
type ReadValue = (key: string, from: number) => number | undefined;

/** Goes through an object that begins at `from`. @returns where it has ended; undefined where it is not plainly one */
function readObject(bytes: Buffer, from: number, read: ReadValue): number | undefined {
  if (bytes[from] !== OPEN) return undefined;
  let at = afterSpace(bytes, from + 1);
  if (bytes[at] === CLOSE) return at + 1;
  for (;;) {
    const key = plainString(bytes, at);
    const colon = key === undefined ? -1 : afterSpace(bytes, key.end);
    if (key === undefined || bytes[colon] !== COLON) return undefined;
    const end = read(key.text, afterSpace(bytes, colon + 1));
    if (end === undefined) return undefined;
    at = afterSpace(bytes, end);
    if (bytes[at] === CLOSE) return at + 1;
    if (bytes[at] !== COMMA) return undefined;
    at = afterSpace(bytes, at + 1);
  }
}

/** @throws JsonError for a record that is no JSON */
function readMembers(bytes: Buffer): ClusterMembers | undefined {
  const found = new Map<string, Members>();
  const after = valuesIn(bytes);
  const readInto =
    (members: Members): ReadValue =>
    (key, from) => {
      const text = plainString(bytes, from);
      const end = text?.end ?? after(from);
      if (end <= from) return undefined;
      members.set(key, text?.text ?? parseLenient(bytes.toString('utf8', from, end)));
      return end;
    };
  const end = readObject(bytes, afterSpace(bytes, 0), (name, from) => {
    const members: Members = new Map();
    if (found.has(name)) return undefined;
    found.set(name, members);
    return readObject(bytes, from, readInto(members));
  });
  if (end === undefined || afterSpace(bytes, end) !== bytes.length) return undefined;
  const [clusters, proteins] = [found.get('clusters'), found.get('proteins')];
  return found.size === 2 && clusters !== undefined && proteins !== undefined
    ? { clusters, proteins }
    : undefined;
}

/**
 * Reads the two members that are known, each there once, and no others.
 *
 * @returns undefined for anything else: whoever parses the whole knows better, or can say where it is wrong
 */
export function clusterMembers(bytes: Buffer): ClusterMembers | undefined {
  try {
    return readMembers(bytes);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
