// Bounds the shape of JSON by reading its bytes once, before it is parsed: whatever reads the value
// afterwards then takes time in proportion to the text.

/** Limits of a JSON text. */
export interface JsonBounds {
  /** Objects and lists inside each other. */
  readonly depth: number;
  /** Members of one object. */
  readonly names: number;
  /** Bytes of one name: readers compare it with the names that they know, letter by letter. */
  readonly nameBytes: number;
  /** Members of one list. */
  readonly items: number;
  /** Members of all lists together. */
  readonly allItems: number;
  /** Objects, lists and names of the whole text: parsed, each takes 50 bytes or more. */
  readonly parts: number;
}

/** Counts against the bounds that several texts share. */
export interface JsonCounts {
  allItems: number;
  parts: number;
}

/** The first bound that a text exceeds, and where. */
export interface JsonExcess {
  readonly bound: keyof JsonBounds;
  /** The object or list, such as `variables.input.items[3]`; empty for the outermost one. */
  readonly path: string;
}

const [QUOTE = 0, BACKSLASH = 0, COMMA = 0, COLON = 0] = Buffer.from('"\\,:');
const [BRACE = 0, BRACKET = 0, END_BRACE = 0, END_BRACKET = 0] = Buffer.from('{[}]');

/**
 * Longer texts are searched for their end by the platform, whose call costs as much as so many
 * bytes.
 */
const SHORT_TEXT = 64;
const MAX_SHOWN_STEPS = 8;
const MAX_SHOWN_CHARACTERS = 60;

/** The position of the quote that ends a text; the length of the JSON where none does. */
function findTextEnd(json: Buffer, start: number): number {
  let at = start + 1;
  for (const soon = Math.min(at + SHORT_TEXT, json.length); at < soon; at += 1) {
    if (json[at] === QUOTE) return at;
    if (json[at] === BACKSLASH) at += 1;
  }
  for (;;) {
    const quote = json.indexOf(QUOTE, at);
    if (quote < 0) return json.length;
    let before = quote;
    while (before > at && json[before - 1] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote;
    at = quote + 1;
  }
}

function readName(json: Buffer, start: number): string {
  const name = json.toString('utf8', start + 1, findTextEnd(json, start));
  return name.length > MAX_SHOWN_CHARACTERS ? `${name.slice(0, MAX_SHOWN_CHARACTERS)}…` : name;
}

/**
 * Finds the first bound that a JSON text exceeds. Text that is no JSON has none, or any.
 *
 * @param counts - the counts of earlier texts, to which those of this one are added
 * @returns null where it exceeds none
 */
export function findExcess(
  bytes: Uint8Array,
  bounds: JsonBounds,
  counts: JsonCounts = { allItems: 0, parts: 0 },
): JsonExcess | null {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { length } = json;
  // Each open object or list has its count of commas and the start of its last name.
  const commas = new Uint32Array(bounds.depth + 1);
  const names = new Uint32Array(bounds.depth + 1);
  const isObject = new Uint8Array(bounds.depth + 1);
  let depth = 0;
  let { parts, allItems } = counts;
  let isNameNext = false;

  function excess(bound: keyof JsonBounds, level: number): JsonExcess {
    let path = '';
    for (let i = 1; i < Math.min(level, MAX_SHOWN_STEPS); i += 1)
      path += isObject[i] === 1 ? `.${readName(json, names[i] ?? 0)}` : `[${commas[i]}]`;
    return { bound, path: path.replace(/^\./, '') + (level > MAX_SHOWN_STEPS ? '…' : '') };
  }

  for (let at = 0; at < length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      const end = findTextEnd(json, at);
      if (isNameNext) {
        if (end - at - 1 > bounds.nameBytes) return excess('nameBytes', depth);
        names[depth] = at;
        isNameNext = false;
      }
      at = end;
    } else if (byte === COMMA) {
      const count = (commas[depth] ?? 0) + 1;
      commas[depth] = count;
      isNameNext = isObject[depth] === 1;
      if (!isNameNext) allItems += 1;
      if (allItems >= bounds.allItems) return excess('allItems', depth);
      if (depth > 0 && count >= (isNameNext ? bounds.names : bounds.items))
        return excess(isNameNext ? 'names' : 'items', depth);
    } else if (byte === COLON) {
      parts += 1;
      if (parts > bounds.parts) return excess('parts', depth);
    } else if (byte === BRACE || byte === BRACKET) {
      parts += 1;
      depth += 1;
      if (depth > bounds.depth) return excess('depth', depth);
      if (parts > bounds.parts) return excess('parts', depth);
      commas[depth] = 0;
      names[depth] = at;
      isObject[depth] = byte === BRACE ? 1 : 0;
      isNameNext = byte === BRACE;
    } else if ((byte === END_BRACE || byte === END_BRACKET) && depth > 0) {
      depth -= 1;
      isNameNext = false;
    }
  }
  counts.parts = parts;
  counts.allItems = allItems;
  return null;
}
