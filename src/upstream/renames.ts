// Names that a deployment uses instead of those of the contract (WIRE_MAPPING_FILE), applied to
// answers before they are read and to requests before they are sent.

/** Per operation, or file within its answer: paths of the contract, outermost first, to the names seen. */
export type WireMapping = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What paths within requests begin with. */
export const REQUEST = 'request.';

type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** All values at a path: keys with dots, `[]` for members of a list, `*` for those of a map. */
export function valuesAt(value: unknown, path: string): unknown[] {
  const steps = path === '' ? [] : path.replaceAll('[]', '.[]').split('.').filter(Boolean);
  return steps.reduce<unknown[]>(
    (values, step) =>
      values.flatMap((one) => {
        if (step === '[]') return Array.isArray(one) ? one : [];
        if (!isFields(one)) return [];
        if (step === '*') return Object.values(one);
        return Object.hasOwn(one, step) ? [one[step]] : [];
      }),
    [value],
  );
}

/** Renames a key of every object at a place. */
function renameAt(value: unknown, place: string, from: string, to: string): void {
  for (const fields of valuesAt(value, place)) {
    if (!isFields(fields) || !Object.hasOwn(fields, from) || Object.hasOwn(fields, to)) continue;
    const moved = fields[from];
    delete fields[from];
    // Not an assignment: a key such as __proto__ stays a key.
    Object.defineProperty(fields, to, { value: moved, enumerable: true, configurable: true, writable: true });
  }
}

/** The renames of an answer or of its request: place of the object, key of the contract, name seen. */
const renamesOf = (mapping: WireMapping | undefined, name: string, isRequest = false) =>
  Object.entries(mapping?.[name] ?? {}).flatMap(([path, seen]) => {
    if (path.startsWith(REQUEST) !== isRequest) return [];
    const below = isRequest ? path.slice(REQUEST.length) : path;
    const dot = below.lastIndexOf('.');
    return [{ place: below.slice(0, Math.max(dot, 0)), wire: below.slice(dot + 1), seen }];
  });

/** Renames an answer's keys to those of the contract, in place. */
export function fromWire<T>(mapping: WireMapping | undefined, name: string, value: T): T {
  // The parents of an inner key have the contract's names already.
  for (const { place, wire, seen } of renamesOf(mapping, name)) renameAt(value, place, seen, wire);
  return value;
}

/** Brings a request to the deployment's names; the request that is given stays as it is. */
export function toWire<T>(mapping: WireMapping | undefined, name: string, value: T): T {
  const renames = renamesOf(mapping, name, true);
  if (renames.length === 0 || !isFields(value)) return value;
  const copy = structuredClone(value);
  for (const { place, wire, seen } of renames.toReversed()) renameAt(copy, place, wire, seen);
  return copy;
}

/** The deployment's names of certain keys, for readers that scan keys before parsing. */
export const namesSeen = (
  mapping: WireMapping | undefined,
  name: string,
  keys: ReadonlySet<string>,
): ReadonlySet<string> =>
  new Set([...keys, ...renamesOf(mapping, name).flatMap(({ wire, seen }) => (keys.has(wire) ? [seen] : []))]);

/** The contract's name of a file of the bulk archive. */
export const archiveName = (mapping: WireMapping | undefined, seen: string): string =>
  Object.entries(mapping?.archive ?? {}).find(([, name]) => name === seen)?.[0] ?? seen;
