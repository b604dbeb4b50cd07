// The request that a WebSocket operation stands for: that of the upgrade, with the token of the
// connection.
import type { IncomingMessage } from 'node:http';
import { PATH } from './upgrade.ts';

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

/** @param signal - aborted when the client leaves the operation */
export function toRequest(
  upgrade: IncomingMessage,
  authorization: string | undefined,
  signal: AbortSignal,
): Request {
  const { host = 'localhost', ...given } = upgrade.headers;
  const headers = new Headers(authorization === undefined ? {} : { authorization });
  for (const name of ['x-request-id', 'traceparent', 'tracestate']) {
    const value = given[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  return new Request(`http://${host}${PATH}`, { method: 'POST', headers, signal });
}
