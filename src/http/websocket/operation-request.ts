// The headers that a WebSocket operation stands for: some of the upgrade, and the token of the
// connection.
import type { IncomingMessage } from 'node:http';

/**
 * The Authorization header that connectionParams stand for: `authorization`, or `token` alone.
 *
 * @returns null when it is no text that a header can hold
 */
export function readAuthorization(params: Readonly<Record<string, unknown>> = {}): string | undefined | null {
  const [, header] = Object.entries(params).find(([name]) => name.toLowerCase() === 'authorization') ?? [];
  const given = header ?? params.token;
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'string' || !/^[\x20-\x7e]*$/.test(given)) return null;
  return given === header ? given : `Bearer ${given}`;
}

/** The headers of an operation: those that say who asks, and in which trace. */
export function operationHeaders(
  { headers: given }: IncomingMessage,
  authorization: string | undefined,
): Record<string, string> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  for (const name of ['x-request-id', 'traceparent', 'tracestate']) {
    const value = given[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}
