// Whether a request comes from the federation router: it knows a secret. It knows no schema.
import { createHash, timingSafeEqual } from 'node:crypto';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @param secret - FEDERATION_TOKEN; without one nobody is the router */
export function isRouter(request: Request, secret: string | undefined): boolean {
  const given = request.headers.get('x-federation-token');
  return secret !== undefined && given !== null && timingSafeEqual(sha256(secret), sha256(given));
}
