// The typed error of a failed upstream call, also of sockets, resolvers and decompressors. Its `code`
// is that of the GraphQL error, chosen here because only this side sees the status.
import { type InputFault, MAX_FAULTS, readLoc } from './input-faults.ts';
import { parseTime } from './wire-values.ts';

export type FailureCode =
  | 'BAD_USER_INPUT'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'RATE_LIMITED'
  | 'UPSTREAM_TIMEOUT'
  | 'UPSTREAM_UNAVAILABLE'
  | 'UPSTREAM_DRIFT'
  | 'RESULT_EXPIRED';

export interface Failure {
  /** Name of the REST operation, such as `bulk` or `submit`. */
  readonly operation: string;
  readonly code: FailureCode;
  /** HTTP status; absent when no answer came. */
  readonly status?: number | undefined;
  /** Where in the answer something has changed, such as `$.items.3.status`. */
  readonly path?: string | undefined;
  /** The upstream's own id of the request, to quote when reporting a problem. */
  readonly requestId?: string | undefined;
  /** False when the request certainly never left, so that it cannot have had an effect. */
  readonly sent?: false;
  /** Whether the gateway did not send it, for the state that it knows the upstream to be in. */
  readonly heldBack?: true;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number | undefined;
  /** What the service found wrong in the input, on a 422, in the words of our input. */
  readonly issues?: readonly InputFault[] | undefined;
  /** Whether it is a 404 in the words of the API, which proves that there is no such thing. */
  readonly isAbsence?: boolean | undefined;
  /** When the results expired, in UTC, on a 410 from Status. */
  readonly resultsExpireAt?: string | undefined;
}

/** A failed call to the service. Its message never holds a URL, a header or a body. */
export class UpstreamError extends Error {
  readonly failure: Failure;
  constructor(message: string, failure: Failure, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UpstreamError';
    this.failure = failure;
    // graphql-js writes out the stack of each error that it wraps, which takes most of an error's time.
    this.stack = `${this.name}: ${message}`;
  }
}

const CODES: Readonly<Record<number, FailureCode>> = {
  400: 'BAD_USER_INPUT',
  401: 'UNAUTHENTICATED',
  // Credits are gone.
  402: 'RATE_LIMITED',
  403: 'FORBIDDEN',
  408: 'UPSTREAM_TIMEOUT',
  410: 'RESULT_EXPIRED',
  413: 'BAD_USER_INPUT',
  422: 'BAD_USER_INPUT',
  429: 'RATE_LIMITED',
  504: 'UPSTREAM_TIMEOUT',
};

/** The failure word for an HTTP status that the operation did not expect (spec, section Errors). */
export function codeOfStatus(status: number): FailureCode {
  const known = CODES[status];
  if (known !== undefined) return known;
  return status >= 500 ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_DRIFT';
}

const MAX_DEPTH = 4;

/** The first text in `message`, `error` or `detail`; never an HTML page. */
export const errorText = (body: unknown): string | undefined => textIn(body, 0);

/** @param depth - how many `error` objects are around it; a service may nest any number */
function textIn(body: unknown, depth: number): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { message, error, detail } = body as Record<string, unknown>;
  for (const text of [message, error, detail]) {
    if (typeof text === 'string' && text.trim() !== '') return text.trim();
  }
  if (typeof error === 'object' && error !== null && depth < MAX_DEPTH) return textIn(error, depth + 1);
  if (Array.isArray(detail)) {
    const parts = detail.slice(0, MAX_FAULTS).flatMap((item: unknown) => {
      if (typeof item !== 'object' || item === null) return [];
      const { loc, msg } = item as Record<string, unknown>;
      if (typeof msg !== 'string') return [];
      return [Array.isArray(loc) ? `${readLoc(loc).join('.')}: ${msg}` : msg];
    });
    if (parts.length > 0) return parts.join('; ');
  }
  return undefined;
}

/** Whether a body is an error of the API: `{"detail": "Not Found"}` is that of an unknown route. */
export function isApiError(body: unknown): boolean {
  if (errorText(body) === undefined) return false;
  const { detail, message, error } = body as Record<string, unknown>;
  return message !== undefined || error !== undefined || detail !== 'Not Found';
}

/** Only its text shows whether a 429 is about credits or rates (spec, section Errors). */
const CREDITS = /credit|quota|balance|billing|insufficient funds/i;
const RATE = /rate.?limit|too many|slow down|per (second|minute|hour)|concurren/i;

/** What a 429 is about: undefined when its text says neither or both. */
export function subjectOf429(text: string): 'credits' | 'rate' | undefined {
  const credits = CREDITS.test(text);
  return credits === RATE.test(text) ? undefined : credits ? 'credits' : 'rate';
}

/** After this time the gateway asks again, whatever the upstream said; so may its callers. */
const MAX_RETRY_AFTER_SECONDS = 300;

/** @returns whole seconds, 0 to 300; undefined when the header is absent or unreadable */
export function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const at = parseTime(text)?.getTime() ?? Number.NaN;
  const seconds = Math.ceil(/^\d+(\.\d+)?$/.test(text) ? Number(text) : (at - now) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_SECONDS);
}

/** Whatever was thrown, as an Error: what a DataLoader takes for the failure of one key. */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** What an error says without an address: its code, such as ENOTFOUND, or its name. */
export const faultName = (error: unknown): string => codeOf(error) || asError(error).name;

/** No connection could be made: name, network or TLS. Nothing of the request was sent. */
export class ConnectError extends Error {
  readonly code: string;
  constructor(cause: unknown) {
    super('no connection', { cause });
    this.name = 'ConnectError';
    this.code = codeOf(cause);
  }
}

const OF_NETWORK = /^(UND_ERR_|E[A-Z]|HPE_|CERT_|ERR_(TLS|SSL|STREAM)|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED)/;
const OF_COMPRESSION = /^(Z_|ERR__ERROR)/;

/** Converts a network error; an abort, and an error of the gateway itself, stay as they are. */
export function networkFailure(operation: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof UpstreamError) return error;
  if (signal?.aborted === true) return signal.reason;
  const code = codeOf(error);
  if (OF_COMPRESSION.test(code)) {
    return new UpstreamError(
      `The upstream's answer to ${operation} cannot be decompressed.`,
      { operation, code: 'UPSTREAM_DRIFT', retryable: true },
      { cause: error },
    );
  }
  const late = (error instanceof Error && error.name === 'TimeoutError') || /TIMEOUT|TIMEDOUT/.test(code);
  const isUnsent = error instanceof ConnectError;
  // What is no HTTP has no code, only a name.
  const garbled = error instanceof Error && error.name === 'HTTPParserError';
  if (!late && !isUnsent && !garbled && !OF_NETWORK.test(code)) return error;
  return new UpstreamError(
    late
      ? `The upstream did not answer ${operation} in time. Try again.`
      : `The upstream could not be reached for ${operation}. Try again in a moment.`,
    {
      operation,
      code: late ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      ...(isUnsent ? { sent: false } : {}),
    },
    { cause: error },
  );
}
