// The address that limits count a client under: its network, from `x-forwarded-for` as far as the
// proxies in front are trusted (TRUST_PROXY).
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';

/**
 * Reads the address of a client.
 *
 * @param hops - how many trusted proxies append to `x-forwarded-for`; clients can forge what stands
 *   further left
 */
export function readClientAddress(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  hops: number,
): string {
  if (hops === 0) return toNetwork(parseAddress(socket.remoteAddress) ?? 'unknown');
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  const chain = [...forwarded.filter((part) => part.trim() !== ''), socket.remoteAddress].map(parseAddress);
  const trusted = chain.slice(-1 - hops).find((address) => address !== null);
  return toNetwork(trusted ?? 'unknown');
}

/** Parses an address, without port, brackets and the IPv4-in-IPv6 prefix; null when it is none. */
function parseAddress(text = ''): string | null {
  if (isIPv4(text)) return text;
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text.trim()) ?? [];
  const [, withPort] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text.trim()) ?? [];
  const plain = (bracketed ?? withPort ?? text.trim()).replace(/%.*/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(plain) === 0 ? null : plain;
}

/** The first 64 bits of an IPv6 address: what one customer is given at least. IPv4 as it is. */
function toNetwork(address: string): string {
  if (!address.includes(':')) return address;
  // The host of a URL has the shortest form: lower case, and no IPv4 part.
  const [head = [], tail = []] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((groups) => groups.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}
