// Whether a request comes from the federation router: it knows a secret. It knows no schema.
import { timingSafeEqualSecret } from './timing-safe.ts';

/** @param secret - FEDERATION_TOKEN; without one nobody is the router */
export function isFederationRouter(request: Request, secret: string | undefined): boolean {
  const given = request.headers.get('x-federation-token');
  return secret !== undefined && given !== null && timingSafeEqualSecret(given, secret);
}
