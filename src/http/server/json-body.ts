// Parses JSON of clients within bounds, so that no reader behind it needs a guard of its own.
import { isUtf8 } from 'node:buffer';
import {
  findExcess,
  type JsonBounds,
  type JsonCounts,
  type JsonExcess,
} from '../../upstream/json/json-bounds.ts';
import { httpError } from '../failures/errors.ts';

/**
 * The longest list that an operation takes has 50,000 hashes. No object of the schema has more than
 * 20 names, the longest of which has 26 letters, and a document can use some 1,000 variables. The
 * largest submissions are 2000 items of some 100 parts, and distograms of 2,100 residues.
 */
export const CLIENT_BOUNDS: JsonBounds = {
  depth: 100,
  names: 1000,
  nameBytes: 200,
  items: 100_000,
  allItems: 4_500_000,
  parts: 500_000,
};

/** Why JSON is refused, where in it, and what to do, as one sentence. */
export function excessText({ bound, path }: JsonExcess, bounds: JsonBounds): string {
  const max = bounds[bound];
  const place = path === '' ? '' : ` at \`${path}\``;
  if (bound === 'depth') return `objects and lists more than ${max} deep inside each other${place}`;
  if (bound === 'names') return `an object with more than ${max} names${place}; no operation reads so many`;
  if (bound === 'nameBytes') return `a name of more than ${max} bytes${place}; no operation reads it`;
  if (bound === 'items') return `a list with more than ${max} members${place}; send several requests`;
  if (bound === 'allItems') return `more than ${max} members of lists in all; send several requests`;
  return `more than ${max} objects, lists and names; send several requests`;
}

/**
 * Decodes text of a client.
 *
 * @param what - begins the message of an error, such as "The body"
 * @throws GraphQLError (400) that names the encoding
 */
export function readUtf8(bytes: Uint8Array, what: string): string {
  if (bytes.includes(0))
    throw httpError(
      400,
      `${what} is not UTF-8 text, but UTF-16 or a file of a program, such as a spreadsheet. Save it as UTF-8.`,
    );
  if (!isUtf8(bytes))
    throw httpError(
      400,
      `${what} is not UTF-8, but perhaps Latin-1 (ISO 8859-1, Windows-1252). Save or send it as UTF-8.`,
    );
  return utf8.decode(bytes);
}

const utf8 = new TextDecoder();

/**
 * Parses JSON of a client.
 *
 * @param what - begins the message of an error, such as "The body"
 * @param counts - the counts of earlier texts that share the bounds
 * @throws GraphQLError (400) for what is no JSON in UTF-8, or exceeds the bounds
 */
export function parseClientJson(
  json: string | Uint8Array,
  what: string,
  bounds: JsonBounds = CLIENT_BOUNDS,
  counts?: JsonCounts,
): unknown {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  const text = readUtf8(bytes, what);
  const excess = findExcess(bytes, bounds, counts);
  if (excess !== null) throw httpError(400, `${what} has ${excessText(excess, bounds)}.`);
  try {
    return JSON.parse(text);
  } catch {
    throw httpError(400, `${what} is not valid JSON.`);
  }
}
