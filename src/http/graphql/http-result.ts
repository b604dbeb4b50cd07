// Maps a result to an HTTP response (GraphQL over HTTP): status, headers, and errors without the
// members that are for the gateway alone.
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import { ERROR_CODES, readHttp } from '../failures/errors.ts';

/** A result, or one part of one: `incremental` holds what came later. */
export interface ResultPart extends ExecutionResult {
  readonly incremental?: readonly {
    readonly errors?: readonly GraphQLError[];
    /** The next of a streamed list; null where it failed. */
    readonly items?: unknown;
    readonly path?: readonly (string | number)[];
  }[];
  readonly hasNext?: boolean;
}

type Extensions = Readonly<Record<string, unknown>> | undefined;

function errorStatus({ extensions }: GraphQLError, mediaType: string): number {
  const { status, spec } = readHttp(extensions);
  if (status !== undefined && spec !== true) return status;
  const { code } = extensions;
  const known = ERROR_CODES[String(code)];
  if (known !== undefined && known.isOfDocument !== true) return known.status;
  return mediaType === 'application/graphql-response+json' ? (status ?? 400) : 200;
}

/**
 * 200 when anything was executed, else the highest status of the errors. Errors of documents and
 * variables are 400 as `application/graphql-response+json`, and 200 in other media types.
 */
function toStatus({ data, errors, extensions }: ResultPart, mediaType: string): number {
  const { status } = readHttp(extensions);
  if (status !== undefined) return status;
  if (data !== undefined || errors === undefined) return 200;
  return Math.max(200, ...errors.map((error) => errorStatus(error, mediaType)));
}

/** Status and headers of a response. @param result - the first part, where there are several */
export function toResponseInit(result: ResultPart, mediaType: string) {
  const all = [...(result.errors ?? []).map(({ extensions }) => extensions), result.extensions];
  const status = toStatus(result, mediaType);
  const wait = Math.max(0, ...all.map((extensions) => Number(extensions?.retryAfterSeconds ?? 0)));
  const headers: Record<string, string> = Object.assign(
    status >= 400 && wait > 0 ? { 'retry-after': String(wait) } : {},
    ...all.map((extensions) => readHttp(extensions).headers),
    { vary: 'accept' },
  );
  return { status, headers };
}

function publicExtensions(extensions: Extensions): Record<string, unknown> | undefined {
  if (extensions === undefined) return undefined;
  const { http: _http, unexpected: _unexpected, ...shown } = extensions;
  return Object.keys(shown).length === 0 ? undefined : shown;
}

/** Places of one error: a document may have the same mistake thousands of times. */
const MAX_LOCATIONS = 20;

/** An error without what is only for the gateway. JSON leaves out what is undefined. */
export function toClientError(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...rest } = error.toJSON();
  const { locations } = rest;
  const shown = publicExtensions(extensions);
  return {
    ...rest,
    ...(locations && { locations: locations.slice(0, MAX_LOCATIONS) }),
    ...(shown && { extensions: shown }),
  };
}

/** A result without what is only for the gateway. JSON leaves out what is undefined. */
export function toClientResult(result: ResultPart): object {
  const { errors, extensions, incremental, data, hasNext } = result;
  return {
    errors: errors?.map(toClientError),
    data,
    hasNext,
    incremental: incremental?.map((part) => ({ ...part, errors: part.errors?.map(toClientError) })),
    extensions: publicExtensions(extensions),
  };
}
