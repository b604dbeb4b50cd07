// Who may read the metrics: whoever has the token; without one, in production, only this machine itself. They hold no secret,
// but how much traffic there is and what fails is nobody else's business.
import { isLoopback } from './loopback.ts';
import { timingSafeEqualSecret } from './timing-safe.ts';

export interface MetricsAccess {
  readonly token: string | undefined;
  /** Whether anybody who reaches the address may read when there is no token: in development, and on a port of their own. */
  readonly open: boolean;
}

/** Headers by which a proxy tells of the client behind it: the loopback address is then the proxy's. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/**
 * @param header - reads a header of the request
 * @param remote - the address that the connection came from; undefined when it is not known
 * @returns the status of a refusal; undefined for who may read
 */
export function refuseMetrics(
  { token, open }: MetricsAccess,
  header: (name: string) => string | null,
  remote: string | undefined,
): 401 | 403 | undefined {
  if (token !== undefined) {
    const given = /^Bearer +(\S+)\s*$/i.exec(header('authorization') ?? '')?.[1] ?? '';
    return timingSafeEqualSecret(given, token) ? undefined : 401;
  }
  if (open) return undefined;
  return isLoopback(remote) && FORWARDED.every((name) => header(name) === null) ? undefined : 403;
}
