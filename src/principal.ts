// Who asks: which token goes to the Batch API, and the name under which everything of that caller is kept. It knows no
// route, no schema and no store.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { Config } from './config.ts';

export interface Caller {
  /** The bearer token for the Batch API; undefined when the caller gave none. */
  readonly token: string | undefined;
  /** Keyed hash of the caller's own token; null without one. */
  readonly principal: string | null;
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const bearerOf = (request: Request): string | undefined =>
  /^Bearer +(\S+)\s*$/i.exec(request.headers.get('authorization') ?? '')?.[1];

/** A failure to prove oneself, as GraphQL and as HTTP see it. */
class UnauthenticatedError extends GraphQLError {
  constructor() {
    super(
      'This gateway holds the upstream key itself: send one of its own keys as `Authorization: Bearer <key>`.',
      {
        extensions: {
          code: 'UNAUTHENTICATED',
          retryable: false,
          http: { status: 401, headers: { 'www-authenticate': 'Bearer' } },
        },
      },
    );
  }
}

/**
 * Who asks. By default the caller's own bearer token is passed on; when the gateway holds the upstream's key, callers
 * prove themselves by one of the gateway's keys instead (without any configured, only loopback is served).
 *
 * @param secret - keys the hash, so that a leaked store tells nothing of tokens
 * @throws UnauthenticatedError when a proof is asked for and missing or wrong
 */
export function identify(request: Request, config: Config, secret: string): Caller {
  const bearer = bearerOf(request);
  const nameOf = (token: string): string => createHmac('sha256', secret).update(token).digest('base64url');
  if (config.UPSTREAM_API_KEY === undefined) {
    return { token: bearer, principal: bearer === undefined ? null : nameOf(bearer) };
  }
  if (config.GATEWAY_API_KEYS.length === 0)
    return { token: config.UPSTREAM_API_KEY, principal: nameOf('loopback') };
  const given = sha256(bearer ?? '');
  // Every key is compared, each in constant time, so that the answer's delay tells nothing.
  const known = config.GATEWAY_API_KEYS.map((key) => timingSafeEqual(sha256(key), given)).includes(true);
  if (bearer === undefined || !known) throw new UnauthenticatedError();
  return { token: config.UPSTREAM_API_KEY, principal: nameOf(bearer) };
}
