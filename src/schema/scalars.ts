// The scalars: parsing of input values and serialisation of results.
import {
  GraphQLError,
  type GraphQLScalarType,
  GraphQLString,
  TokenKind,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { LazyText } from '../structure/lazy-text.ts';
import { MAX_SEQUENCE } from '../submission/check-size.ts';
import { splitHeader, withoutWhiteSpace } from '../submission/pasted-text.ts';
import { builder } from './builder.ts';

/** Between lines of text that a client pastes, also from a file with carriage returns alone. */
export const LINE_END = /\r\n?|\n/;

/** A BAD_USER_INPUT error. The message is one sentence that says what input is valid. */
export function badInput(message: string): GraphQLError {
  const error = new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', retryable: false } });
  // As in UpstreamError: graphql-js would write it out.
  error.stack = message;
  return error;
}

/**
 * @throws GraphQLError BAD_USER_INPUT for an argument outside its range; one that is left out is
 *   right
 */
export function checkRange(name: string, value: number | null | undefined, min: number, max: number): void {
  if (value != null && (value < min || value > max))
    throw badInput(`\`${name}\` must be between ${min} and ${max}; it is ${value}.`);
}

/** Why a lower-case text is no hash; never quotes the text, which may be long or private. */
export function hashFault(text: string): string {
  if (text.length !== 32) return `It has ${text.length} characters instead of 32.`;
  const wrong = text.search(/[^0-9a-f]/);
  return `Its character ${wrong} (0-based) is ${JSON.stringify(text[wrong])}, not a hexadecimal digit.`;
}

/**
 * Reads a protein hash: 32 hexadecimal characters, trimmed and lower-cased.
 *
 * @throws GraphQLError BAD_USER_INPUT
 */
export function readHash(value: unknown): string {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (/^[0-9a-f]{32}$/.test(text)) return text;
  throw badInput(
    'This is not a ProteinHash. ' +
      `${typeof value === 'string' ? hashFault(text) : 'It is not a string.'} A ProteinHash is the MD5 of ` +
      'the upper-case sequence in hexadecimal, such as "12e9c9e4e2835c302e8ba615115edda3". Use ' +
      'proteinBySequence to look up a sequence and uniprotEntry for an accession.',
  );
}

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACKET_L, TokenKind.BRACE_L]);
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACKET_R, TokenKind.BRACE_R]);
const IGNORED: ReadonlySet<TokenKind> = new Set([TokenKind.COMMENT, TokenKind.DOLLAR]);

/** Where a literal stands, from the tokens before it, such as "`hash`: " or "`hashes[1]`: ". */
function describePlace({ loc }: ValueNode): string {
  let index = 0;
  let depth = 0;
  let token = loc?.startToken.prev;
  while (token != null && (depth > 0 || token.kind !== TokenKind.COLON)) {
    if (CLOSING.has(token.kind)) depth += 1;
    else if (depth === 0 && OPENING.has(token.kind)) {
      const name = token.prev?.kind === TokenKind.COLON ? token.prev.prev?.value : undefined;
      return name === undefined ? '' : `\`${name}[${index}]\`: `;
    } else if (OPENING.has(token.kind)) depth -= 1;
    if (depth === 0 && !IGNORED.has(token.kind)) index += 1;
    token = token.prev;
  }
  const name = token?.prev?.value;
  return name === undefined ? '' : `\`${name}\`: `;
}

/** Parses literals as values are parsed. Its errors name the place of the literal. */
const literalParser =
  <T>(parse: (value: unknown) => T) =>
  (node: ValueNode): T => {
    try {
      return parse(valueFromASTUntyped(node));
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      const { message, extensions } = error;
      throw new GraphQLError(`${describePlace(node)}${message}`, { nodes: node, extensions });
    }
  };

/**
 * Parses an amino-acid sequence or one FASTA record: drops a header line, white space and a final
 * `*`, and makes letters upper case.
 *
 * @throws GraphQLError BAD_USER_INPUT with the 0-based position of the first character that is no
 * letter
 */
