// Authenticates callers by JSON Web Tokens of a trusted issuer. Only asymmetric signatures. jose
// fetches the issuer's keys, keeps them for ten minutes, and fetches them again for a key that it
// does not know, twice a minute at most.
import type { JWTVerifyGetKey, JWTVerifyOptions, JWTVerifyResult } from 'jose';

export interface JwtOptions {
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: readonly string[];
}

/** The subject of a valid token, and its expiry. */
export interface JwtProof {
  readonly issuer: string;
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Thrown for a token that proves nothing. */
export class RefusedTokenError extends Error {
  /**
   * `expired`, `audience`, `issuer`, `signature`, `algorithm`, `malformed` or the name of a claim;
   * `new key` for a key that is not known yet, which may be good in half a minute.
   */
  readonly reason: string;
  constructor(reason: string) {
    super(`the token was refused: ${reason}`);
    this.reason = reason;
  }
}

/**
 * Checks a token.
 *
 * @throws RefusedTokenError for a token that proves nothing
 * @throws Error when the issuer's keys cannot be fetched
 */
export type VerifyJwt = (token: string) => Promise<JwtProof>;

/** Neither `none` nor a shared secret: a public key must never be taken for one. */
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
/** Seconds that clocks may differ. */
const TOLERANCE = 30;

/** Faults of a token by the codes of jose. */
const REASONS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWKS_NO_MATCHING_KEY: 'signature',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
  ERR_JOSE_NOT_SUPPORTED: 'algorithm',
  ERR_JWS_INVALID: 'malformed',
  ERR_JWT_INVALID: 'malformed',
};
const CLAIMS: Readonly<Record<string, string>> = { aud: 'audience', iss: 'issuer' };

type Jose = typeof import('jose');

/** Why a token was refused; undefined for an error that is not the token's. */
function refusalReason(error: unknown, { errors }: Jose): string | undefined {
  if (error instanceof errors.JWTClaimValidationFailed) return CLAIMS[error.claim] ?? error.claim;
  return error instanceof errors.JOSEError ? REASONS[error.code] : undefined;
}

/** Tries each key that may fit: a token may name none while its issuer rotates them. */
async function verifyWithAny(
  token: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
  { jwtVerify, errors }: Jose,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options);
      } catch (fault) {
        if (!(fault instanceof errors.JWSSignatureVerificationFailed)) throw fault;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Creates the check. jose, which is large, is imported and the keys are fetched with the first token. */
export function createJwtVerifier({ jwksUrl, issuer, audience }: JwtOptions): VerifyJwt {
  const options = {
    algorithms: ALGORITHMS,
    issuer,
    audience: [...audience],
    clockTolerance: TOLERANCE,
    requiredClaims: ['exp', 'sub'],
  };
  const load = async () => {
    const jose = await import('jose');
    return { jose, keys: jose.createRemoteJWKSet(new URL(jwksUrl)) };
  };
  let loading: ReturnType<typeof load> | undefined;
  return async (token) => {
    loading ??= load();
    const { jose, keys } = await loading;
    const isCoolingDown = keys.coolingDown;
    try {
      const { payload } = await verifyWithAny(token, keys, options, jose);
      const { sub = '', exp = 0 } = payload;
      if (sub === '') throw new RefusedTokenError('sub');
      return { issuer, subject: sub, expiresAt: (exp + TOLERANCE) * 1000 };
    } catch (error) {
      // The issuer may have published the key since jose fetched the others.
      if (error instanceof jose.errors.JWKSNoMatchingKey && isCoolingDown)
        throw new RefusedTokenError('new key');
      const reason = refusalReason(error, jose);
      throw reason === undefined ? error : new RefusedTokenError(reason);
    }
  };
}
