// Access by a secret of the operator, compared in constant time: the metrics with METRICS_TOKEN or,
// without one in production, from loopback only; the federation router with FEDERATION_TOKEN.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../config/loopback.ts';
import { forwardingHeader } from './loopback.ts';

export interface MetricsAccess {
  readonly token: string | undefined;
  /** Whether all clients may read without a token: in development, and on a separate port. */
  readonly isOpen: boolean;
}

/**
 * @param headers - of the request
 * @param remote - the connection's address; undefined when unknown
 * @returns the status of a refusal; undefined when the client may read
 */
export function refuseMetrics(
  { token, isOpen }: MetricsAccess,
  headers: IncomingHttpHeaders,
  remote: string | undefined,
): 401 | 403 | undefined {
  if (token !== undefined) {
    const given = /^Bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1] ?? '';
    return isSecret(given, token) ? undefined : 401;
  }
  if (isOpen) return undefined;
  // The loopback address may be that of a proxy.
  return isLoopback(remote) && forwardingHeader(headers) === undefined ? undefined : 403;
}

/** Why a client may not read the metrics. */
export const METRICS_REFUSALS = {
  401: 'The metrics need METRICS_TOKEN in the header `Authorization`, after the word `Bearer`.',
  403: 'Without METRICS_TOKEN or METRICS_PORT only this machine itself may read the metrics.',
};

/** @param secret - FEDERATION_TOKEN; without it no request is the router's */
export function isFederationRouter(headers: IncomingHttpHeaders, secret: string | undefined): boolean {
  const { 'x-federation-token': given } = headers;
  return secret !== undefined && typeof given === 'string' && isSecret(given, secret);
}

/** Digests have one length, as the comparison needs it. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const isSecret = (given: string, secret: string): boolean => timingSafeEqual(digest(given), digest(secret));
