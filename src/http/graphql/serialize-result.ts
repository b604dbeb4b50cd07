// Serializes results: the HTTP status (GraphQL over HTTP), and the JSON without internal extensions. JSON is
// written in pieces, of which large texts are unpacked one at a time and large values are serialized bit
// by bit, so that an answer with hundreds needs little more memory than one of them, and no turn of the
// event loop has to serialize all of it.
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import { isLazyText, type JsonPieces, splitJsonAtLazyTexts } from '../../structure/lazy-text.ts';
import { STATUS_OF_CODE } from '../errors.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { framingOf, type MediaType, type StreamFraming } from './media-type.ts';

type Piece = JsonPieces[number];
type Pieces = Generator<Piece, void, undefined>;

/** JSON that is made while it is written; its pieces may be read once. */
export interface Body {
  /** Bytes before texts are escaped; more than {@link STREAM_THRESHOLD_BYTES} where more is to come. */
  readonly byteLength: number;
  readonly pieces: Iterable<Piece>;
}

const sizeOf = (piece: Piece): number => (typeof piece === 'string' ? Buffer.byteLength(piece) : piece.size);

/** Makes a body of pieces that are there. */
const toBody = (pieces: JsonPieces): Body => ({
  byteLength: pieces.reduce((sum, piece) => sum + sizeOf(piece), 0),
  pieces,
});

/** The same pieces without so many characters at both ends, and with others in their place. */
function between(head: string, pieces: JsonPieces, tail: string, without = 0): JsonPieces {
  const last = pieces.length - 1;
  return pieces.map((piece, i) => {
    if (typeof piece !== 'string' || (i > 0 && i < last)) return piece;
    const inner = piece.slice(i === 0 ? without : 0, i === last && without > 0 ? -without : undefined);
    return `${i === 0 ? head : ''}${inner}${i === last ? tail : ''}`;
  });
}

/**
 * Weight of a piece: values, and characters in hundreds. `JSON.stringify` gives more than 16,384
 * characters as several strings, which are joined in new memory before they are encoded: for an answer
 * of 70 kB that takes a tenth of what making it takes.
 */
const PIECE = 400;
const CHARACTERS = 100;

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !isLazyText(value) &&
  !('toJSON' in value && typeof value.toJSON === 'function');

/** What it takes to make the JSON of a value; more than `most` where it is more than that. */
function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS;
  if (!isPlainObject(value)) return 1;
  let weight = 1;
  if (Array.isArray(value)) {
    if (value.length > most) return value.length;
    for (let i = 0; i < value.length && weight <= most; i += 1) weight += weightOf(value[i], most - weight);
    return weight;
  }
  // Every answer is weighed: a list of its members would be made for each object.
  for (const name in value) {
    if (weight > most) break;
    weight += weightOf((value as Readonly<Record<string, unknown>>)[name], most - weight);
  }
  return weight;
}

/** How many items from a place on make a piece together; 0 where the first alone is too large. */
function countTogether(list: readonly unknown[], start: number): number {
  let end = start;
  for (let weight = 0; end < list.length; end += 1) {
    weight += weightOf(list[end], PIECE);
    if (weight > PIECE) break;
  }
  return end - start;
}

function* piecesOfList(list: readonly unknown[]): Pieces {
  yield '[';
  for (let start = 0; start < list.length; ) {
    if (start > 0) yield ',';
    const count = countTogether(list, start);
    if (count === 0) yield* piecesOf(list[start]);
    else yield* between('', splitJsonAtLazyTexts(list.slice(start, start + count)), '', 1);
    start += Math.max(1, count);
  }
  yield ']';
}

