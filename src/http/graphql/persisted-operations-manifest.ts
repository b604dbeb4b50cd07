// Parses a list of persisted operations: Apollo's manifest format, or a map of ids to documents as
// Relay's compiler and our script write it.
import { isObject } from './read-params.ts';

export type ManifestReading =
  | { readonly operations: ReadonlyMap<string, string> }
  | { readonly problem: string };

/** An operation of Apollo's format; undefined when it is none. */
function entryOf(value: unknown): [string, string] | undefined {
  if (!isObject(value)) return undefined;
  const { id, body } = value;
  return typeof id === 'string' && typeof body === 'string' ? [id, body] : undefined;
}

/**
 * @param text - `{ "format": "apollo-persisted-query-manifest", "version": 1, "operations": [{
 *   "id", "body" }] }` or `{ id: document }`
 * @returns documents by id, or a sentence that names the problem
 */
export function readManifest(text: string): ManifestReading {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { problem: 'is not valid JSON' };
  }
  if (!isObject(parsed)) return { problem: 'must hold a JSON object' };
  const { format, version, operations } = parsed;
  if (format === undefined) {
    const wrong = Object.entries(parsed).find(([, document]) => typeof document !== 'string');
    if (wrong !== undefined) return { problem: `must map ids to documents; ${wrong[0]} is not text` };
    return { operations: new Map(Object.entries(parsed).map(([id, document]) => [id, String(document)])) };
  }
  if (format !== 'apollo-persisted-query-manifest' || version !== 1 || !Array.isArray(operations))
    return {
      problem: 'must be an apollo-persisted-query-manifest of version 1, or a map of ids to documents',
    };
  const entries = operations.map(entryOf);
  const known = entries.filter((entry) => entry !== undefined);
  if (known.length < entries.length) return { problem: 'holds an operation without an id or a body' };
  return { operations: new Map(known) };
}
