// What is read of node's request: itself, out of the server adapter's context, which is untyped, and the
// client's address, as far as the proxies in front are trusted (TRUST_PROXY).
import { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { createPrivateField } from '../../private-field.ts';

/** The request as node:http has it; undefined for one that came over no connection. */
export const nodeRequestOf = (serverContext: unknown): IncomingMessage | undefined =>
  typeof serverContext === 'object' &&
  serverContext !== null &&
  'req' in serverContext &&
  serverContext.req instanceof IncomingMessage
    ? serverContext.req
    : undefined;

/** The answer as node:http has it; undefined for a request that came over no connection. */
export const nodeResponseOf = (serverContext: unknown): ServerResponse | undefined =>
  typeof serverContext === 'object' &&
  serverContext !== null &&
  'res' in serverContext &&
  serverContext.res instanceof ServerResponse
    ? serverContext.res
    : undefined;

/** What is looked at of a request. */
export type SocketInfo = Pick<IncomingMessage, 'headers' | 'socket'>;

const addresses = createPrivateField<Request, string>();

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
  // The last 32 bits may be written as IPv4.
  const hexadecimal = address.includes('.')
    ? `${address.slice(0, address.lastIndexOf(':') + 1)}0:0`
    : address;
  const [before = '', after] = hexadecimal.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const zeros = after === undefined ? 0 : Math.max(0, 8 - head.length - tail.length);
  const groups = [...head, ...Array.from({ length: zeros }, () => '0'), ...tail];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
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

/** Notes where a request comes from. */
export const setClientIp = (request: Request, address: string): void => void addresses.set(request, address);

/** Where a request comes from; undefined for one that came over no connection. */
export const clientIpOf = (request: Request): string | undefined => addresses.get(request);
