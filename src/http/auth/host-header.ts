// Checks the Host header against DNS rebinding: a page of any site can point its own name to this
// machine and then send same-origin requests to the gateway.

import { isLoopback } from './loopback.ts';

/**
 * Whether the Host header names this machine, or the gateway's public address. The port does not
 * matter.
 *
 * @param publicUrl - the gateway's URL when it is behind a proxy
 */
export function isAllowedHost(host: string | undefined, publicUrl: string | undefined): boolean {
  const address = `http://${host ?? ''}`;
  if (host === undefined || !/^[\w.\-[\]:]+$/.test(host) || !URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return isLoopback(hostname) || (publicUrl !== undefined && hostname === new URL(publicUrl).hostname);
}
