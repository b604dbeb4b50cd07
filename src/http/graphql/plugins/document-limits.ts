// Refuses documents that would be expensive to parse, validate or execute, whatever they select.
// cost-limit.ts estimates the upstream cost of an operation.
import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import { type DocumentNode, type FieldNode, GraphQLError, Kind, type SelectionSetNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';

export const MAX_DOCUMENT_CHARACTERS = 100_000;
/** graphql-js counts lines of the text for each error's position, and there may be 5,000 errors. */
const MAX_LINES = 2_000;
const MAX_TOKENS = 5_000;
const MAX_ALIASES = 200;
const MAX_DIRECTIVES = 100;
/** Fields with fragments spread. */
const MAX_FIELDS = 3_000;
/** Fields that merge into one: validation compares each pair of them, and of the fields below. */
const MAX_SAME_FIELDS = 100;
/** Different fragments in one place, which validation compares in the same way. */
const MAX_FRAGMENTS = 100;
/** A field of introspection returns a large part of the schema, and counts as so many. */
const INTROSPECTION_WEIGHT = 5;

const tooExpensive = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false } });

export function documentLimits(maxDepth: number): Plugin[] {
  const onReject = [
    (_context: unknown, { message }: GraphQLError) => {
      throw tooExpensive(message.replace('Syntax Error: ', ''));
    },
  ];
  return [
    useTextLimits,
    maxDepthPlugin({ n: maxDepth, flattenFragments: true, onReject }),
    maxAliasesPlugin({ n: MAX_ALIASES, allowList: [], onReject }),
    maxDirectivesPlugin({ n: MAX_DIRECTIVES, onReject }),
  ];
}

const useTextLimits: Plugin = {
  onParse({ params: { source }, parseFn, setParseFn }) {
    const text = typeof source === 'string' ? source : source.body;
    if (text.length > MAX_DOCUMENT_CHARACTERS)
      throw tooExpensive(
        `The document has ${text.length} characters; ${MAX_DOCUMENT_CHARACTERS} are allowed. Move long values into variables.`,
      );
    const lines = text.split(/\r\n|[\n\r]/).length;
    if (lines > MAX_LINES)
      throw tooExpensive(
        `The document has ${lines} lines; ${MAX_LINES} are allowed. Leave out those that are empty.`,
      );
    setParseFn(() => {
      const document = parseTokens(() => parseFn(text, { maxTokens: MAX_TOKENS }));
      checkFields(document);
      return document;
    });
  },
};

function parseTokens(parse: () => DocumentNode): DocumentNode {
  try {
    return parse();
  } catch (error) {
    // The parser recurses, and has no class of errors for its limit.
    if (!(error instanceof RangeError) && !/Parsing aborted/.test(String(error))) throw error;
    throw tooExpensive(
      `The document has more than ${MAX_TOKENS} tokens, or brackets too deep inside each other. Move long ` +
        'lists into variables, or send several requests.',
    );
  }
}

/**
 * Counts fields as they are merged: those of one object, and below them those of each response
 * name.
 */
function checkFields({ definitions }: DocumentNode): void {
  const fragments = new Map(
    definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node.selectionSet]] : [],
    ),
  );
  let fields = 0;

  function checkObject(sets: readonly SelectionSetNode[], weight: number): void {
    const byName = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    const collect = ({ selections }: SelectionSetNode): void => {
      for (const node of selections) {
        if (node.kind === Kind.INLINE_FRAGMENT) collect(node.selectionSet);
        else if (node.kind === Kind.FRAGMENT_SPREAD) {
          const fragment = spread.has(node.name.value) ? undefined : fragments.get(node.name.value);
          spread.add(node.name.value);
          if (spread.size > MAX_FRAGMENTS)
            throw tooExpensive(`The document spreads more than ${MAX_FRAGMENTS} fragments in one place.`);
          if (fragment !== undefined) collect(fragment);
        } else {
          fields += weight;
          const name = (node.alias ?? node.name).value;
          const same = byName.get(name);
          if (same === undefined) byName.set(name, [node]);
          else same.push(node);
        }
      }
    };
    for (const set of sets) collect(set);
    if (fields > MAX_FIELDS)
      throw tooExpensive(`The document selects more than ${MAX_FIELDS} fields. Send several requests.`);
    for (const same of byName.values()) {
      if (same.length > MAX_SAME_FIELDS)
        throw tooExpensive(`The document selects a field more than ${MAX_SAME_FIELDS} times in one place.`);
      const below = same.flatMap(({ selectionSet }) => selectionSet ?? []);
      const isIntrospection = same[0]?.name.value.startsWith('__') === true;
      if (below.length > 0) checkObject(below, isIntrospection ? INTROSPECTION_WEIGHT : weight);
    }
  }

  for (const node of definitions) if ('selectionSet' in node) checkObject([node.selectionSet], 1);
}
