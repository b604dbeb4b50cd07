// Limits what a request may hold, before anything else reads it. Bodies: brackets are counted before
// JSON.parse. Variables: iterative, because unchecked input may be too deep for recursion. Documents: scans the tokens before the parser, and counts the parts before validation; the
// upstream cost is estimated later (schema/query-cost.ts).
import {
  type DocumentNode,
  GraphQLError,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
} from 'graphql';
import { httpError } from '../errors.ts';
import { type DocumentFacts, documentFacts } from './document-facts.ts';
import { countPairs } from './validate-document.ts';

/** What variables may hold at most. */
const TREE_LIMITS = {
  /** Objects and lists inside each other. */
  depth: 64,
  /** Members of one list: the longest that any argument takes. */
  list: 100_000,
  /** Values in all. */
  values: 500_000,
} as const;

function checkText(text: string, what: string): void {
  if (!text.isWellFormed())
    throw httpError(400, `\`${what}\` holds half of a surrogate pair, which is not a character.`);
}

/**
 * @param what - the member of the request that is looked through
 * @throws GraphQLError (400) when it is too deep, too long, or holds what no input can mean
 */
export function checkVariables(tree: unknown, what: string): void {
  const open: { value: unknown; depth: number }[] = [{ value: tree, depth: 0 }];
  let values = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') checkText(value, what);
    if (typeof value !== 'object' || value === null) continue;
    if (depth > TREE_LIMITS.depth)
      throw httpError(400, `\`${what}\` is more than ${TREE_LIMITS.depth} levels deep.`);
    const children = Array.isArray(value) ? value : Object.values(value);
    values += children.length;
    if (Array.isArray(value) && value.length > TREE_LIMITS.list)
      throw httpError(
        400,
        `\`${what}\` holds a list of ${value.length}; no argument takes more than 50,000.`,
      );
    if (values > TREE_LIMITS.values)
      throw httpError(
        400,
        `\`${what}\` holds more than ${TREE_LIMITS.values} values; send them in several requests.`,
      );
    if (!Array.isArray(value)) {
      if (Object.hasOwn(value, '__proto__'))
        throw httpError(400, `\`${what}\` holds a member \`__proto__\`; no input has one.`);
      for (const name of Object.keys(value)) checkText(name, what);
    }
    for (const child of children) open.push({ value: child, depth: depth + 1 });
  }
}

/**
 * Brackets of one body: JSON.parse makes objects and lists of them, which take up to 70 bytes each.
 * A submission of 2,000 tasks has some 20,000, and its SMILES as many again.
 */
const MAX_BRACKETS = 1_000_000;

const [SQUARE, CURLY] = [0x5b, 0x7b];

/**
 * Refuses a body whose objects and lists would take many times its size in memory.
 *
 * @throws GraphQLError (400) that says how many it may have
 */
export function checkBrackets(body: Uint8Array): void {
  if (body.length <= MAX_BRACKETS) return;
  let count = 0;
  for (const byte of body) if (byte === SQUARE || byte === CURLY) count += 1;
  if (count <= MAX_BRACKETS) return;
  throw httpError(
    400,
    `The body has ${count} opening brackets; ${MAX_BRACKETS} are allowed. Send it in several requests.`,
  );
}

/** The limits of documents: far above what people and tools write. */
export const DOCUMENT_LIMITS = {
  /** UTF-16 code units of the text. */
  characters: 200_000,
  /** Names, values and marks of the text. */
  tokens: 10_000,
  /** Line breaks, which graphql-js counts for each error. */
  lines: 10_000,
  /** Brackets inside each other. */
  nesting: 64,
  /** Aliases and fields selected more than once, fragments counted wherever they are spread. */
  aliases: 200,
  directives: 100,
  fragments: 200,
  operations: 50,
  /** Fields of an operation itself, fragments spread. */
  rootFields: 200,
  /** Fields in all, fragments spread. */
  fields: 5000,
  /** Pairs of fields of one name in one place, fragments spread: validation compares each. */
  pairs: 20_000,
  /** Questions for the schema itself. */
  introspections: 10,
};

type DocumentLimits = Readonly<typeof DOCUMENT_LIMITS>;

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
  check(lexer.line, limits.lines, 'lines', 'Leave out those that are empty.');
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

type Fragments = DocumentFacts['fragments'];

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
  const fragment = fragments[name];
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
  const { operations, fragments, fragmentCount, directives } = documentFacts(document);
  check(operations.length, limits.operations, 'operations', 'Send each in a request of its own.');
  check(fragmentCount, limits.fragments, 'fragments', 'Ask in several requests.');
  check(directives.length, limits.directives, 'directives', 'Leave out what is not needed.');
  const known = new Map<string, Weight>();
  for (const definition of document.definitions) {
    if (!('selectionSet' in definition)) continue;
    const weight = weigh(definition.selectionSet, fragments, known);
    const part = 'Ask in several requests.';
    check(weight.fields, limits.fields, 'fields once its fragments are spread', part);
    check(
      weight.aliases,
      limits.aliases,
      'aliases and repeated fields',
      `Use a list field such as proteins(hashes:). ${part}`,
    );
    check(weight.introspections, limits.introspections, 'questions for the schema', part);
    check(
      countPairs([definition.selectionSet], fragments, { fields: limits.fields }),
      limits.pairs,
      'pairs of fields of one name in one place',
      'Select each field once, not in every fragment.',
    );
    if (definition.kind === Kind.OPERATION_DEFINITION)
      check(
        weight.own,
        limits.rootFields,
        'root fields',
        `Use a list field such as proteins(hashes:). ${part}`,
      );
  }
}
