// Converts errors of sockets, resolvers and decompressors to typed errors.
import { UpstreamError } from '../errors.ts';

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/**
 * System calls before sending. Their failure proves that nothing was sent; that of `read` or
 * `write` does not.
 */
const BEFORE_SENDING = new Set(['connect', 'getaddrinfo']);

/** Connection errors without a system call: connect timeouts and certificates. */
const OF_CONNECTING = /^(UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED)/;

/** Whether a fault came before there was a connection, so that nothing can have been sent. */
function neverSent(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(neverSent);
  if (error instanceof Error && 'syscall' in error) return BEFORE_SENDING.has(String(error.syscall));
  return OF_CONNECTING.test(codeOf(error));
}

const OF_NETWORK = /^(UND_ERR_|E[A-Z]|HPE_|CERT_|ERR_(TLS|SSL|STREAM)|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED)/;
const OF_COMPRESSION = /^(Z_|ERR__ERROR)/;

/**
 * Converts a network error. An abort by the caller, and an error of the gateway itself, stay as
 * they are.
 */
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
  const unsent = neverSent(error);
  // What is no HTTP has no code, only a name.
  const garbled = error instanceof Error && error.name === 'HTTPParserError';
  if (!late && !unsent && !garbled && !OF_NETWORK.test(code)) return error;
  return new UpstreamError(
    late
      ? `The upstream did not answer ${operation} in time. Try again.`
      : `The upstream could not be reached for ${operation}. Try again in a moment.`,
    {
      operation,
      code: late ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      ...(unsent ? { sent: false } : {}),
    },
    { cause: error },
  );
}
