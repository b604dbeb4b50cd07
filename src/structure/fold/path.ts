// A part of a JSON value by a dotted path. It looks at own members only, so that no path leads into the language's own objects.

/**
 * @param path - such as `complex.metadata.chain_lookup.0`; list positions are numbers from 0; undefined or empty is the whole
 * @returns null where nothing is at that path
 */
export function getAtPath(value: unknown, path: string | undefined): unknown {
  if (path === undefined || path === '') return value;
  let here = value;
  for (const key of path.split('.')) {
    if (typeof here !== 'object' || here === null) return null;
    if (Array.isArray(here) ? !/^\d+$/.test(key) : !Object.hasOwn(here, key)) return null;
    here = (here as Readonly<Record<string, unknown>>)[key];
  }
  return here ?? null;
}
