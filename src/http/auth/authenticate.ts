// Authentication: which token goes to the Batch API, and the principal that owns what this caller
// stores. The same for HTTP, event streams, WebSocket and file routes.
import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config.ts';
import { createPrivateField } from '../../private-field.ts';
import { principalName } from '../../store/ledger/mark.ts';
import type { Logger } from '../../telemetry/log.ts';
import { httpError, rateLimited } from '../errors.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import { type GatewayKey, openApiKeys } from './api-keys.ts';
import { createJwtVerifier, type JwtProof, RefusedTokenError } from './jwt.ts';
import { clientIpOf } from './node-request.ts';

export interface Caller {
  /** The bearer token for the Batch API; undefined when the caller gave none. */
  readonly token: string | undefined;
  /** What the caller is named by: a token, or the name of a key; null without a token. Never stored. */
  readonly identity: string | null;
  /** Keyed hash of the identity; null without a token. */
  readonly principal: string | null;
  /**
   * Whether the gateway has verified the caller. A forwarded token is verified by the upstream only
   * and may be invented.
   */
  readonly proven: boolean;
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

/**
 * How long a token is taken for good without a second look: what its issuer took back is noticed
 * after that.
 */
const ACCEPTED_MS = 60_000;
const MAX_ACCEPTED = 10_000;

/** Seconds after which a token that could not be checked is worth another try. */
const RETRY_SECONDS = 5;

/** Why the keys cannot be fetched, without their address, which may hold a secret. */
function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause
    ? `${error.message} (${String(cause.code)})`
    : error.message;
}

const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +(\S+)\s*$/i.exec(authorization)?.[1];

/**
 * Opens what tells callers apart.
 *
 * @param secret - keys the hashes, so that a leaked store tells nothing of tokens
 * @param limit - counts failed authentication by address; what succeeds is never counted
 * @throws Error when the file of keys cannot be read
 */
