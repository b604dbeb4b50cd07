// Serializes results: the HTTP status (GraphQL over HTTP), and the JSON without internal
// extensions.
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import { framingOf, type StreamFraming } from './event-framing.ts';
import { type Body, serialize } from './json-body.ts';
import type { MediaType } from './media-type.ts';

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

/** What failures are as HTTP statuses where nothing was executed. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  RATE_LIMITED: 429,
  INTERNAL_SERVER_ERROR: 500,
  UPSTREAM_DRIFT: 502,
  UPSTREAM_UNAVAILABLE: 503,
  UPSTREAM_TIMEOUT: 504,
};

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
