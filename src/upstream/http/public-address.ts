// Which addresses are public, by IANA's registries of special-purpose addresses.
import { BlockList, isIPv4, isIPv6 } from 'node:net';

const SPECIAL_IPV4: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, metadata of clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // automatic multicast tunnelling
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 3], // multicast, reserved, broadcast
];

const SPECIAL_IPV6: readonly (readonly [network: string, bits: number])[] = [
  // All but 2000::/3 (global unicast): loopback, unique local, link-local, multicast, discard and
  // so on.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
];

// Two lists: in one, IPv6 networks would be compared with IPv4 addresses too.
const ipv4 = new BlockList();
for (const [network, bits] of SPECIAL_IPV4) ipv4.addSubnet(network, bits, 'ipv4');
const ipv6 = new BlockList();
for (const [network, bits] of SPECIAL_IPV6) ipv6.addSubnet(network, bits, 'ipv6');

/** The IPv4 address inside an IPv4-mapped or NAT64 address; undefined for any other. */
function embeddedIpv4(address: string): string | undefined {
  const canonical = new URL(`http://[${address}]`).hostname;
  const [, high, low] = /^\[(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [first, last] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, last >> 8, last & 255].join('.');
}

/** Whether an address is public, not one of a private network, this machine or cloud metadata. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !ipv4.check(address, 'ipv4');
  // With a zone it is link-local.
  if (!isIPv6(address) || address.includes('%')) return false;
  const inner = embeddedIpv4(address);
  return inner === undefined ? !ipv6.check(address, 'ipv6') : !ipv4.check(inner, 'ipv4');
}