export function createAuthenticator(
  config: Config,
  secret: string,
  limit: RateLimit,
  log: Pick<Logger, 'error' | 'info'>,
) {
  const {
    UPSTREAM_API_KEY: upstreamKey,
    GATEWAY_API_KEYS: keysGiven,
    GATEWAY_API_KEYS_FILE: file,
    GATEWAY_JWKS_URL: jwksUrl,
    GATEWAY_JWT_ISSUER: issuer = '',
    GATEWAY_JWT_AUDIENCE: audience,
    limits: { authFailuresPerMinute: perMinute },
  } = config;
  // By size: room for a `max` would be taken at once.
  const accepted = new LRUCache<string, Caller>({
    maxSize: MAX_ACCEPTED,
    sizeCalculation: () => 1,
  });
  const asked = createPrivateField<Request, Promise<Caller>>();
  const keys = openApiKeys({
    keys: keysGiven,
    file,
    onError: (error) => log.error({ error: String(error) }, 'the gateway keys stay as they were'),
  });
  const verify = jwksUrl === undefined ? undefined : createJwtVerifier({ jwksUrl, issuer, audience });
  const ways = [
    ...(keysGiven.length > 0 || file !== undefined ? ['one of its own keys'] : []),
    ...(verify === undefined ? [] : ['a token of its issuer']),
  ].join(' or ');

  const unauthenticated = (reason?: string) =>
    httpError(
      401,
      reason === 'expired'
        ? 'Your token has expired: get a new one from its issuer.'
        : `This gateway holds the upstream key itself: send ${ways} in the header \`Authorization\`, after ` +
            'the word `Bearer`.',
      { code: 'UNAUTHENTICATED', headers: { 'www-authenticate': 'Bearer' } },
    );

  const named = (identity: string) => ({ identity, principal: principalName(secret, identity) });
  // These names contain a space, which no bearer token can, so that no token takes the name of a
  // key.
  const keyIdentity = ({ name, key }: GatewayKey): string => (name === null ? key : `key ${name}`);
  const proven = (identity: string): Caller => ({ token: upstreamKey, ...named(identity), proven: true });

  /** @returns why the token proves nothing, where it does not; undefined where no tokens are taken */
  async function checkToken(bearer: string): Promise<JwtProof | RefusedTokenError | undefined> {
    try {
      return await verify?.(bearer);
    } catch (error) {
      if (error instanceof RefusedTokenError) log.info({ reason: error.reason }, 'a token was refused');
      else log.error({ error: failureReason(error) }, 'tokens cannot be checked');
      if (error instanceof RefusedTokenError && error.reason !== 'new key') return error;
      throw httpError(
        503,
        'The gateway cannot check your token at present: it waits for the keys of its issuer. ' +
          'Try again in a moment.',
        { code: 'UPSTREAM_UNAVAILABLE', retryAfterSeconds: RETRY_SECONDS },
      );
    }
  }

  const anonymous: Caller = { token: undefined, identity: null, principal: null, proven: false };
  const whoIs = (
    authorization: string | undefined,
    address: string | undefined,
  ): Caller | Promise<Caller> => {
    const bearer = bearerOf(authorization);
    if (upstreamKey === undefined)
      return bearer === undefined ? anonymous : { token: bearer, ...named(bearer), proven: false };
    return config.proofNeeded ? proofOf(bearer, address) : proven('loopback');
  };

  /**
   * Right proofs are found before anything is counted, so that wrong ones of the same address
   * cannot lock them out.
   */
  function proofOf(bearer: string | undefined, address: string | undefined): Caller | Promise<Caller> {
    if (bearer === undefined) return Promise.reject(unauthenticated());
    const key = keys.find(bearer);
    if (key !== undefined) return proven(keyIdentity(key));
    const digest = createHash('sha256').update(bearer).digest('base64');
    return accepted.get(digest) ?? proofByToken(bearer, digest, address);
  }

  async function proofByToken(bearer: string, digest: string, address: string | undefined): Promise<Caller> {
    const checked = await checkToken(bearer);
    if (checked !== undefined && !(checked instanceof RefusedTokenError)) {
      const caller = proven(`jwt ${JSON.stringify([checked.issuer, checked.subject])}`);
      const ttl = Math.max(1, Math.min(checked.expiresAt - Date.now(), ACCEPTED_MS));
      accepted.set(digest, caller, { ttl });
      return caller;
    }
    const refusal = unauthenticated(checked?.reason);
    if (address === undefined || perMinute === 0) throw refusal;
    const { retryAfterSeconds: wait } = await limit.spend({ key: `guess:${address}`, perMinute });
    throw wait === 0
      ? refusal
      : rateLimited(`Too many wrong keys came from your address. Try again in ${wait} s.`, wait);
  }

  const again = async (request: Request): Promise<Caller> =>
    whoIs(request.headers.get('authorization') ?? undefined, clientIpOf(request));

  /**
   * The caller of a request, authenticated once per request.
   *
   * @throws GraphQLError UNAUTHENTICATED, or UPSTREAM_UNAVAILABLE when no credentials can be checked
   */
  function identify(request: Request): Promise<Caller> {
    const known = asked.get(request);
    if (known !== undefined) return known;
    const asking = again(request);
    asked.set(request, asking);
    return asking;
  }

  return {
    identify,
    /** Why a request is refused for its credentials; null when it is not. */
    async refusalOf(request: Request): Promise<GraphQLError | null> {
      try {
        await identify(request);
        return null;
      } catch (error) {
        if (error instanceof GraphQLError) return error;
        throw error;
      }
    },
    /** The same for a request that has only headers yet. @param authorization - the header */
    whoIs,
    /** Records the caller of a request, so that `identify` does not authenticate it again. */
    note: (request: Request, caller: Promise<Caller>) => void asked.set(request, caller),
    /**
     * Authenticates again, to see whether an open stream may continue.
     *
     * @throws GraphQLError as `identify`
     */
    reauthenticate: again,
    reload: keys.reload,
    close: keys.close,
  };
}
