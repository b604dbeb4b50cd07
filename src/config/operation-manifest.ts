// The list of operations that an operator allows, as Apollo's tools write it or as a map.
import * as z from 'zod';

const jsonObject = z.record(z.string(), z.unknown());
const listedOperations = z.array(z.object({ id: z.string(), body: z.string() }));

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
  const { data: fields } = jsonObject.safeParse(parsed);
  if (fields === undefined) return { problem: 'must hold a JSON object' };
  const { format, version, operations } = fields;
  if (format === undefined) {
    const wrong = Object.entries(fields).find(([, document]) => typeof document !== 'string');
    if (wrong !== undefined) return { problem: `must map ids to documents; ${wrong[0]} is not text` };
    return { operations: new Map(Object.entries(fields).map(([id, document]) => [id, String(document)])) };
  }
  if (format !== 'apollo-persisted-query-manifest' || version !== 1 || !Array.isArray(operations))
    return {
      problem: 'must be an apollo-persisted-query-manifest of version 1, or a map of ids to documents',
    };
  const { data: listed } = listedOperations.safeParse(operations);
  if (listed === undefined) return { problem: 'holds an operation without an id or a body' };
  return { operations: new Map(listed.map(({ id, body }) => [id, body])) };
}
