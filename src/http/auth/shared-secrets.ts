// Access by shared secrets: the metrics, with METRICS_TOKEN or, without one in production, from
// loopback only; the federation router, with FEDERATION_TOKEN.

import { createHash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from './loopback.ts';

export interface MetricsAccess {
  readonly token: string | undefined;
  /**
   * Whether all clients may read when there is no token: in development, and on a separate port.
   */
  readonly open: boolean;
}

/** Headers that a proxy adds: the loopback address is then the proxy's. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/**
 * @param header - reads a header of the request
 * @param remote - the connection's address; undefined when unknown
 * @returns the status of a refusal; undefined when the client may read
 */
export function refuseMetrics(
  { token, open }: MetricsAccess,
  header: (name: string) => string | null,
  remote: string | undefined,
): 401 | 403 | undefined {
  if (token !== undefined) {
    const given = /^Bearer +(\S+)\s*$/i.exec(header('authorization') ?? '')?.[1] ?? '';
    return timingSafeEqualSecret(given, token) ? undefined : 401;
  }
  if (open) return undefined;
  return isLoopback(remote) && FORWARDED.every((name) => header(name) === null) ? undefined : 403;
}

/** @param secret - FEDERATION_TOKEN; without it no request is the router's */
export function isFederationRouter(request: Request, secret: string | undefined): boolean {
  const given = request.headers.get('x-federation-token');
  return secret !== undefined && given !== null && timingSafeEqualSecret(given, secret);
}

/** A secret as something of one length, whatever its own. */
export const sha256 = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Whether the given text is the secret, in constant time. */
const timingSafeEqualSecret = (given: string, secret: string): boolean =>
  timingSafeEqual(sha256(given), sha256(secret));
