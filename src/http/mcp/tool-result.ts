// Results of tools: at most 20 kB, shortened with a hint on how to get the rest. Failures are
// sentences that say what to do.
import type { CallToolResult } from '@modelcontextprotocol/server';
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
/** Longer texts, such as sequences, are cut. */
const MAX_TEXT_CHARACTERS = 4_000;

/** A failure that is shown to the model. Its message says what to do. */
export class ToolError extends Error {}

export const toFailure = (message: string): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: message.slice(0, MAX_RESULT_BYTES / 4) }],
});

/** The errors of an answer as sentences. */
export const toSentences = ({ errors = [] }: GraphqlAnswer): string[] =>
  errors.slice(0, 20).map(({ message, path, extensions = {} }) => {
    const { retryAfterSeconds, retryable } = extensions;
    const place = path === undefined ? '' : `${path.join('.')}: `;
    const when = typeof retryAfterSeconds === 'number' ? `in ${retryAfterSeconds} s` : 'in a moment';
    return `${place}${message}${retryable === true ? ` The same call can work ${when}.` : ''}`;
  });

const byteLength = (result: CallToolResult): number => Buffer.byteLength(JSON.stringify(result));

/** A copy of a value in which long texts are cut; `cut` gets a sentence for each. */
function cutTexts(value: unknown, cut: string[], name = ''): unknown {
  if (typeof value === 'string' && value.length > MAX_TEXT_CHARACTERS) {
    cut.push(
      `\`${name}\` is cut to ${MAX_TEXT_CHARACTERS} of ${value.length} characters; /export.tsv and the files have all of it.`,
    );
    return value.slice(0, MAX_TEXT_CHARACTERS);
  }
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, cut, name));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutTexts(item, cut, key)]));
}

const listAt = (value: unknown, path: string): unknown[] => {
  const found = path.split('.').reduce<unknown>((at, name) => (isFields(at) ? at[name] : undefined), value);
  return Array.isArray(found) ? found : [];
};

export interface ResultOptions {
  /** Path to the list that is shortened when the result is too large, such as `members.nodes`. */
  readonly list: string;
  /** How to ask for what was left out. */
  readonly askMore: string;
  /** The text for the model; JSON where it is left out. */
  readonly toText?: (content: Fields) => string;
}

/**
 * The result of a tool, within the limit.
 *
 * @param problems - what could not be loaded, as sentences
 */
export function toResult(
  content: Fields,
  problems: readonly string[],
  { list, askMore, toText = JSON.stringify }: ResultOptions,
): CallToolResult {
  const notes: string[] = [];
  const kept = { ...Object(cutTexts(content, notes)), ...(problems.length === 0 ? {} : { problems }) };
  const items = listAt(kept, list);
  const total = items.length;
  for (;;) {
    const shown = `Only the first ${items.length} of ${total} are shown: an answer has at most 20 kB. ${askMore}`;
    const more = [...notes, ...(items.length < total ? [shown] : [])];
    const structuredContent = more.length === 0 ? kept : { ...kept, more: more.join(' ') };
    const text = toText(structuredContent);
    const result: CallToolResult = { content: [{ type: 'text', text }], structuredContent };
    if (byteLength(result) <= MAX_RESULT_BYTES) return result;
    if (items.length === 0)
      return toFailure('The answer has more than 20 kB. Ask for single fields with the tool `graphql`.');
    items.length = Math.floor(items.length * 0.9);
  }
}

/** The answer to any document, as text: JSON that is cut where it is too long. */
export function toJsonText(answer: GraphqlAnswer): CallToolResult {
  const json = JSON.stringify(answer);
  const isError = answer.data == null;
  const toCut = (text: string): CallToolResult => ({ isError, content: [{ type: 'text', text }] });
  if (byteLength(toCut(json)) <= MAX_RESULT_BYTES) return toCut(json);
  const word = `\n[Cut: the answer has ${json.length} characters, more than fit into 20 kB. Select fewer fields, or page with \`first\` and \`after\`.]`;
  let length = MAX_RESULT_BYTES;
  while (byteLength(toCut(json.slice(0, length) + word)) > MAX_RESULT_BYTES) length *= 0.9;
  return toCut(json.slice(0, length) + word);
}
