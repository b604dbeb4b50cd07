// Results of tools: at most 20 kB, shortened with a hint on how to get the rest. Failures are
// sentences that say what to do.
import type { CallToolResult } from '@modelcontextprotocol/server';
import { plainLines } from '../../plain-text.ts';
import { type Fields, isFields } from '../../upstream/json/is-fields.ts';

/** The answer of the gateway to a document, as a POST to /graphql gets it. */
export interface GraphqlAnswer {
  readonly data?: Fields | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions?: Fields;
  }[];
}

/** Bytes of a tool's result as JSON, its text and its structured content together. */
export const MAX_RESULT_BYTES = 20_000;
/**
 * Entries of a list that are read before it is shortened: none has less than 40 bytes, and each
 * stands in the result twice.
 */
const MAX_ENTRIES = MAX_RESULT_BYTES / 80;
/** Longer texts, such as sequences, are cut. */
const MAX_TEXT_CHARACTERS = 4_000;

/** A failure that is shown to the model. Its message says what to do. */
export class ToolError extends Error {}

/** The errors of an answer as sentences. */
export const toSentences = ({ errors = [] }: GraphqlAnswer): string[] =>
  errors.slice(0, 20).map(({ message, path, extensions = {} }) => {
    const { retryAfterSeconds, retryable } = extensions;
    const place = path === undefined ? '' : `${path.join('.')}: `;
    const when = typeof retryAfterSeconds === 'number' ? `in ${retryAfterSeconds} s` : 'in a moment';
    return `${place}${message}${retryable === true ? ` The same call can work ${when}.` : ''}`;
  });

const fits = (result: CallToolResult): boolean =>
  Buffer.byteLength(JSON.stringify(result)) <= MAX_RESULT_BYTES;

/** A result of text alone. One that is too long is cut. */
function toTextResult(given: string, isError: boolean, hint: string): CallToolResult {
  const text = plainLines(given);
  const withText = (shown: string): CallToolResult => ({ isError, content: [{ type: 'text', text: shown }] });
  const whole = withText(text);
  if (fits(whole)) return whole;
  const note = `\n[Cut: the answer has ${text.length} characters, more than fit into 20 kB. ${hint}]`;
  let length = MAX_RESULT_BYTES;
  while (!fits(withText(text.slice(0, length) + note))) length = Math.floor(length * 0.9);
  return withText(text.slice(0, length) + note);
}

export const toFailure = (message: string): CallToolResult =>
  toTextResult(message, true, 'Mend these and try again.');

/** The answer to any document, as JSON. */
export const toJsonText = (answer: GraphqlAnswer): CallToolResult =>
  toTextResult(
    JSON.stringify(answer),
    answer.data == null,
    'Select fewer fields, or page with `first` and `after`.',
  );

/** A number as web pages show it, with three digits at least: a model pays for each of them. */
const rounded = (value: number): number =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));

/**
 * A copy of a value with rounded numbers and plain texts, of which long ones are cut; `notes` gets
 * a sentence for each.
 */
function toPlainValue(value: unknown, notes: string[], name = ''): unknown {
  if (typeof value === 'string' && value.length > MAX_TEXT_CHARACTERS) {
    notes.push(
      `\`${name}\` is cut to ${MAX_TEXT_CHARACTERS} of ${value.length} characters; /export.tsv and the files have all of it.`,
    );
    return plainLines(value.slice(0, MAX_TEXT_CHARACTERS));
  }
  if (typeof value === 'string') return plainLines(value);
  if (typeof value === 'number') return Number.isInteger(value) ? value : rounded(value);
  if (Array.isArray(value)) return value.map((item) => toPlainValue(item, notes, name));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [plainLines(key), toPlainValue(item, notes, key)]),
  );
}

function findList(value: unknown, path: string): unknown[] {
  const found = path.split('.').reduce<unknown>((at, name) => (isFields(at) ? at[name] : undefined), value);
  return Array.isArray(found) ? found : [];
}

/** A value with no more entries of the list at a path than could fit. */
function cutList(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return Array.isArray(value) ? value.slice(0, MAX_ENTRIES) : value;
  return isFields(value) && name in value ? { ...value, [name]: cutList(value[name], rest) } : value;
}

export interface ResultOptions {
  /**
   * Paths to the lists that are shortened when the result is too large, such as `members.nodes`:
   * the longest first.
   */
  readonly list: string | readonly string[];
  /** How to ask for what was left out. */
  readonly askMore: string;
}

/**
 * The result of a tool, within the limit.
 *
 * @param problems - what could not be loaded, as sentences
 */
export function toResult(
  content: Fields,
  problems: readonly string[],
  { list, askMore }: ResultOptions,
): CallToolResult {
  const notes: string[] = [];
  const paths = [list].flat();
  const totals = paths.map((path) => findList(content, path).length);
  const read = paths.reduce<unknown>((value, path) => cutList(value, path.split('.')), content);
  const cut = {
    ...Object(toPlainValue(read, notes)),
    ...(problems.length === 0 ? {} : { problems: problems.map(plainLines) }),
  };
  const lists = paths.map((path) => ({ path, items: findList(cut, path) }));
  for (;;) {
    const shown = lists.flatMap(({ path, items }, i) =>
      items.length < (totals[i] ?? 0)
        ? [
            `Only the first ${items.length} of ${totals[i]} ${lists.length > 1 ? `${path} ` : ''}are shown: ` +
              `an answer has at most 20 kB.`,
          ]
        : [],
    );
    const more = [...notes, ...shown, ...(shown.length > 0 ? [askMore] : [])];
    const structuredContent = more.length === 0 ? cut : { ...cut, more: more.join(' ') };
    const text = JSON.stringify(structuredContent);
    const result: CallToolResult = { content: [{ type: 'text', text }], structuredContent };
    if (2 * text.length <= MAX_RESULT_BYTES && fits(result)) return result;
    const [longest] = lists.map(({ items }) => items).sort((a, b) => b.length - a.length);
    if (longest === undefined || longest.length === 0)
      return toFailure('The answer has more than 20 kB. Ask for single fields with the tool `graphql`.');
    // The text stands in the result twice: a list much too long is cut to some more than fits.
    const part = Math.min(0.9, (2 * MAX_RESULT_BYTES) / text.length);
    longest.length = Math.floor(longest.length * part);
  }
}
