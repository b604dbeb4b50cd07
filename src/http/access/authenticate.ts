// Authentication: which token goes to the Batch API, and the principal that owns what this caller
// stores. The same for HTTP, event streams, WebSocket and file routes.
import { GraphQLError } from 'graphql';
import type { Config } from '../../config.ts';
import { principalName } from '../../store/ledger/principals.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Caller, Exchange } from '../exchange.ts';
import { httpError, rateLimited } from '../failures/errors.ts';
import { openApiKeys } from './api-keys.ts';
import { createJwtVerifier, InvalidTokenError } from './jwt.ts';
import type { RateLimiter } from './rate-limit.ts';

export interface Authenticator {
  /**
   * Authenticates a client.
   *
   * @param authorization - the header
   * @param address - of the client, for counting failures; undefined for a request without a
   *   connection
   * @returns the caller, or why the credentials are refused
   */
  authenticate(
    authorization: string | undefined,
    address: string | undefined,
  ): Promise<Caller | GraphQLError>;
  /**
   * Authenticates again, to see whether an open stream may continue.
   *
   * @throws GraphQLError as `identifyCaller`
   */
  reauthenticate(exchange: Exchange): Promise<Caller>;
  /** Reads the file of keys again. */
  reload(): void;
  close(): void;
}

/** Seconds after which a token that could not be checked is worth another try. */
const RETRY_SECONDS = 5;

export const ANONYMOUS: Caller = { token: undefined, identity: null, principal: null, isProven: false };

/**
 * Creates the authenticator.
 *
 * @param secret - keys the hashes, so that a leaked store tells nothing of tokens
 * @param failures - counts failed authentication by address
 * @throws Error when the file of keys cannot be read
 */
export function createAuthenticator(
  config: Config,
  secret: string,
  failures: RateLimiter,
  log: Pick<Logger, 'error' | 'info'>,
): Authenticator {
  const { UPSTREAM_API_KEY: upstreamKey, GATEWAY_API_KEYS_FILE: file, GATEWAY_JWKS_URL: jwksUrl } = config;
  const { GATEWAY_JWT_ISSUER: issuer = '', GATEWAY_JWT_AUDIENCE: audience } = config;
  const keys = openApiKeys({
    keys: config.GATEWAY_API_KEYS,
    file,
    onError: (error) => log.error({ error: String(error) }, 'the gateway keys stay as they were'),
  });
  const verifyJwt = jwksUrl === undefined ? undefined : createJwtVerifier({ jwksUrl, issuer, audience });
  const hasKeys = config.GATEWAY_API_KEYS.length > 0 || file !== undefined;
  const credentials = [
    ...(hasKeys ? ['one of its own keys'] : []),
    ...(verifyJwt ? ['a token of its issuer'] : []),
  ];

  const unauthenticated = (isExpired = false): GraphQLError =>
    httpError(
      401,
      isExpired
        ? 'Your token has expired: get a new one from its issuer.'
        : `This gateway holds the upstream key itself: send ${credentials.join(' or ')} in the header ` +
            '`Authorization`, after the word `Bearer`.',
      { code: 'UNAUTHENTICATED', headers: { 'www-authenticate': 'Bearer' } },
    );

  const named = (identity: string) => ({ identity, principal: principalName(secret, identity) });
  const proven = (identity: string): Caller => ({ token: upstreamKey, ...named(identity), isProven: true });

  async function verifyCredentials(bearer: string): Promise<Caller | GraphQLError> {
    // The names of keys and subjects contain a space, which no bearer token can.
    const key = keys.find(bearer);
    if (key !== undefined) return proven(key.name === null ? key.key : `key ${key.name}`);
    if (verifyJwt === undefined) return unauthenticated();
    try {
      return proven(`jwt ${JSON.stringify([issuer, await verifyJwt(bearer)])}`);
    } catch (error) {
      if (error instanceof InvalidTokenError) {
        log.info({ reason: error.reason }, 'a token was refused');
        return unauthenticated(error.reason === 'ERR_JWT_EXPIRED');
      }
      log.error({ error: failureReason(error) }, 'tokens cannot be checked');
      return httpError(
        503,
        'The gateway cannot check your token at present: it waits for the keys of its issuer. ' +
          'Try again in a moment.',
        { code: 'UPSTREAM_UNAVAILABLE', retryAfterSeconds: RETRY_SECONDS },
      );
    }
  }

  const authenticator: Authenticator = {
    async authenticate(authorization, address) {
      const bearer = /^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1];
      if (upstreamKey === undefined)
        return bearer === undefined ? ANONYMOUS : { token: bearer, ...named(bearer), isProven: false };
      if (!config.proofNeeded) return proven('loopback');
      if (bearer === undefined) return unauthenticated();
      const caller = await verifyCredentials(bearer);
      const isGuess = caller instanceof GraphQLError && caller.extensions.code === 'UNAUTHENTICATED';
      if (!isGuess || address === undefined) return caller;
      // Only failures are counted, so that they cannot lock out valid credentials of the same
      // address.
      const { isAllowed, resetSeconds } = await failures.consume(address);
      return isAllowed
        ? caller
        : rateLimited(
            `Too many wrong keys came from your address. Try again in ${resetSeconds} s.`,
            resetSeconds,
          );
    },
    async reauthenticate({ headers, address }) {
      const caller = await authenticator.authenticate(headers.authorization, address);
      if (caller instanceof GraphQLError) throw caller;
      return caller;
    },
    reload: keys.reload,
    close: keys.close,
  };
  return authenticator;
}

/** Why the keys cannot be fetched, without their address, which may hold a secret. */
function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause
    ? `${error.message} (${String(cause.code)})`
    : error.message;
}