function* piecesOf(value: unknown): Pieces {
  if (!isPlainObject(value) || weightOf(value, PIECE) <= PIECE)
    return yield* between('', splitJsonAtLazyTexts([value]), '', 1);
  if (Array.isArray(value)) return yield* piecesOfList(value);
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* piecesOf(member);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/**
 * Largest body that is serialized at once. Equals the default limit of the response cache for
 * one entry.
 */
export const STREAM_THRESHOLD_BYTES = 2_000_000;

function* inTurn(...parts: readonly Iterable<Piece>[]): Pieces {
  for (const part of parts) yield* part;
}

/**
 * A value as JSON: a string, or for large values and large texts a body.
 *
 * @param head - text before the JSON
 * @param tail - text after it
 */
function serialize(value: object, head: string, tail: string): string | Body {
  if (weightOf(value, PIECE) <= PIECE) {
    const pieces = between(head, splitJsonAtLazyTexts(value), tail);
    const [only] = pieces;
    return pieces.length === 1 && typeof only === 'string' ? only : toBody(pieces);
  }
  const made: Piece[] = [head];
  const more = piecesOf(value);
  let byteLength = 0;
  for (let next = more.next(); next.done !== true; next = more.next()) {
    made.push(next.value);
    byteLength += sizeOf(next.value);
    if (byteLength > STREAM_THRESHOLD_BYTES) return { byteLength, pieces: inTurn(made, more, [tail]) };
  }
  return { byteLength, pieces: [...made, tail] };
}

/** All bytes of a body. */
export function toBuffer(body: string | Body): Buffer<ArrayBuffer> {
  if (typeof body === 'string') return Buffer.from(body);
  // Most often one chunk holds all. Escapes take some room, and a text needs some more than it has.
  const writer = new ChunkWriter(Math.ceil(1.03 * Math.min(body.byteLength, STREAM_THRESHOLD_BYTES)) + 64);
  const chunks = [...writer.add(body.pieces)];
  const rest = writer.take() ?? Buffer.alloc(0);
  return chunks.length === 0 ? rest : Buffer.concat([...chunks, rest]);
}

/** What an error or a result says about the HTTP answer that carries it. */
interface HttpWishes {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whether the status applies to `application/graphql-response+json` only: plain JSON has status
   * 200.
   */
  readonly spec?: boolean;
}

/** A result, or one part of one: `incremental` holds what came later. */
export interface ExecutionOrIncrementalResult extends ExecutionResult {
  readonly incremental?: readonly {
    readonly errors?: readonly GraphQLError[];
    /** The next of a streamed list; null where it failed. */
    readonly items?: unknown;
    readonly path?: readonly (string | number)[];
  }[];
  readonly hasNext?: boolean;
}

const isWishes = (value: unknown): value is HttpWishes => typeof value === 'object' && value !== null;

const wishesOf = (extensions: Readonly<Record<string, unknown>> | undefined): HttpWishes =>
  isWishes(extensions?.http) ? extensions.http : {};

function statusOfError({ extensions }: GraphQLError, mediaType: MediaType): number {
  const { status, spec } = wishesOf(extensions);
  const byCode = STATUS_OF_CODE[String(extensions.code)];
  if (status !== undefined && spec !== true) return status;
  if (byCode !== undefined) return byCode;
  return mediaType === 'application/graphql-response+json' ? (status ?? 400) : 200;
}

/**
 * The HTTP status of a result: 200 when anything was executed; else the highest status of its
 * errors. Document and variable errors are 400 as `application/graphql-response+json`, and 200 in
 * other media types.
 */
function statusOf(result: ExecutionOrIncrementalResult, mediaType: MediaType): number {
  const { status } = wishesOf(result.extensions);
  if (status !== undefined) return status;
  if (result.data !== undefined || result.errors === undefined) return 200;
  return Math.max(200, ...result.errors.map((error) => statusOfError(error, mediaType)));
}

/** The HTTP headers that errors and the result ask for. */
function headersOf(result: ExecutionOrIncrementalResult): Record<string, string> {
  const wishes = [...(result.errors ?? []).map(({ extensions }) => extensions), result.extensions];
  return Object.assign({}, ...wishes.map((extensions) => wishesOf(extensions).headers ?? {}));
}

/** Status and headers of a result or of its first part. @param framing - when not the default */
export const httpHeadOf = (
  result: ExecutionOrIncrementalResult,
  mediaType: MediaType,
  framing: StreamFraming = framingOf(mediaType),
) => ({
  status: statusOf(result, mediaType),
  headers: { ...headersOf(result), vary: 'accept', ...framing.headers },
});

function publicExtensions(
  extensions: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | undefined {
  const { http: _http, unexpected: _unexpected, ...shown } = extensions ?? {};
  return Object.keys(shown).length === 0 ? undefined : shown;
}

/** An error without what is only for ourselves. */
export function toClientError(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...rest } = error.toJSON();
  const shown = publicExtensions(extensions);
  return shown === undefined ? rest : { ...rest, extensions: shown };
}

/** A result without what is only for ourselves. */
function shown({ errors, extensions, incremental, ...rest }: ExecutionOrIncrementalResult): object {
  const publicOnes = publicExtensions(extensions);
  return {
    ...(errors === undefined ? {} : { errors: errors.map(toClientError) }),
    ...rest,
    ...(incremental === undefined
      ? {}
      : {
          incremental: incremental.map((part) =>
            part.errors === undefined ? part : { ...part, errors: part.errors.map(toClientError) },
          ),
        }),
    ...(publicOnes === undefined ? {} : { extensions: publicOnes }),
  };
}

/**
 * A result as JSON: a string, or for large results and large texts a body that is serialized while
 * it is written.
 *
 * @param head - text before the JSON
 * @param tail - text after it
 */
export const serializeResult = (result: ExecutionOrIncrementalResult, head = '', tail = ''): string | Body =>
  serialize(shown(result), head, tail);
