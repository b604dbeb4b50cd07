// Authenticates callers by JSON Web Tokens of a trusted issuer. Only asymmetric signatures; the
// keys come from the JWKS URL and are cached.

import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import pLimit from 'p-limit';
import { readAtMost } from '../../async/read-at-most.ts';
import { isFields } from '../../upstream/renames.ts';

export interface JwtOptions {
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: readonly string[];
  /** Told why the keys could not be fetched again, when those of before go on being used. */
  readonly onError: (error: unknown) => void;
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
/** How long keys are used at most while newer ones cannot be fetched. */
const STALE_MS = 3_600_000;
/** How soon a token whose key is unknown or cannot be used has the keys fetched again. */
const COOLDOWN_MS = 30_000;
const FETCH_MS = 5_000;
/** How long an address that failed is left alone. */
const REST_MS = 2_000;

/**
 * Signatures checked at a time, and tokens that wait. Beyond that, requests are refused with a
 * retry delay.
 */
const CHECKS = { running: 4, waiting: 512 };

/** Keys that a token which names none is checked by. */
const MAX_KEYS_TRIED = 4;

type Jose = typeof import('jose');
type Keys = Awaited<ReturnType<typeof openKeys>>['keys'];

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

/** Why an address cannot be read, without the address, which may hold a secret. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error ? error.code : undefined;
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return typeof code === 'string' ? code : error.name;
}

/** An issuer has some keys of a kilobyte. */
const MAX_BYTES = 1024 * 1024;

/** Reads the keys as text. @throws Error that says why not, without the address */
async function readKeys(...request: Parameters<typeof fetch>): Promise<string> {
  const answer = await fetch(...request).catch((error: unknown) => {
    throw new Error(`the address cannot be reached (${reasonOf(error)})`);
  });
  if (answer.status !== 200) throw new Error(`the address answered ${answer.status}`);
  const tooMuch = () => new Error('the address answers with more than a megabyte');
  const text = (await readAtMost(answer.body, MAX_BYTES, tooMuch)).toString();
  if (!isJwkSet(text)) throw new Error('the address answered with no set of keys');
  return text;
}

function isJwkSet(text: string): boolean {
  try {
    const set: unknown = JSON.parse(text);
    return isFields(set) && Array.isArray(set.keys);
  } catch {
    return false;
  }
}

/**
 * An address that failed is not asked again for a moment, however many tokens wait for it. The keys of
 * before are given again where they are asked for because of their age.
 */
function patientFetch(onError: (error: unknown) => void): typeof fetch {
  let failed: { readonly error: unknown; readonly until: number } | undefined;
  let last: { readonly text: string; readonly readAt: number; givenAt: number } | undefined;
  return async (...request) => {
    try {
      if (failed !== undefined && performance.now() < failed.until) throw failed.error;
      const text = await readKeys(...request).catch((error: unknown) => {
        failed = { error, until: performance.now() + REST_MS };
        throw error;
      });
      last = { text, readAt: performance.now(), givenAt: performance.now() };
      return new Response(text);
    } catch (error) {
      const now = performance.now();
      // Younger keys are asked for again because a token names one that is not among them.
      if (last === undefined || now - last.givenAt < KEEP_MS || now - last.readAt > STALE_MS) throw error;
      last.givenAt = now;
      onError(error);
      return new Response(last.text);
    }
  };
}

/** The library, 50 modules that only a gateway with an issuer loads, and with its first token. */
async function openKeys({ jwksUrl, onError }: JwtOptions) {
  const jose = await import('jose');
  const remote = jose.createRemoteJWKSet(new URL(jwksUrl), {
    cacheMaxAge: KEEP_MS,
    cooldownDuration: COOLDOWN_MS,
    timeoutDuration: FETCH_MS,
    [jose.customFetch]: patientFetch(onError),
  });
  /** Asks again for a key that cannot be used, as the library does for one that is not there. */
  const keys: JWTVerifyGetKey = async (...token) => {
    try {
      return await remote(...token);
    } catch (error) {
      if (error instanceof jose.errors.JOSEError || remote.coolingDown) throw error;
      await remote.reload();
      return remote(...token);
    }
  };
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

/**
 * Checks a token by each key that it may be signed with. There are several where the token names none,
 * while its issuer rotates the keys.
 */
async function verifyWithAny(token: string, keys: Keys, jose: Jose, options: JWTVerifyOptions) {
  try {
    return await jose.jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      tried += 1;
      try {
        return await jose.jwtVerify(token, key, options);
      } catch (fault) {
        const isOfOther = fault instanceof jose.errors.JWSSignatureVerificationFailed;
        if (!isOfOther || tried === MAX_KEYS_TRIED) throw fault;
      }
    }
    throw error;
  }
}

/** Opens the check; keys are fetched with the first token. */
export function openJwt(options: JwtOptions): VerifyJwt {
  const { issuer, audience } = options;
  const limited = pLimit(CHECKS.running);
  const checked = {
    algorithms: ALGORITHMS,
    issuer,
    audience: [...audience],
    clockTolerance: TOLERANCE,
  };
  let opening: ReturnType<typeof openKeys> | undefined;
  return async (token) => {
    if (token.split('.', 4).length !== 3) return null;
    opening ??= openKeys(options);
    const { jose, keys } = await opening;
    // A signature takes far longer to check: that is done for what would be good with a right one.
    if (!isPlausible(token, jose, options)) return null;
    if (limited.pendingCount >= CHECKS.waiting) throw new TooManyChecksError();
    try {
      const { payload } = await limited(() => verifyWithAny(token, keys, jose, checked));
      if (typeof payload.sub !== 'string' || payload.sub === '' || payload.exp === undefined) return null;
      return { issuer, subject: payload.sub, expiresAt: (payload.exp + TOLERANCE) * 1000 };
    } catch (error) {
      if (ofTheToken(jose).some((kind) => error instanceof kind)) return null;
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`The keys that tokens are checked with cannot be had: ${reason}.`, { cause: error });
    }
  };
}
