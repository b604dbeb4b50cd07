// Limits the size of a document: scans its tokens before it is parsed, and counts its parts before
// it is validated. Its upstream cost is estimated later (execution/query-cost.ts).
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
  visit,
} from 'graphql';
import type { Config } from '../../config.ts';

export type DocumentLimits = ReturnType<typeof documentLimits>;

/** The limits of documents. Those without a setting are far above what people and tools write. */
export const documentLimits = (config: Config) => ({
  /** UTF-16 code units of the text. */
  characters: config.MAX_QUERY_CHARACTERS,
  /** Names, values and marks of the text. */
  tokens: config.MAX_QUERY_TOKENS,
  /** Brackets inside each other. */
  nesting: 64,
  /** Aliases and fields selected more than once, fragments counted wherever they are spread. */
  aliases: config.MAX_QUERY_ALIASES,
  directives: config.MAX_QUERY_DIRECTIVES,
  fragments: 200,
  operations: 50,
  /** Fields of an operation itself, fragments spread. */
  rootFields: 200,
  /** Fields in all, fragments spread. */
  fields: 5000,
  /** Questions for the schema itself. */
  introspections: 10,
});

/**
 * An alias within an introspection query counts this often: each repeats a large part of the
 * schema.
 */
const INTROSPECTION_ALIAS = 20;

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

function check(count: number, most: number, what: string, advice: string): void {
  if (count <= most) return;
  const found = count > 1e9 ? 'far too many' : count;
  const message = `The document has ${found} ${what}; ${most} are allowed. ${advice}`;
  throw new GraphQLError(message, { extensions: { code: 'QUERY_TOO_EXPENSIVE', retryable: false } });
}

/** @throws GraphQLError (QUERY_TOO_EXPENSIVE) when the text is too long to be looked at */
export const checkLength = (text: string, limits: DocumentLimits): void =>
  check(text.length, limits.characters, 'characters', 'Move long values into variables.');

/**
 * Scans the tokens without building a tree: the parser recurses and must not see deep nesting.
 *
 * @throws GraphQLError when there are too many tokens or one is invalid
 */
export function checkTokens(text: string, limits: DocumentLimits): void {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let depth = 0;
  for (let { kind } = lexer.advance(); kind !== TokenKind.EOF; kind = lexer.advance().kind) {
    tokens += 1;
    check(tokens, limits.tokens, 'tokens', 'Move long lists into variables, or ask in several requests.');
    if (OPENING.has(kind)) depth += 1;
    if (CLOSING.has(kind)) depth -= 1;
    check(
      depth,
      limits.nesting,
      'brackets inside each other',
      'Ask for the inner part in a query of its own.',
    );
  }
}

/** What stands in a selection, fragments spread. */
interface Weight {
  fields: number;
  aliases: number;
  /** Fields of the selection itself. */
  own: number;
  introspections: number;
}

const nothing = (): Weight => ({ fields: 0, aliases: 0, own: 0, introspections: 0 });

function add(to: Weight, more: Weight): void {
  to.fields += more.fields;
  to.aliases += more.aliases;
  to.own += more.own;
  to.introspections += more.introspections;
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * Weighs a selection. Each fragment is weighed once and counted at each spread; a cyclic one, which
 * validation refuses, counts as nothing.
 */
function weigh(
  { selections }: SelectionSetNode,
  fragments: Fragments,
  known: Map<string, Weight>,
  seen: Set<string> = new Set(),
): Weight {
  const total = nothing();
  for (const selection of selections) {
    if (selection.kind === Kind.INLINE_FRAGMENT)
      add(total, weigh(selection.selectionSet, fragments, known, seen));
    else if (selection.kind === Kind.FRAGMENT_SPREAD)
      add(total, weighFragment(selection.name.value, fragments, known));
    else {
      const { name, alias, selectionSet } = selection;
      const key = (alias ?? name).value;
      const below = selectionSet === undefined ? nothing() : weigh(selectionSet, fragments, known);
      const introspects = name.value === '__schema' || name.value === '__type';
      total.own += 1;
      total.fields += 1 + below.fields;
      total.introspections += below.introspections + (introspects ? 1 : 0);
      total.aliases += below.aliases * (introspects ? INTROSPECTION_ALIAS : 1);
      if (alias !== undefined || seen.has(key)) total.aliases += 1;
      seen.add(key);
    }
  }
  return total;
}

function weighFragment(name: string, fragments: Fragments, known: Map<string, Weight>): Weight {
  const weight = known.get(name);
  if (weight !== undefined) return weight;
  known.set(name, nothing());
  const fragment = fragments.get(name);
  const found = fragment === undefined ? nothing() : weigh(fragment.selectionSet, fragments, known);
  known.set(name, found);
  return found;
}

/**
 * Counts the parts of a document.
 *
 * @throws GraphQLError (QUERY_TOO_EXPENSIVE) that names the count that is too high
 */
export function checkDocument(document: DocumentNode, limits: DocumentLimits): void {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  check(operations.length, limits.operations, 'operations', 'Send each in a request of its own.');
  check(fragments.length, limits.fragments, 'fragments', 'Ask in several requests.');
  let directives = 0;
  visit(document, {
    Directive: () => {
      directives += 1;
    },
  });
  check(directives, limits.directives, 'directives', 'Leave out what is not needed.');
  const named: Fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  const known = new Map<string, Weight>();
  for (const definition of document.definitions) {
    if (!('selectionSet' in definition)) continue;
    const weight = weigh(definition.selectionSet, named, known);
    const part = 'Ask in several requests.';
    check(weight.fields, limits.fields, 'fields once its fragments are spread', part);
    check(
      weight.aliases,
      limits.aliases,
      'aliases and repeated fields',
      `Use a list field such as proteins(hashes:). ${part}`,
    );
    check(weight.introspections, limits.introspections, 'questions for the schema', part);
    if (definition.kind === Kind.OPERATION_DEFINITION)
      check(
        weight.own,
        limits.rootFields,
        'root fields',
        `Use a list field such as proteins(hashes:). ${part}`,
      );
  }
}
