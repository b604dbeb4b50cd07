// Which hosts and addresses are of this machine.
import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether a text is `localhost` or a loopback address. Any other name is not, whatever it begins
 * with: `127.0.0.1.example.org` may resolve to any machine.
 *
 * @param host - a host name without its port, or an address, IPv6 with or without brackets
 */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false;
  if (host.toLowerCase() === 'localhost') return true;
  const address = /^\[(.*)\]$/.exec(host)?.[1] ?? host;
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
