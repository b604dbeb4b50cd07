// Whether a request is of this machine. A page of any site can point its own
// name to this machine and then send same-origin requests (DNS rebinding), and a proxy connects for
// anybody.
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../config/loopback.ts';

/** Headers that proxies, tunnels and CDNs add, in lower case. */
const FORWARDING = /^(?:forwarded|via|cdn-loop)$|^x-forwarded|(?:real|client|connecting)-ip$/;

/** The first header that says that a proxy has forwarded the request. */
export const forwardingHeader = (headers: IncomingHttpHeaders): string | undefined =>
  Object.keys(headers).find((name) => FORWARDING.test(name));

/** Whether the Host header names this machine. The port does not matter. */
export function isLocalHost(host: string | undefined): boolean {
  const address = `http://${host ?? ''}`;
  if (host === undefined || !/^[\w.\-[\]:]+$/.test(host) || !URL.canParse(address)) return false;
  return isLoopback(new URL(address).hostname);
}

const ADVICE =
  'To serve others, set GATEWAY_API_KEYS or GATEWAY_JWKS_URL, so that callers prove who they are.';

/**
 * Why a gateway that holds a key and asks for no proof refuses a request: it did not come from this
 * machine. Null when it did, as far as its headers tell.
 */
export function loopbackRefusal(headers: IncomingHttpHeaders): string | null {
  const forwarding = forwardingHeader(headers);
  if (forwarding !== undefined)
    return (
      'This gateway holds a key of the service for this machine only, and a proxy has forwarded this ' +
      `request (header ${forwarding}). ${ADVICE}`
    );
  if (isLocalHost(headers.host)) return null;
  return (
    'This gateway holds a key of the service for this machine only: ask it as localhost, 127.0.0.1 or ' +
    `[::1]. ${ADVICE}`
  );
}
