// Language models write null for what they leave out, JSON in a text for lists, objects, numbers
// and booleans, and a lone value for a list of one. Messages and arguments are read here before
// anything else reads them, so that no tool needs a rule of its own.
import { type Fields, isFields } from '../../upstream/json/is-fields.ts';
import type { JsonCounts } from '../../upstream/json/json-bounds.ts';
import { CLIENT_BOUNDS, parseClientJson } from '../server/json-body.ts';

/** A copy without members that are null, however deep. Nulls in lists have a place, and stay. */
function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isFields(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([name, member]) => [name, dropNulls(member)]));
}

/** A mistake in the arguments of a tool. */
interface ArgumentMistake {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/** Arguments as the schema of a tool reads them, or the first text that holds no JSON. */
type ReadArguments = { readonly value: unknown } | { readonly issues: readonly [ArgumentMistake] };

/** The JSON Schemas of which a value has to meet one; none where any value will do. */
function listSchemas(schema: unknown): Fields[] {
  if (!isFields(schema)) return [];
  const branches = [schema.anyOf, schema.oneOf].filter((one) => Array.isArray(one)).flat();
  return branches.length === 0 ? [schema] : branches.flatMap(listSchemas);
}

/** JSON that is no list, object or text. */
const PRIMITIVE = /^\s*(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)\s*$/;

function hasType(value: unknown, type: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => hasType(value, one));
  if (type === undefined) return true;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isFields(value);
  return typeof value === (type === 'integer' ? 'number' : type);
}

/**
 * Reads the arguments of a tool by its JSON Schema, leniently. Where the schema lists names, null
 * is the same as left out. Where it wants no text, a text is read as JSON. Where it wants a list, a
 * lone value becomes one. All else stays, for the schema to refuse.
 */
export function readArguments(schema: unknown, given: unknown): ReadArguments {
  // All texts share one count: they may not hold more than a message may.
  const counts: JsonCounts = { parts: 0, allItems: 0 };
  const path: PropertyKey[] = [];
  const issues: ArgumentMistake[] = [];

  function readMember(schema: unknown, key: PropertyKey, value: unknown): unknown {
    path.push(key);
    const read = readValue(schema, value);
    path.pop();
    return read;
  }

  /** The JSON of a text, where it is of a type that is wanted; the text where it is not. */
  function readText(text: string, isWanted: (value: unknown) => boolean): unknown {
    if (text.trim() === '') return undefined;
    if (PRIMITIVE.test(text)) {
      const value: unknown = JSON.parse(text);
      return value === null ? undefined : isWanted(value) ? value : text;
    }
    const kind = /^\s*\[/.test(text) ? 'list' : /^\s*\{/.test(text) ? 'object' : null;
    // One mistake is told.
    if (kind === null || !isWanted(kind === 'list' ? [] : {}) || issues.length > 0) return text;
    try {
      return parseClientJson(text, `expected a JSON ${kind}, but the text`, CLIENT_BOUNDS, counts);
    } catch (error) {
      issues.push({ message: String(Object(error).message), path: [...path] });
      return text;
    }
  }

  function readValue(schema: unknown, given: unknown): unknown {
    const schemas = listSchemas(schema);
    const isWanted = (value: unknown): boolean =>
      schemas.length === 0 || schemas.some(({ type }) => hasType(value, type));
    const value = typeof given === 'string' && !isWanted(given) ? readText(given, isWanted) : given;
    if (value == null) return value;
    const list = schemas.find(({ type }) => hasType([], type));
    if (Array.isArray(value)) {
      // A list that is too long is refused as it is.
      const isTooLong = value.length > Number(list?.maxItems ?? Number.POSITIVE_INFINITY);
      return isTooLong ? value : value.map((one, i) => readMember(list?.items, i, one));
    }
    if (!isWanted(value) && list !== undefined) return [readMember(list.items, 0, value)];
    if (!isFields(value)) return value;
    const members = new Map(schemas.flatMap(({ properties }) => Object.entries(Object(properties))));
    if (members.size === 0) return value;
    const read = Object.entries(value).map(([name, member]) => [
      name,
      readMember(members.get(name), name, member),
    ]);
    return Object.fromEntries(read.filter(([, member]) => member != null));
  }

  const value = readValue(schema, given);
  const [first] = issues;
  return first === undefined ? { value } : { issues: [first] };
}

/**
 * A JSON-RPC message in which null is the same as left out, in `params` and all that it holds but
 * the arguments of a tool: `readArguments` reads these by the tool's schema.
 */
export function withoutNulls(message: unknown): unknown {
  if (!isFields(message)) return message;
  const { params, ...rest } = message;
  if (params == null) return rest;
  if (!isFields(params) || params.arguments == null) return { ...rest, params: dropNulls(params) };
  const { arguments: given, ...others } = params;
  const read = readArguments({ type: 'object' }, given);
  return {
    ...rest,
    params: { ...Object(dropNulls(others)), arguments: 'value' in read ? read.value : given },
  };
}
