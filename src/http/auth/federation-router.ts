// Whether a request comes from the federation router, by its secret.
import { timingSafeEqualSecret } from './timing-safe.ts';

/** @param secret - FEDERATION_TOKEN; without it no request is the router's */
export function isFederationRouter(request: Request, secret: string | undefined): boolean {
  const given = request.headers.get('x-federation-token');
  return secret !== undefined && given !== null && timingSafeEqualSecret(given, secret);
}
