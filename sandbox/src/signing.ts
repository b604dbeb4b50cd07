// Expiring download URLs (spec: "Signed URLs are downloaded without the bearer token"). It signs
// paths with an HMAC.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from './clock.ts';

/** Signs paths of this server and checks the URLs that come back. */
export interface Signer {
  /** The absolute URL of `path`, good for `lifetimeSeconds` from now. */
  sign(path: string, lifetimeSeconds: number): string;
  /** Judges a request's URL (absolute, or path and query) as it came in. */
  check(requestUrl: string): 'ok' | 'expired' | 'invalid';
}

/**
 * @param secret must be the same after a restart, or the URLs given out before it become invalid
 * @param baseUrl asked at each signing, because the port is known only once the server listens
 */
export function createSigner({
  secret,
  baseUrl,
  clock,
}: {
  secret: string;
  baseUrl: () => string;
  clock: Clock;
}): Signer {
  const sign = (path: string, expires: string): Buffer =>
    createHmac('sha256', secret).update(`${path}\n${expires}`).digest();

  return {
    sign(path, lifetimeSeconds) {
      const expires = String(Math.floor(clock.now() / 1000) + lifetimeSeconds);
      const url = new URL(path, baseUrl());
      url.searchParams.set('expires', expires);
      url.searchParams.set('signature', sign(url.pathname, expires).toString('hex'));
      return url.href;
    },
    check(requestUrl) {
      if (!URL.canParse(requestUrl, 'http://sandbox')) return 'invalid';
      const { pathname, searchParams } = new URL(requestUrl, 'http://sandbox');
      const expires = searchParams.get('expires') ?? '';
      const given = Buffer.from(searchParams.get('signature') ?? '', 'hex');
      const wanted = sign(pathname, expires);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return 'invalid';
      return clock.now() < Number(expires) * 1000 ? 'ok' : 'expired';
    },
  };
}
