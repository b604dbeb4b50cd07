// Whether a request was meant for this gateway by name. A page of any site can have its own name point to this machine and then
// ask a gateway here as if it were its own server; the name it asks by gives it away. It must not know what is asked.

import { isLoopback } from './loopback.ts';

/**
 * Whether the Host header names this machine, or the gateway's public address. The port does not matter.
 *
 * @param publicUrl - where callers reach the gateway when it is behind a proxy
 */
export function isAllowedHost(host: string | undefined, publicUrl: string | undefined): boolean {
  const address = `http://${host ?? ''}`;
  if (host === undefined || !/^[\w.\-[\]:]+$/.test(host) || !URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return isLoopback(hostname) || (publicUrl !== undefined && hostname === new URL(publicUrl).hostname);
}
