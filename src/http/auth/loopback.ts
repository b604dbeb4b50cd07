// Whether a host or address is this machine, and the check of the Host header against DNS
// rebinding: a page of any site can point its own name to this machine and then send same-origin
// requests.
import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether a text is `localhost` or a loopback address: IPv4, IPv6 with or without brackets, IPv4
 * mapped into IPv6. Any other name is not, whatever it begins with: `127.0.0.1.example.org` may
 * resolve to any machine.
 *
 * @param host - a host name without its port, or an address; undefined is not loopback
 */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false;
  if (host.toLowerCase() === 'localhost') return true;
  const address = /^\[(.*)\]$/.exec(host)?.[1] ?? host;
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

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