function readSequence(value: unknown): string {
  if (typeof value !== 'string') throw badInput('An AminoAcidSequence is a string of one-letter codes.');
  if (value.length > MAX_SEQUENCE)
    throw badInput(
      `An AminoAcidSequence has at most ${MAX_SEQUENCE} characters; this text has ${value.length}.`,
    );
  const { body } = splitHeader(value);
  // Text before a header is a sequence of its own.
  if (/[\r\n]>/.test(body)) {
    throw badInput(
      'An AminoAcidSequence is one sequence; this FASTA text holds several. Send one request for each.',
    );
  }
  const text = withoutWhiteSpace(body).toUpperCase().replace(/\*$/, '');
  if (text === '') throw badInput('An AminoAcidSequence must not be empty.');
  const wrong = /[^A-Z]/.exec(text);
  if (wrong !== null) {
    throw badInput(
      `An AminoAcidSequence is made of letters only; position ${wrong.index} (0-based) is ` +
        `${JSON.stringify(wrong[0])}.`,
    );
  }
  return text;
}

/** GraphQL's Int has 32 bits. */
const MAX_INT = 2 ** 31 - 1;

const isInt = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MAX_INT;

/**
 * Reads a matrix of integers. A list of lists in the schema would be read by graphql-js, which
 * takes thirty times as long.
 *
 * @throws GraphQLError BAD_USER_INPUT with the 0-based place of the first value that is no integer
 */
function readMatrix(value: unknown): number[][] {
  if (!Array.isArray(value)) throw badInput('An IntMatrix is a list of rows, each a list of integers.');
  return value.map((row: unknown, i) => {
    if (!Array.isArray(row)) throw badInput(`Row ${i} (0-based) of an IntMatrix is no list of integers.`);
    if (row.every(isInt)) return row;
    const column = row.findIndex((one: unknown) => !isInt(one));
    throw badInput(`Row ${i}, column ${column} (0-based) of an IntMatrix is no integer of 32 bits.`);
  });
}

// graphql-js' own String, because a schema has one. Lazy texts pass through; the JSON writer reads
// them.
const string: GraphQLScalarType<unknown, unknown> = GraphQLString;
const { serialize } = string;
string.serialize = (value) => (value instanceof LazyText ? value : serialize(value));

builder.scalarType('DateTime', {
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  description: 'A time as ISO 8601 text in UTC, such as "2026-05-01T12:00:00.000Z".',
  serialize: (value) => (value instanceof Date ? value : new Date(value)).toISOString(),
});

/** Levels of nesting: far below the depth at which JSON.stringify would overflow the stack. */
const MAX_DEPTH = 500;

/** Checks that a value can be written as JSON. @throws Error with the code UPSTREAM_DRIFT */
function shallow(value: unknown): unknown {
  let level: object[] = typeof value === 'object' && value !== null ? [value] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      // Not a GraphQLError: the executor would drop its code.
      throw Object.assign(new Error(`The upstream's value is nested more than ${MAX_DEPTH} levels deep.`), {
        code: 'UPSTREAM_DRIFT',
      });
    }
    const below: object[] = [];
    for (const one of level) {
      const members: Iterable<unknown> = Array.isArray(one) ? one : Object.values(one);
      for (const member of members) if (typeof member === 'object' && member !== null) below.push(member);
    }
    level = below;
  }
  return value;
}

builder.scalarType('JSON', {
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  description: 'Any JSON value.',
  serialize: shallow,
});

builder.scalarType('URL', {
  specifiedByURL: 'https://url.spec.whatwg.org/',
  description:
    'An absolute URL, such as "http://127.0.0.1:4000/thumbnails/12e9c9e4e2835c302e8ba615115edda3/plddt.png".',
  serialize: (value) => value,
});

builder.scalarType('ProteinHash', {
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc1321',
  description:
    'The MD5 of the upper-case amino-acid sequence as 32 lower-case hexadecimal characters, such as ' +
    '"12e9c9e4e2835c302e8ba615115edda3" (insulin). Input is trimmed and lower-cased.',
  serialize: (value) => value,
  parseValue: readHash,
  parseLiteral: literalParser(readHash),
});

builder.scalarType('AminoAcidSequence', {
  specifiedByURL: 'https://iupac.qmul.ac.uk/AminoAcid/',
  description:
    'An amino-acid sequence in one-letter codes, such as "MALWMRLLPLLALLALWGPDPAAA". Input may be ' +
    'FASTA: the gateway drops a header line, white space and a final * and makes letters upper case.',
  serialize: (value) => value,
  parseValue: readSequence,
  parseLiteral: literalParser(readSequence),
});

builder.scalarType('IntMatrix', {
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  description: 'A matrix of integers: a list of rows, each a list of integers, such as [[1, 2], [2, 1]].',
  serialize: (value) => value,
  parseValue: readMatrix,
  parseLiteral: literalParser(readMatrix),
});
