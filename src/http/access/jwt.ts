// Verifies JSON Web Tokens of a trusted issuer with jose, which fetches the issuer's keys when it
// needs them and decides when to fetch them again.
import type { JWTVerifyGetKey } from 'jose';
import { readAtMost } from '../../async/read-at-most.ts';

export interface JwtOptions {
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: readonly string[];
}

/** The token is not valid: its signature, its form or one of its claims. */
export class InvalidTokenError extends Error {
  /** jose's code, such as `ERR_JWT_EXPIRED`, and the claim where one is wrong. */
  readonly reason: string;
  constructor(reason: string) {
    super(`the token is not valid: ${reason}`);
    this.reason = reason;
  }
}

/**
 * Verifies a token.
 *
 * @returns its subject
 * @throws InvalidTokenError for a token that is not valid
 * @throws Error when the issuer's keys cannot be fetched
 */
export type VerifyJwt = (token: string) => Promise<string>;

/** Asymmetric signatures only: a public key must never be taken for a shared secret. */
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
/** Seconds that clocks may differ. */
const CLOCK_TOLERANCE = 30;
/** Errors of jose about the issuer's keys; all others are about the token. */
const KEY_SET_ERRORS: ReadonlySet<string> = new Set([
  'ERR_JOSE_GENERIC',
  'ERR_JWKS_TIMEOUT',
  'ERR_JWKS_INVALID',
]);

/** Bytes of an issuer's keys; each takes some hundreds. */
const MAX_KEY_SET_BYTES = 256 * 1024;

/** Fetches the keys of an issuer. @throws Error for more than any issuer has */
async function fetchKeys(url: string, options: RequestInit): Promise<Response> {
  const { status, headers, body } = await fetch(url, options);
  const tooLarge = () => new Error(`The issuer's keys have more than ${MAX_KEY_SET_BYTES} bytes.`);
  const bytes = new Uint8Array(await readAtMost(body, MAX_KEY_SET_BYTES, tooLarge));
  return new Response(bytes, { status, headers });
}

/** Creates the check. It loads jose, which is large, and the keys with the first token. */
export function createJwtVerifier({ jwksUrl, issuer, audience }: JwtOptions): VerifyJwt {
  const options = {
    algorithms: ALGORITHMS,
    issuer,
    audience: [...audience],
    clockTolerance: CLOCK_TOLERANCE,
    requiredClaims: ['exp', 'sub'],
  };
  let keys: JWTVerifyGetKey | undefined;
  return async (token) => {
    const jose = await import('jose');
    const { errors } = jose;
    keys ??= jose.createRemoteJWKSet(new URL(jwksUrl), { [jose.customFetch]: fetchKeys });
    try {
      const { payload } = await jose.jwtVerify(token, keys, options);
      if (payload.sub) return payload.sub;
      throw new InvalidTokenError('empty sub');
    } catch (error) {
      if (!(error instanceof errors.JOSEError) || KEY_SET_ERRORS.has(error.code)) throw error;
      const claim = error instanceof errors.JWTClaimValidationFailed ? ` ${error.claim}` : '';
      throw new InvalidTokenError(`${error.code}${claim}`);
    }
  };
}
