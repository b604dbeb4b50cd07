// The typed error of a failed upstream call. Its `code` is that of the GraphQL error, chosen here
// because only this side sees the status.
import { type InputFault, MAX_FAULTS, readLoc } from './input-faults.ts';
import { isFields } from './json/is-fields.ts';
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
  /** Whether the answer had begun before it broke off. */
  readonly hasBegun?: true;
  /** Whether the gateway did not send it, for the state that it knows the upstream to be in. */
  readonly heldBack?: true;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number | undefined;
  /** Faults that the service found in the input, on a 422, at paths of the GraphQL input. */
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
    // graphql-js writes out the stack of each error that it wraps, which takes most of an error's
    // time.
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

/** The failure code of an HTTP status that the operation did not expect (spec, section Errors). */
export const toFailureCode = (status: number): FailureCode =>
  CODES[status] ?? (status >= 500 ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_DRIFT');

/** `error` objects around a text that are looked into; a service may nest any number. */
const MAX_DEPTH = 4;

/** The messages of a `detail` list, each behind its place. */
function detailText(detail: readonly unknown[]): string | undefined {
  const parts = detail.slice(0, MAX_FAULTS).flatMap((item) => {
    if (!isFields(item) || typeof item.msg !== 'string') return [];
    return [Array.isArray(item.loc) ? `${readLoc(item.loc).join('.')}: ${item.msg}` : item.msg];
  });
  return parts.length === 0 ? undefined : parts.join('; ');
}

/** The first text in `message`, `error` or `detail`; never an HTML page. */
export function errorText(body: unknown, depth = 0): string | undefined {
  if (!isFields(body)) return undefined;
  const { message, error, detail } = body;
  for (const text of [message, error, detail])
    if (typeof text === 'string' && text.trim() !== '') return text.trim();
  if (isFields(error) && depth < MAX_DEPTH) return errorText(error, depth + 1);
  return Array.isArray(detail) ? detailText(detail) : undefined;
}

/** Whether a body is an error of the API: `{"detail": "Not Found"}` is that of an unknown route. */
export function isApiError(body: unknown): boolean {
  if (!isFields(body) || errorText(body) === undefined) return false;
  return body.message !== undefined || body.error !== undefined || body.detail !== 'Not Found';
}

/** Only its text shows whether a 429 is about credits or rates (spec, section Errors). */
const CREDITS = /credit|quota|balance|billing|insufficient funds/i;
const RATE = /rate.?limit|too many|slow down|per (second|minute|hour)|concurren/i;

/** The subject of a 429; undefined when its text names neither or both. */
export function parse429Subject(text: string): 'credits' | 'rate' | undefined {
  const credits = CREDITS.test(text);
  return credits === RATE.test(text) ? undefined : credits ? 'credits' : 'rate';
}

/** After this time the gateway asks again, whatever the upstream said; so may its callers. */
export const MAX_RETRY_AFTER_SECONDS = 300;

/** @returns whole seconds, 0 to 300; undefined when the header is absent or unreadable */
export function parseRetryAfter(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const at = parseTime(text)?.getTime() ?? Number.NaN;
  const seconds = Math.ceil(/^\d+(\.\d+)?$/.test(text) ? Number(text) : (at - now) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_SECONDS);
}

/**
 * Wraps a thrown value that is no Error: a DataLoader takes an Error for the failure of one key.
 */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The code of an error, such as ENOTFOUND, or its name: these hold no address. */
export const faultName = (error: unknown): string => errorCode(error) || asError(error).name;

/** No connection could be made: name, network or TLS. Nothing of the request was sent. */
export class ConnectError extends Error {
  readonly code: string;
  constructor(cause: unknown) {
    super('no connection', { cause });
    this.name = 'ConnectError';
    this.code = errorCode(cause);
  }
}

/** The error code of a name that leads to an address which is not public. */
export const NOT_PUBLIC = 'ENOTPUBLIC';

/** The error of a signed URL that leads to a host which the gateway does not trust. */
export const unknownHost = (): UpstreamError =>
  new UpstreamError(
    'The upstream gave a download address that the gateway does not follow ' +
      '(DOWNLOAD_HOSTS lists the hosts that it may).',
    { operation: 'download', code: 'UPSTREAM_DRIFT', retryable: false },
  );

const NETWORK_CODES = /^(UND_ERR_|E[A-Z]|HPE_|CERT_|ERR_(TLS|SSL|STREAM)|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED)/;
const COMPRESSION_CODES = /^(Z_|ERR__ERROR)/;

/**
 * Converts a network error; an abort, and an error of the gateway itself, stay as they are.
 *
 * @param hasBegun - whether the answer had begun
 */
export function networkFailure(
  operation: string,
  error: unknown,
  signal: AbortSignal | undefined,
  hasBegun = false,
): unknown {
  if (error instanceof UpstreamError) return error;
  if (signal?.aborted === true) return signal.reason;
  if (!(error instanceof Error)) return error;
  const code = errorCode(error);
  if (code === NOT_PUBLIC) return unknownHost();
  if (COMPRESSION_CODES.test(code))
    return new UpstreamError(
      `The upstream's answer to ${operation} cannot be decompressed.`,
      { operation, code: 'UPSTREAM_DRIFT', retryable: true, hasBegun: true },
      { cause: error },
    );
  const isLate = error.name === 'TimeoutError' || /TIMEOUT|TIMEDOUT/.test(code);
  const isUnsent = error instanceof ConnectError;
  // An answer that is no HTTP has no code, only a name.
  const isGarbled = error.name === 'HTTPParserError';
  if (!isLate && !isUnsent && !isGarbled && !NETWORK_CODES.test(code)) return error;
  const says = isLate
    ? `The upstream did not answer ${operation} in time. Try again.`
    : hasBegun
      ? `The upstream's answer to ${operation} broke off before its end. Try again in a moment.`
      : `The upstream could not be reached for ${operation}. Try again in a moment.`;
  return new UpstreamError(
    says,
    {
      operation,
      code: isLate ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      ...(isUnsent ? { sent: false } : undefined),
      ...(hasBegun ? { hasBegun } : undefined),
    },
    { cause: error },
  );
}
