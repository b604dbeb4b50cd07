// Authenticates callers by JSON Web Tokens of a trusted issuer. Only asymmetric signatures; the
// keys come from the JWKS URL and are cached.

import pLimit from 'p-limit';

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

/** As many tokens wait to be checked as may: invalid ones cannot take more of the processor. */
export class TooManyChecksError extends Error {}

/**
 * Checks a token. @returns null for one that proves nothing
 *
 * @throws Error when the issuer's keys cannot be had
 * @throws TooManyChecksError when too many tokens wait to be checked
 */
export type VerifyJwt = (token: string) => Promise<JwtProof | null>;

/** Neither `none` nor a shared secret: a public key must never be taken for one. */
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
/** Seconds that clocks may differ. */
const TOLERANCE = 30;
const KEEP_MS = 600_000;
/** How soon a token that names an unknown key has the keys fetched again. */
const COOLDOWN_MS = 30_000;
const FETCH_MS = 5_000;
/** How long an address that failed is left alone. */
const REST_MS = 2_000;

/**
 * Signatures checked at a time, and tokens that wait. Beyond that, requests are refused with a
 * retry delay.
 */
const CHECKS = { running: 4, waiting: 512 };

type Jose = typeof import('jose');

/** Faults of the token itself, as opposed to those of the place where the keys are. */
const ofTheToken = ({ errors }: Jose) => [
  errors.JWTExpired,
  errors.JWTClaimValidationFailed,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
];

/** An address that failed is not asked again for a moment, however many tokens wait for it. */
function restingFetch(): typeof fetch {
  let until = 0;
  return async (...request) => {
    if (performance.now() < until) throw new Error('the keys could not be fetched a moment ago');
    try {
      const answer = await fetch(...request);
      if (answer.status !== 200) until = performance.now() + REST_MS;
      return answer;
    } catch (error) {
      until = performance.now() + REST_MS;
      throw error;
    }
  };
}

/** The library, 50 modules that only a gateway with an issuer loads, and with its first token. */
async function openKeys(jwksUrl: string) {
  const jose = await import('jose');
  const keys = jose.createRemoteJWKSet(new URL(jwksUrl), {
    cacheMaxAge: KEEP_MS,
    cooldownDuration: COOLDOWN_MS,
    timeoutDuration: FETCH_MS,
    [jose.customFetch]: restingFetch(),
  });
  return { jose, keys };
}

/**
 * Whether header and claims are those of a good token, by what can be told without its signature.
 */
function isPlausible(
  token: string,
  { decodeJwt, decodeProtectedHeader }: Jose,
  options: JwtOptions,
): boolean {
  try {
    const { alg } = decodeProtectedHeader(token);
    const { iss, sub, exp, aud = [] } = decodeJwt(token);
    const isMeant = [aud].flat().some((one) => options.audience.includes(one));
    const isFresh = exp !== undefined && exp + TOLERANCE > Date.now() / 1000;
    return (
      ALGORITHMS.includes(alg ?? '') && iss === options.issuer && sub !== undefined && isMeant && isFresh
    );
  } catch {
    return false;
  }
}

/** Opens the check; keys are fetched with the first token. */
export function openJwt(options: JwtOptions): VerifyJwt {
  const { jwksUrl, issuer, audience } = options;
  const limited = pLimit(CHECKS.running);
  let opening: ReturnType<typeof openKeys> | undefined;
  return async (token) => {
    if (token.split('.', 4).length !== 3) return null;
    opening ??= openKeys(jwksUrl);
    const { jose, keys } = await opening;
    // A signature takes far longer to check: that is done for what would be good with a right one.
    if (!isPlausible(token, jose, options)) return null;
    if (limited.pendingCount >= CHECKS.waiting) throw new TooManyChecksError();
    try {
      const { payload } = await limited(() =>
        jose.jwtVerify(token, keys, {
          algorithms: ALGORITHMS,
          issuer,
          audience: [...audience],
          clockTolerance: TOLERANCE,
          requiredClaims: ['exp', 'sub'],
        }),
      );
      if (typeof payload.sub !== 'string' || payload.sub === '' || payload.exp === undefined) return null;
      return { issuer, subject: payload.sub, expiresAt: (payload.exp + TOLERANCE) * 1000 };
    } catch (error) {
      if (ofTheToken(jose).some((kind) => error instanceof kind)) return null;
      throw new Error('The keys that tokens are checked with cannot be had.', { cause: error });
    }
  };
}
