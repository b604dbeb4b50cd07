// The list of operations that an operator allows, as Apollo's tools write it or as a map.
import { isFields } from '../../upstream/json/is-fields.ts';

export type ManifestReading =
  | { readonly operations: ReadonlyMap<string, string> }
  | { readonly problem: string };

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
  if (!isFields(parsed)) return { problem: 'must hold a JSON object' };
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
  const known = new Map<string, string>();
  for (const operation of operations) {
    const { id, body } = isFields(operation) ? operation : {};
    if (typeof id !== 'string' || typeof body !== 'string')
      return { problem: 'holds an operation without an id or a body' };
    known.set(id, body);
  }
  return { operations: known };
}
