// What is read of node's request: itself, out of the server adapter's context, which is untyped, and the
// client's address, as far as the proxies in front are trusted (TRUST_PROXY). Whether a host or address is
// this machine, and whether a request came from it: a page of any site can point its own name to this
// machine and then send same-origin requests (DNS rebinding), and a proxy's connection comes from anybody.
import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The answer as node:http has it; undefined for a request that came over no connection. */
export const nodeResponseOf = (serverContext: unknown): ServerResponse | undefined =>
  typeof serverContext === 'object' &&
  serverContext !== null &&
  'res' in serverContext &&
  serverContext.res instanceof ServerResponse
    ? serverContext.res
    : undefined;

/** The request as node:http has it; undefined for one that came over no connection. */
export const nodeRequestOf = (serverContext: unknown): IncomingMessage | undefined =>
  nodeResponseOf(serverContext)?.req;

export type SocketInfo = Pick<IncomingMessage, 'headers' | 'socket'>;

const addresses = new WeakMap<Request, string>();

/** Parses an address, without port, brackets and the IPv4-in-IPv6 prefix; null when it is none. */
function readAddress(text: string | undefined): string | null {
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text ?? '') ?? [];
  const [, ported] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text ?? '') ?? [];
  const plain = (bracketed ?? ported ?? text ?? '').replace(/%.*/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(plain) === 0 ? null : plain;
}

/** The first 64 bits of an IPv6 address: what one customer is given at least. IPv4 as it is. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const { hostname } = new URL(`http://[${address}]`);
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((groups) => groups.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}

/**
 * The address that limits count a connection under: the client's network, from `x-forwarded-for`
 * where that is trusted.
 *
 * @param hops - how many trusted proxies append to that header; clients can forge entries further
 *   left
 */
export function clientIp({ headers, socket }: SocketInfo, hops: number): string {
  const { 'x-forwarded-for': header = '' } = headers;
  const forwarded = (Array.isArray(header) ? header.join(',') : header)
    .split(',')
    .filter((part) => part.trim() !== '');
  const chain = [...forwarded.map((part) => readAddress(part.trim())), readAddress(socket.remoteAddress)];
  const believed = chain.slice(-1 - hops).find((address) => address !== null);
  return networkOf(believed ?? 'unknown');
}

export const setClientIp = (request: Request, address: string): void => void addresses.set(request, address);

/** Where a request comes from; undefined for one that came over no connection. */
export const clientIpOf = (request: Request): string | undefined => addresses.get(request);

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

/** Headers that proxies, tunnels and CDNs add, in lower case. */
const FORWARDING = /^(?:forwarded|via|cdn-loop)$|^x-forwarded|(?:real|client|connecting)-ip$/;

/** The first header that says that a proxy has forwarded the request; undefined without one. */
export const forwardingHeader = (headers: IncomingHttpHeaders): string | undefined =>
  Object.keys(headers).find((name) => FORWARDING.test(name));

/** Whether the Host header names this machine. The port does not matter. */
export function isLocalHost(host: string | undefined): boolean {
  const address = `http://${host ?? ''}`;
  if (host === undefined || !/^[\w.\-[\]:]+$/.test(host) || !URL.canParse(address)) return false;
  return isLoopback(new URL(address).hostname);
}

/**
 * Why a gateway that holds a key and asks for no proof refuses a request: it did not come from this
 * machine. Null when it did, as far as its headers tell.
 */
export function loopbackRefusal(headers: IncomingHttpHeaders): string | null {
  const forwarding = forwardingHeader(headers);
  if (forwarding !== undefined)
    return (
      'This gateway holds a key of the service for this machine only, and a proxy has forwarded this ' +
      `request (header ${forwarding}). ${PROVE_CALLERS}`
    );
  if (isLocalHost(headers.host)) return null;
  return (
    'This gateway holds a key of the service for this machine only: ask it as localhost, 127.0.0.1 or ' +
    `[::1]. ${PROVE_CALLERS}`
  );
}
const PROVE_CALLERS =
  'To serve others, set GATEWAY_API_KEYS or GATEWAY_JWKS_URL, so that callers prove who they are.';
