// Names that a deployment uses instead of those of the contract, as rules applied to an answer
// before it is read and to a request before it is sent.

/** One name that differs. */
export interface Rule {
  /**
   * The object with the key: the contract's keys, `[]` for members of a list, `*` for those of a
   * map.
   */
  readonly parents: readonly string[];
  /** The name of the contract. */
  readonly wire: string;
  /** The name that the deployment uses. */
  readonly seen: string;
}

/** The rules of one operation, or of one file within its answer. */
export interface Renames {
  readonly answer: readonly Rule[];
  readonly request: readonly Rule[];
}

/** All rules, by operation. */
export type WireMapping = Readonly<Record<string, Renames>>;

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects at a place of a value. */
function objectsAt(value: unknown, parents: readonly string[]): Fields[] {
  const [step, ...rest] = parents;
  if (step === undefined) return isFields(value) ? [value] : [];
  if (step === '[]') return Array.isArray(value) ? value.flatMap((item) => objectsAt(item, rest)) : [];
  if (!isFields(value)) return [];
  if (step === '*') return Object.values(value).flatMap((item) => objectsAt(item, rest));
  return Object.hasOwn(value, step) ? objectsAt(value[step], rest) : [];
}

function move(fields: Fields, from: string, to: string): void {
  if (!Object.hasOwn(fields, from) || Object.hasOwn(fields, to)) return;
  const value = fields[from];
  delete fields[from];
  // Not an assignment: a key such as __proto__ stays a key.
  Object.defineProperty(fields, to, { value, enumerable: true, configurable: true, writable: true });
}

const rulesOf = (mapping: WireMapping | undefined, name: string): Renames | undefined =>
  mapping !== undefined && Object.hasOwn(mapping, name) ? mapping[name] : undefined;

/** Renames an answer's keys to those of the contract, in place. */
export function fromWire<T>(mapping: WireMapping | undefined, name: string, value: T): T {
  // Rules stand outermost first, so that the parents of the next have the contract's names already.
  for (const { parents, wire, seen } of rulesOf(mapping, name)?.answer ?? []) {
    for (const fields of objectsAt(value, parents)) move(fields, seen, wire);
  }
  return value;
}

/** Brings a request to the deployment's names; the request that is given stays as it is. */
export function toWire<T>(mapping: WireMapping | undefined, name: string, value: T): T {
  const rules = rulesOf(mapping, name)?.request ?? [];
  if (rules.length === 0 || !isFields(value)) return value;
  const copy = structuredClone(value);
  for (const { parents, wire, seen } of rules.toReversed()) {
    for (const fields of objectsAt(copy, parents)) move(fields, wire, seen);
  }
  return copy;
}

/** The deployment's names of certain keys, for readers that scan keys before parsing. */
export function namesSeen(
  mapping: WireMapping | undefined,
  name: string,
  wire: ReadonlySet<string>,
): ReadonlySet<string> {
  const rules = rulesOf(mapping, name)?.answer.filter((rule) => wire.has(rule.wire)) ?? [];
  return rules.length === 0 ? wire : new Set([...wire, ...rules.map(({ seen }) => seen)]);
}

/** The contract's name of what the deployment calls `seen`, such as a file of the archive. */
export const wireName = (mapping: WireMapping | undefined, name: string, seen: string): string =>
  rulesOf(mapping, name)?.answer.find((rule) => rule.seen === seen)?.wire ?? seen;

const written = ({ parents, wire }: Rule, prefix: string): string =>
  prefix +
  [...parents, wire].reduce(
    (path, step) => (step === '[]' ? `${path}[]` : path === '' ? step : `${path}.${step}`),
    '',
  );

/** The rules as a mapping file says them: operation, path, name seen. */
export const writtenMapping = (mapping: WireMapping = {}): Record<string, Record<string, string>> =>
  Object.fromEntries(
    Object.entries(mapping).map(([name, { answer, request }]) => [
      name,
      Object.fromEntries([
        ...answer.map((rule) => [written(rule, ''), rule.seen]),
        ...request.map((rule) => [written(rule, 'request.'), rule.seen]),
      ]),
    ]),
  );
